"""Report artifacts: dialects of JUnit XML, TRX, CTRF, go, jest and mocha JSON, and files that want to do harm (1.1, S21)."""
# ruff: noqa: E501 - lines of logs are as long, and as indented, as the tools print them

import io
import json
import zipfile

import pytest

from app.failures.annotations import add_places, read_annotations, rows_of
from app.failures.model import Failure, Reading
from app.failures.read import read_log
from app.failures.reports import FILE_BYTES, Report, read_archive, read_report
from app.failures.sources import join

PYTEST_XML = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" tests="4">
<testcase classname="tests.test_cart.TestCart" name="test_total[two - items]" file="tests/test_cart.py" line="11" time="0.1">
<failure message="AssertionError: assert 2 == 3">def test_total():
&gt;   assert 2 == 3
E   AssertionError

tests/test_cart.py:12: AssertionError</failure><system-out>printed</system-out></testcase>
<testcase classname="tests.test_cart" name="test_db" time="0"><error message="failed on setup">no database</error></testcase>
<testcase classname="tests.test_cart" name="test_ok" time="0"/>
<testcase classname="tests.test_cart" name="test_later"><skipped message="later"/></testcase>
</testsuite></testsuites>"""
SUREFIRE_XML = """<testsuite name="org.shop.CartTest" tests="3">
<testcase name="adds" classname="org.shop.CartTest"><failure message="expected: 3" type="java.lang.AssertionError">java.lang.AssertionError: expected: 3
\tat org.shop.CartTest.adds(CartTest.java:12)</failure><rerunFailure message="again" type="x">again</rerunFailure></testcase>
<testcase name="shaky" classname="org.shop.CartTest"><flakyFailure message="once" type="x">once</flakyFailure></testcase>
<error message="class did not load">boom</error>
</testsuite>"""
TRX = """<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
<UnitTestResult testName="Shop.CartTest.Adds(n: 2)" outcome="Failed"><Output><ErrorInfo><Message>Assert.Equal() Failure</Message>
<StackTrace>   at Shop.CartTest.Adds(Int32 n) in /src/CartTest.cs:line 12</StackTrace></ErrorInfo></Output></UnitTestResult>
<UnitTestResult testName="Shop.CartTest.Ok" outcome="Passed"/>
</Results></TestRun>"""
CTRF = {"results": {"tests": [
    {"name": "adds", "suite": "cart", "status": "failed", "message": "2 is not 3", "filePath": "a.test.ts", "line": 4},
    {"name": "shaky", "status": "passed", "flaky": True},
    {"name": "ok", "status": "passed"},
]}}  # fmt: skip
JEST = {"numTotalTests": 2, "testResults": [
    {"name": "/src/a.test.js", "status": "failed", "message": "", "assertionResults": [
        {"ancestorTitles": ["Cart"], "title": "adds", "status": "failed", "failureMessages": ["Error: no\n    at Object.<anonymous> (/src/a.test.js:5:17)"]},
        {"ancestorTitles": ["Cart"], "title": "ok", "status": "passed"}]},
    {"name": "/src/broken.test.js", "status": "failed", "message": "SyntaxError: no", "assertionResults": []},
]}  # fmt: skip
MOCHA = {"stats": {}, "passes": [{"fullTitle": "Cart ok"}], "failures": [
    {"fullTitle": "Cart adds", "file": "/src/a.js", "err": {"message": "no", "stack": "AssertionError: no\n    at Context.<anonymous> (/src/a.js:5:1)"}},
]}  # fmt: skip
GO = "\n".join(json.dumps(row) for row in (
    {"Action": "run", "Package": "x/a", "Test": "TestA"},
    {"Action": "output", "Package": "x/a", "Test": "TestA/b", "Output": "    a_test.go:5: no\n"},
    {"Action": "fail", "Package": "x/a", "Test": "TestA/b"},
    {"Action": "fail", "Package": "x/a", "Test": "TestA"},
    {"Action": "fail", "Package": "x/a", "Test": "TestFlaky"},
    {"Action": "pass", "Package": "x/a", "Test": "TestFlaky"},
    {"Action": "fail", "Package": "x/a"},
))  # fmt: skip

Facts = tuple[str, str, str | None, int | None, bool]
REPORTS: list[tuple[str, str, list[Facts]]] = [
    ("pytest's XML", PYTEST_XML, [
        ("tests/test_cart.py::TestCart::test_total[two - items]", "fail", "tests/test_cart.py", 11, False),
        ("tests.test_cart.test_db", "error", None, None, False)]),
    ("surefire's XML", SUREFIRE_XML, [
        ("org.shop.CartTest.adds", "fail", "CartTest.java", 12, False),
        ("org.shop.CartTest.shaky", "fail", None, None, True),
        ("org.shop.CartTest", "suite_error", None, None, False)]),
    ("TRX", TRX, [("Shop.CartTest.Adds(n: 2)", "fail", "/src/CartTest.cs", 12, False)]),
    ("CTRF", json.dumps(CTRF), [("cart adds", "fail", "a.test.ts", 4, False), ("shaky", "fail", None, None, True)]),
    ("jest", json.dumps(JEST), [("Cart › adds", "fail", "/src/a.test.js", 5, False), ("/src/broken.test.js", "suite_error", "/src/broken.test.js", None, False)]),
    ("mocha", json.dumps(MOCHA), [("Cart adds", "fail", "/src/a.js", 5, False)]),
    ("go", GO, [("TestA/b", "fail", "a_test.go", 5, False)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "facts"), [row[1:] for row in REPORTS], ids=[row[0] for row in REPORTS])
def test_a_report_is_read(text: str, facts: list[Facts]) -> None:
    report = read_report("r", text.encode())
    assert not report.notes
    assert [(one.id, one.kind, one.file, one.line, one.flaky) for one in report.failing] == facts
    assert report.files == 1


def test_executed_tests_and_passes_are_counted() -> None:
    report = read_report("r", PYTEST_XML.encode())
    assert report.executed == 3
    assert report.passed == {"tests.test_cart.test_ok"}


HARMFUL = [
    ("not well formed", b"<testsuite><testcase name='a'>", "not well formed"),
    ("entities", b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite>&a;</testsuite>', "not well formed"),
    (
        "an outside entity",
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"/></testsuite>',
        "not well formed",
    ),
    (
        "a billion laughs",
        b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><testsuite>&b;</testsuite>',
        "not well formed",
    ),
    ("too deep", b"<testsuite>" * 100, "nested too deep"),
    ("another XML", b"<html><body/></html>", "not a test report"),
    ("another JSON", b'{"a": 1}', "not a test report"),
    ("JSON of brackets", b"[" * 200_000, "not a test report"),
    ("no text at all", b"\0\xff" * 100, "not a test report"),
    ("an unknown encoding", b'<?xml version="1.0" encoding="nope"?><testsuite/>', "not well formed"),
    ("too large", b" " * (FILE_BYTES + 1), "larger than"),
]


@pytest.mark.parametrize(("data", "note"), [row[1:] for row in HARMFUL], ids=[row[0] for row in HARMFUL])
def test_a_harmful_file_is_noted_and_skipped(data: bytes, note: str) -> None:
    """S21: never fatal."""
    report = read_report("r.xml", data)
    assert report.failing == []
    assert [note in one for one in report.notes] == [True]


def archive(**files: bytes) -> zipfile.ZipFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data in files.items():
            writer.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return zipfile.ZipFile(io.BytesIO(packed.getvalue()))


def test_an_artifact_is_read_file_by_file() -> None:
    report = read_archive(archive(a_xml=PYTEST_XML.encode(), b__c_xml=SUREFIRE_XML.encode(), picture=b"\x89PNG"))
    assert len(report.failing) == 5
    assert report.files == 2


def test_a_zip_bomb_costs_nothing() -> None:
    """S21: refused by its ratio before it is unpacked."""
    report = read_archive(archive(bomb_xml=b" " * 40_000_000, a_xml=PYTEST_XML.encode()))
    assert report.files == 1
    assert any("too large" in note for note in report.notes)


LOG = """\
============================= test session starts ==============================
=================================== FAILURES ===================================
________________________ TestCart.test_total[two - items] ______________________

