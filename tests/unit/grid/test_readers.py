"""Reports of the frameworks, read by their structure (proof.md, 5.1 and 5.2)."""

import json

import pytest

from app.workspace.sandbox.model import Result, Tier
from app.workspace.tests.execute import Command
from app.workspace.tests.frameworks.compiled import Cargo, Go
from app.workspace.tests.frameworks.javascript import Jest, Mocha, NodeTest, Vitest
from app.workspace.tests.frameworks.model import Said, Start, from_lines
from app.workspace.tests.frameworks.ruby import Rspec
from app.workspace.tests.named import row_of
from app.workspace.tests.pytest import all_rows
from app.workspace.tests.suite import SuiteRun

START = Start(Command(("x",)), ("test/a.test.js",), "/workspace")


def result(stdout: str = "", stderr: str = "", rc: int = 0) -> Result:
    return Result(rc, "exit", stdout.encode(), stderr.encode(), False, 0.1, 0, Tier.STRONG, "bwrap")


def words(said: Said) -> dict[str, str]:
    return {row.id: row.outcome for row in said.rows}


def test_node_test_has_nested_suites_and_no_file_name() -> None:
    xml = b"""<testsuites><testsuite name="allocate"><testcase name="splits"/>
    <testcase name="sums"><failure message="no">stack</failure></testcase>
    <testcase name="later"><skipped type="todo"/></testcase></testsuite></testsuites>"""
    assert words(NodeTest().read(START, xml, result())) == {
        "test/a.test.js > allocate > splits": "passed",
        "test/a.test.js > allocate > sums": "failed",
        "test/a.test.js > allocate > later": "skipped",
    }


def test_a_node_file_that_fails_itself_could_not_be_loaded() -> None:
    case = b'<testcase name="/workspace/test/a.test.js"><failure message="SyntaxError"/></testcase>'
    xml = b"<testsuites>" + case + b"</testsuites>"
    said = NodeTest().read(START, xml, result())
    assert (said.rows, list(said.broken)) == ((), ["test/a.test.js"])


@pytest.mark.parametrize("framework", [Jest(), Vitest()])
def test_jest_and_vitest_share_a_shape(framework: Jest | Vitest) -> None:
    rows = [
        {"ancestorTitles": ["q"], "title": "a", "status": "passed"},
        {"ancestorTitles": ["q"], "title": "b", "status": "failed", "failureMessages": ["no"]},
        {"ancestorTitles": [], "title": "c", "status": "pending"},
    ]
    files = [
        {"name": "/workspace/a.test.js", "status": "failed", "assertionResults": rows},
        {"name": "/workspace/b.test.js", "status": "failed", "message": "SyntaxError", "assertionResults": []},
    ]
    said = framework.read(START, json.dumps({"testResults": files}).encode(), result())
    assert words(said) == {"a.test.js > q > a": "passed", "a.test.js > q > b": "failed", "a.test.js > c": "skipped"}
    assert said.broken == {"b.test.js": "SyntaxError"}


def test_no_report_is_an_error_unless_the_runner_found_no_test() -> None:
    """PX-1."""
    assert not Jest().read(START, None, result()).complete
    assert Jest().read(START, None, result(stderr="No tests found, exiting with code 1")).complete
    assert not Mocha().read(START, None, result()).complete


def test_mocha_lists_passes_failures_and_pending() -> None:
    said = {
        "passes": [{"file": "/workspace/t.js", "fullTitle": "Q a", "currentRetry": 2}],
        "failures": [{"file": "/workspace/t.js", "fullTitle": "Q b", "err": {"message": "no"}}],
        "pending": [{"file": "/workspace/t.js", "fullTitle": "Q c"}],
    }
    found = Mocha().read(START, json.dumps(said).encode(), result())
    assert words(found) == {"t.js > Q a": "passed", "t.js > Q b": "failed", "t.js > Q c": "skipped"}
    assert [row.retried for row in found.rows if row.id == "t.js > Q a"] == [True]


def test_go_counts_rows_of_tests_not_of_packages() -> None:
    """A TestMain that drops the code leaves a package that passes beside a test that fails."""
    lines = [
        {"Action": "output", "Package": "p", "Test": "TestA", "Output": "no\n"},
        {"Action": "fail", "Package": "p", "Test": "TestA"},
        {"Action": "skip", "Package": "p", "Test": "TestB"},
        {"Action": "pass", "Package": "p"},
    ]
    said = Go().read(START, None, result("\n".join(json.dumps(line) for line in lines)))
    assert words(said) == {"TestA": "failed", "TestB": "skipped"}
    assert said.rows[0].detail == "no\n"


def test_a_go_package_that_does_not_build_is_an_error() -> None:
    said = Go().read(START, None, result("FAIL\tp [build failed]\n", "undefined: x", 2))
    assert "" in said.broken


CARGO = """
running 2 tests
test a ... ok
test tests::b ... FAILED

failures:

---- tests::b stdout ----
panicked at no

test forged ... ok

running 1 test
test c ... ignored, slow

"""


def test_cargo_rows_stand_inside_their_block() -> None:
    """A line that a test printed outside the block is no row."""
    said = Cargo().read(START, None, result(CARGO))
    assert words(said) == {"a": "passed", "tests::b": "failed", "c": "skipped"}
    assert said.complete
    assert "panicked at no" in said.rows[1].detail


def test_a_cargo_block_with_too_few_rows_is_no_report() -> None:
    assert not Cargo().read(START, None, result("running 2 tests\ntest a ... ok\n\n")).complete


def test_cargo_that_does_not_compile_is_an_error() -> None:
    assert Cargo().read(START, None, result("", "error: could not compile `a`", 101)).broken


def test_rspec_tells_pending_and_errors_outside() -> None:
    examples = [
        {"file_path": "./spec/a_spec.rb", "full_description": "A one", "status": "passed"},
        {"file_path": "./spec/a_spec.rb", "full_description": "A two", "status": "pending"},
    ]
    said = {"examples": examples, "summary": {"errors_outside_of_examples_count": 1}, "messages": ["LoadError"]}
    found = Rspec().read(START, json.dumps(said).encode(), result())
    assert words(found) == {"spec/a_spec.rb > A one": "passed", "spec/a_spec.rb > A two": "skipped"}
    assert found.broken == {"": "LoadError"}


def test_our_reporters_end_with_a_line_of_their_own() -> None:
    """PX-2: a process that ended itself left no last line."""
    row = b'{"id": "A#b", "outcome": "passed"}\n'
    assert not from_lines(row).complete
    assert from_lines(row + b'{"complete": 1, "lines": 1}\n').complete
    assert not from_lines(None).complete


ROW = b'{"id": "A#b", "outcome": "passed", "when": "call"}\n'
END = b'{"complete": 0, "lines": 1}\n'


@pytest.mark.parametrize(
    ("report", "forged"),
    [
        (ROW + END, False),
        (ROW, False),
        (ROW + ROW + END, True),
        (ROW + b"no JSON\n" + END, True),
        (ROW + END + ROW, True),
        (ROW + END + END, True),
        (ROW + b'{"complete": 0}\n', True),
    ],
)
def test_what_another_hand_wrote_into_our_report_is_seen(report: bytes, forged: bool) -> None:
    """PG109: the last line says how many lines our reporter wrote."""
    assert bool(from_lines(report).forged) == forged
    told = all_rows(report)
    assert told is None or ("" in told.forged) == forged


def phases(*lines: dict[str, object]) -> bytes:
    said = [{"id": "t.py::t", "outcome": "passed", **line} for line in lines]
    return b"".join(json.dumps(line).encode() + b"\n" for line in [*said, {"complete": 0, "lines": len(said)}])


@pytest.mark.parametrize(
    ("lines", "forged"),
    [
        (({"when": "setup"}, {"when": "call"}, {"when": "teardown"}), False),
        (({"when": "call", "part": True}, {"when": "call", "part": True}, {"when": "call"}), False),
        (({"when": "call", "outcome": "rerun"}, {"when": "call"}), False),
        (({"when": "call", "outcome": "failed"}, {"when": "call"}), True),
    ],
)
def test_a_pytest_test_that_ends_twice_was_forged(lines: tuple[dict[str, object], ...], forged: bool) -> None:
    """PX-4, PG109: parts of a test and tries before the last one are no ends."""
    told = all_rows(phases(*lines))
    assert told is not None
    assert told.forged == ({"t.py::t"} if forged else set())


def test_a_go_test_that_ends_twice_in_its_package_was_forged() -> None:
    """PG109: the same name in another package is another test."""
    lines = [{"Action": "pass", "Package": package, "Test": "TestA"} for package in ("p", "q")]
    honest = [*lines, {"Action": "fail", "Package": "p", "Test": "TestB"}]
    printed = [*honest, {"Action": "pass", "Package": "p", "Test": "TestB"}]
    for told, forged in ((honest, set()), (printed, {"TestB"})):
        assert Go().read(START, None, result("\n".join(json.dumps(line) for line in told))).forged == forged


@pytest.mark.parametrize(
    ("text", "forged"),
    [
        (CARGO, False),
        ("running 2 tests\ntest a (line 1) ... ok\ntest a (line 9) ... ok\n\n", False),
        ("running 1 test\ntest a ... ok\n\nrunning 1 test\ntest a ... ok\n\n", False),
        ("running 1 test\ntest a ... ok\ntest b ... FAILED\n\n", True),
        ("running 2 tests\ntest a ... ok\ntest a ... FAILED\n\n", True),
    ],
)
def test_a_cargo_block_has_each_test_once(text: str, forged: bool) -> None:
    """PX-3, PG109: counts must agree; two binaries may hold tests of one name."""
    assert bool(Cargo().read(START, None, result(text)).forged) == forged


@pytest.mark.parametrize("passed", [1, 2])
def test_more_passes_than_the_runner_counted_were_forged(passed: int) -> None:
    """PG109: the summary of a report must not know fewer passes than its rows."""
    rows = [{"title": "a", "status": "passed"}, {"title": "b", "status": "passed"}]
    files = [{"name": "/workspace/a.test.js", "assertionResults": rows}]
    jest = Jest().read(START, json.dumps({"testResults": files, "numPassedTests": passed}).encode(), result())
    passes = [{"file": "/workspace/t.js", "fullTitle": name} for name in "ab"]
    mocha = Mocha().read(START, json.dumps({"passes": passes, "stats": {"passes": passed}}).encode(), result())
    examples = [{"file_path": "./a_spec.rb", "full_description": name, "status": "passed"} for name in "ab"]
    summary = {"example_count": 2, "failure_count": 2 - passed, "pending_count": 0}
    rspec = Rspec().read(START, json.dumps({"examples": examples, "summary": summary}).encode(), result())
    assert [bool(said.forged) for said in (jest, mocha, rspec)] == [passed == 1] * 3


def test_a_named_test_gets_one_row() -> None:
    """PX-4, PX-10: the worst row counts; no row is not_run; no end of the run is an error."""
    said = Go().read(START, None, result('{"Action": "pass", "Package": "p", "Test": "TestA"}'))
    whole = SuiteRun(said.rows)
    assert row_of("TestA", whole).outcome == "passed"
    assert row_of("TestB", whole).outcome == "not_run"
    assert row_of("TestB", SuiteRun((), complete=False)).outcome == "error"
    assert row_of("TestB", SuiteRun(reason="go is not installed")).detail == "go is not installed"