>   assert 2 == 3
E   assert 2 == 3

tests/test_cart.py:12: AssertionError
----------------------------- Captured stdout call -----------------------------
only the log has this
============================== 1 failed in 0.10s ===============================
"""


def test_report_and_log_are_one_failure() -> None:
    """IN-1, IN-2: the report's id and message, the log's place and captured text."""
    joined = join(read_log([LOG.encode()]), read_report("r", PYTEST_XML.encode()))
    first, second = joined.findings
    assert first.test_id == "tests/test_cart.py::TestCart::test_total[two - items]"
    assert first.error_head == "AssertionError: assert 2 == 3"
    assert (first.file, first.line, first.place_source) == ("tests/test_cart.py", 12, "log")
    assert "only the log has this" in first.detail_tail
    assert (first.source, second.source) == ("report", "report")
    assert second.test_id == "tests.test_cart.test_db"


def test_a_log_failure_of_another_tool_stays() -> None:
    """IN-1."""
    log = read_log([b"=== RUN   TestA\n    a_test.go:5: no\n--- FAIL: TestA (0.00s)\nFAIL\n"])
    joined = join(log, read_report("r", PYTEST_XML.encode()))
    assert (joined.findings[0].test_id, joined.findings[0].source) == ("TestA", "log")
    assert len(joined.findings) == 3


def test_a_report_alone_names_tests_and_the_kind() -> None:
    joined = join(read_log([b"##[error]Process completed with exit code 1.\n"]), read_report("r", PYTEST_XML.encode()))
    assert joined.job_kind == "mixed"
    assert len(joined.failures) == 2


def test_an_unreadable_report_changes_nothing() -> None:
    log = read_log([LOG.encode()])
    assert join(log, read_report("r", b"<x")).findings == log.findings
    assert join(log, None) == log


def annotation(path: str, line: int, message: str, title: str = "", level: str = "failure") -> dict[str, object]:
    return {"path": path, "start_line": line, "annotation_level": level, "message": message, "title": title}


def failing(**more: object) -> Failure:
    facts: dict[str, object] = {
        "test_id": "tests/a.py::test_total",
        "framework": "pytest",
        "failure_kind": "fail",
        "error_head": "assert 2 == 3 in the cart",
    }
    return Failure(**{**facts, **more})  # type: ignore[arg-type]


def test_an_annotation_gives_a_missing_place() -> None:
    """IN-3: place only, and its source is kept."""
    found = add_places([failing()], read_annotations([annotation("tests/a.py", 12, "no", "test_total")]))[0]
    assert (found.file, found.line, found.place_source) == ("tests/a.py", 12, "annotation")


def test_an_annotation_changes_no_known_place_and_adds_no_test() -> None:
    known = failing(file="tests/a.py", line=3)
    rows = read_annotations(
        [annotation("tests/a.py", 12, "no", "test_total"), annotation("b.py", 1, "test_other failed")]
    )
    assert add_places([known], rows) == [known]
    assert add_places([], rows) == []


def test_two_annotations_that_fit_give_no_place() -> None:
    rows = read_annotations(
        [annotation("tests/a.py", 12, "no", "test_total"), annotation("tests/b.py", 9, "no", "test_total")]
    )
    assert add_places([failing()], rows)[0].line is None


def test_annotations_of_errors_are_rows_with_their_source() -> None:
    rows = rows_of(
        read_annotations(
            [
                annotation("a.c", 3, "undeclared"),
                annotation(".github", 1, "exit code 1"),
                annotation("a.c", 4, "w", level="warning"),
                {"path": 3},
            ]
        )
    )
    assert [(row.file, row.line, row.source) for row in rows] == [("a.c", 3, "annotation")]


def test_many_cases_stay_within_the_cap() -> None:
    report = Report()
    cases = "".join(f"<testcase name='a{n}'><failure/></testcase>" for n in range(2000))
    read_report("r", f"<testsuite>{cases}</testsuite>".encode(), report)
    assert len(report.failing) == 2000
    assert isinstance(join(Reading("unknown"), report), Reading)
