"""Named tests in a sandbox: every word, from a report of our own, with the interpreter that the operator named."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.workspace.rooms import Room
from app.workspace.sandbox.interpreters import Interpreter, NotBindable
from app.workspace.sandbox.model import Limits, Sandbox, Tier
from app.workspace.sandbox.plain import Plain
from app.workspace.tests.model import CellResult, OwnCommand, TestJob
from app.workspace.tests.run import run_tests
from app.workspace.tests.suite import run_suite
from app.workspace.trees import give
from tests.unit.workspace.ordinary import reachable_folder
from tests.unit.workspace.tools import IS_ROOT, a_sandbox, make_venv

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
Start = Callable[[Sandbox, TestJob], Coroutine[Any, Any, Any]]

CART = b"""
import os, pytest

def test_total(): assert 1 + 1 == 2
def test_wrong(): assert 1 + 1 == 3
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.parametrize("n", [1, 2, 0])
def test_rows(n): assert n
@pytest.fixture
def broken(): raise RuntimeError("no database")
def test_setup(broken): pass
@pytest.fixture
def leaks():
    yield
    raise RuntimeError("left open")
def test_teardown(leaks): pass
class TestClass:
    def test_a(self): pass
    def test_b(self): assert False
def test_env(): assert "canary" not in str(os.environ), os.environ
"""


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    """A Python with pytest that everybody can read."""
    with reachable_folder() as folder:
        yield make_venv(folder / "venv")


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Sandbox, Room]]:
    with a_sandbox() as (sandbox, rooms), rooms.enter("proof") as room:
        yield sandbox, room


@pytest.fixture
def run(place: tuple[Sandbox, Room], tools: Path) -> Run:
    def run_it(
        files: dict[str, bytes], *tests: str, backend: Sandbox | None = None, start: Start = run_tests, **job: object
    ) -> Any:
        sandbox, room = place
        room.remove("tree")
        tree = room.path / "tree"
        tree.mkdir(mode=0o700)
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(content)
        give(tree, room.uid)
        made = TestJob(tree, room.uid, "pytest", tests, Limits.for_tests(60), tools=str(tools))
        return asyncio.run(start(backend or sandbox, replace(made, **job)))

    return run_it


def words(result: CellResult) -> dict[str, str]:
    return {test.split("::", 1)[-1]: row.outcome for test, row in result.rows.items()}


def test_every_word_is_told_apart(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proof.md 4.1 and 5.2, PX-1, PF-5: only what is listed as executed and passed has passed."""
    monkeypatch.setenv("REMEDY_SECRET", "canary")
    names = [
        "total",
        "wrong",
        "skipped",
        "expected",
        "rows",
        "rows[2]",
        "rows[0]",
        "setup",
        "teardown",
        "env",
        "absent",
    ]
    tests = [f"t/test_cart.py::test_{name}" for name in names]
    result = run({"t/test_cart.py": CART}, *tests, "t/test_cart.py::TestClass", "t/test_gone.py::test_x")
    assert words(result) == {
        "test_total": "passed",
        "test_wrong": "failed",
        "test_skipped": "skipped",
        "test_expected": "skipped",
        "test_rows": "failed",
        "test_rows[2]": "passed",
        "test_rows[0]": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_env": "passed",
        "test_absent": "not_run",
        "TestClass": "failed",
        "test_x": "not_run",
    }
    assert "assert (1 + 1) == 3" in result.rows["t/test_cart.py::test_wrong"].detail
    assert result.rows["t/test_gone.py::test_x"].detail == "its file is not in this tree"
    assert (result.tier, result.rc, result.ended, result.reported) == (Tier.STRONG, 1, "exit", True)
    assert b"short test summary" in result.output_tail


def test_nothing_executed_is_never_a_pass(run: Run) -> None:
    """PF-5, domain.md PF-12: an exit code of 0 or 5 says nothing."""
    result = run({"test_a.py": b"import pytest\npytest.skip('no', allow_module_level=True)\n"}, "test_a.py::test_a")
    assert words(result) == {"test_a": "not_run"}
    assert result.executed == 0


@pytest.mark.parametrize(
    "hostile",
    [
        b"import os\ndef test_a(): os._exit(0)\n",
        b"import os, sys\ndef test_a():\n  sys.stdout.flush(); os.kill(os.getpid(), 9)\n",
        b"import os, glob\ndef test_a():\n  [os.unlink(f) for f in glob.glob('/report/*')]; os._exit(0)\n",
    ],
)
def test_a_run_without_a_complete_report_is_an_error(hostile: bytes, run: Run) -> None:
    """PX-1, PG103: `os._exit(0)` leaves exit code 0 and no report (measured)."""
    result = run({"test_a.py": hostile}, "test_a.py::test_a")
    assert words(result) == {"test_a": "error"}
    assert not result.reported


def test_a_file_that_cannot_be_collected_is_an_error_for_its_tests_alone(run: Run) -> None:
    files = {"test_a.py": b"import nothing_of_this_name\ndef test_a(): pass\n", "test_b.py": b"def test_b(): pass\n"}
    result = run(files, "test_a.py::test_a", "test_b.py::test_b")
    assert words(result) == {"test_a": "error", "test_b": "passed"}
    assert "nothing_of_this_name" in result.rows["test_a.py::test_a"].detail


def test_a_broken_conftest_ends_in_errors(run: Run) -> None:
    result = run({"conftest.py": b"1 / 0\n", "test_a.py": b"def test_a(): pass\n"}, "test_a.py::test_a")
    assert words(result) == {"test_a": "error"}


def test_a_test_that_hangs_ends_with_the_cell(run: Run) -> None:
    """PN-10: an error with the reason `wall`."""
    result = run(
        {"test_a.py": b"import time\ndef test_a(): time.sleep(600)\n"}, "test_a.py::test_a", limits=Limits.for_tests(3)
    )
    assert (words(result), result.ended, result.rc) == ({"test_a": "error"}, "wall", None)


def test_what_ci_has_and_we_have_not(run: Run) -> None:
    """Options of plugins that are not installed, a `src` layout that CI installs, a folder in which CI started."""
    files = {
        "backend/pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '--cov=shop --cov-report=xml'\n",
        "backend/src/shop/__init__.py": b"answer = 42\n",
        "backend/tests/test_shop.py": b"import shop\ndef test_answer(): assert shop.answer == 42\n",
    }
    assert words(run(files, "tests/test_shop.py::test_answer")) == {"test_answer": "passed"}


def test_two_places_with_that_name_are_not_guessed(run: Run) -> None:
    files = {"a/tests/test_x.py": b"def test_x(): pass\n", "b/tests/test_x.py": b"def test_x(): pass\n"}
    assert words(run(files, "tests/test_x.py::test_x")) == {"test_x": "not_run"}


def test_names_are_data(run: Run) -> None:
    """SB-41: options, ways out and odd signs in ids."""
    files = {"-x.py": b"def test_a(): pass\n", "test_ü b.py": b"def test_a(): pass\n"}
    hostile = (
        "--collect-only",
        "-p evil",
        "../../etc/passwd::test",
        "/etc/passwd::t",
        "a\nb::c",
        "$(touch x).py::t",
        "{report}::t",
    )
    result = run(files, "-x.py::test_a", "test_ü b.py::test_a", *hostile)
    assert [row.outcome for row in result.rows.values()] == ["passed", "passed", *["not_run"] * len(hostile)]


def test_a_test_side_that_prints_results_changes_nothing(run: Run) -> None:
    """Proof.md pitfall 5: rows on stdout are only text."""
    row = {"id": "test_a.py::test_a", "when": "call", "outcome": "passed"}
    code = f"def test_a():\n  print({json.dumps(row)!r}); print({json.dumps({'complete': 0})!r}); assert 0\n".encode()
    assert words(run({"test_a.py": code}, "test_a.py::test_a")) == {"test_a": "failed"}


HOOK = b"""
import os, sys
def pytest_runtest_logreport(report):
    if report.when == "call":
        place = sys.modules["remedy_pytest"]._REPORT
        with open(place, "a") as file:
            file.write(f'{{"id": "{report.nodeid}", "when": "call", "outcome": "passed"}}\\n')
"""
QUIET = b"""
import os, pytest
def test_parts(subtests):
    for n in range(3):
        with subtests.test(n=n): assert n < 3
def test_report_has_no_name():
    assert "REMEDY_REPORT" not in os.environ
    with pytest.raises(PermissionError): os.listdir("/report")
"""


@pytest.mark.parametrize(("conftest", "forged"), [(HOOK, True), (b"", False)])
def test_a_conftest_that_writes_into_the_report_is_seen(conftest: bytes, forged: bool, run: Run) -> None:
    """PG109, PX-2: the report has no name that a test could look up; what is written into it all the same shows."""
    found = run({"test_q.py": QUIET, "conftest.py": conftest}, "test_q.py", start=run_suite)
    assert {row.outcome for row in found.rows} == {"passed"}
    assert ("" in found.forged) == forged


def test_a_framework_without_a_command_says_what_to_do(run: Run) -> None:
    """PX-33, PG110."""
    result = run({"a.test.js": b""}, "a.test.js > adds", framework="jest")
    assert result.reason == "no command for jest; set `tests` in .github/remedy.yml"
    assert (result.executed, result.argv) == (0, ())


def test_no_python_with_pytest_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PG110: outcome not_run with the reason."""
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run({"test_a.py": b"def test_a(): pass\n"}, "test_a.py::test_a", tools="")
    assert "can import pytest" in result.reason
    assert words(result) == {"test_a": "not_run"}


# The repository's own command

OWN = b"""
import sys, xml.sax.saxutils as x
report, names = sys.argv[1], sys.argv[2:]
rows = {
    "a.B.test_ok": "", "a.B.test_bad": "<failure message='1 != 2'>trace</failure>",
    "a.B.test_broken": "<error message='boom'/>", "a.B.test_skip": "<skipped/>",
}
rows = {n: body for n, body in rows.items() if not names or n in names}
cases = [f"<testcase classname='a.B' name='{n[4:]}'>{body}</testcase>" for n, body in rows.items()]
open(report, "w").write("<testsuite>" + "".join(cases) + "</testsuite>")
"""


@pytest.mark.parametrize("named", [(), ("python3", "ci/run.py", "{report}", "{id}")], ids=["whole", "named"])
def test_a_command_of_the_repository_is_read_by_its_report(named: tuple[str, ...], run: Run) -> None:
    """PX-30: argv lists with {report} and {id}; ids of another spelling are the same (proof.md, 4.4)."""
    own = OwnCommand("generic", ("python3", "ci/run.py", "{report}"), named)
    names = ("a.B.test_ok", "a.B.test_bad", "a.B.test_broken", "a.B.test_skip", "a.B.test_absent")
    result = run({"ci/run.py": OWN}, *names, framework="minitest", own=(own,))
    assert [row.outcome for row in result.rows.values()] == ["passed", "failed", "error", "not_run", "not_run"]
    assert "1 != 2" in result.rows["a.B.test_bad"].detail
    if not named:
        other = run({"ci/run.py": OWN}, "a/B.py::test_ok", "B.test_bad", framework="pytest", own=(own,))
        assert [row.outcome for row in other.rows.values()] == ["passed", "failed"]


def test_a_command_without_a_report_is_an_error_whatever_its_exit_code(run: Run) -> None:
    """PX-1."""
    own = OwnCommand("generic", ("true", "{report}"))
    result = run({"a": b""}, "x", framework="minitest", own=(own,))
    assert (words(result), result.rc, result.reported) == ({"x": "error"}, 0, False)


def test_paths_say_which_ids_use_a_command(run: Run) -> None:
    own = OwnCommand("generic", ("python3", "ci/run.py", "{report}"), paths=("services/**",))
    files = {"ci/run.py": OWN, "test_a.py": b"def test_a(): pass\n"}
    result = run(files, "test_a.py::test_a", "services/a/B.py::test_ok", own=(own,))
    assert [row.outcome for row in result.rows.values()] == ["passed", "passed"]


# The interpreter


def test_a_run_without_isolation_gives_the_same_answers(run: Run) -> None:
    """The same interface at tier NONE."""
    result = run(
        {"t/test_cart.py": CART}, "t/test_cart.py::test_total", "t/test_cart.py::test_wrong", backend=Plain("acme/shop")
    )
    assert words(result) == {"test_total": "passed", "test_wrong": "failed"}
    assert (result.tier, result.backend) == (Tier.NONE, "none")


def test_our_own_environment_runs_the_tests_when_the_operator_says_so(run: Run) -> None:
    """PK-8, SX-35, PN-13: `make demo` names the project's environment, which may lie below a shut home.

    Its base interpreter is bound too. The version that answers inside is the very one that was named.
    """
    found = run(
        {"test_v.py": b"import sys\ndef test_v(): assert 0, sys.version + sys.prefix\n"},
        "test_v.py::test_v",
        tools=sys.prefix,
    )
    detail = found.rows["test_v.py::test_v"].detail
    assert words(found) == {"test_v": "failed"}, found.reason
    assert sys.version in detail
    assert sys.prefix in detail


@pytest.mark.skipif(not IS_ROOT, reason="only a root app runs tests as somebody else")
@pytest.mark.parametrize("base", ["/usr/bin/python3", os.path.realpath(sys.executable)], ids=["system", "ours"])
def test_a_toolchain_below_a_shut_folder_is_bound_and_nothing_stays_mounted(
    base: str, run: Run, tmp_path: Path
) -> None:
    """SX-35: the environment lies below a 0700 home, and its base interpreter may lie below another one."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shut = make_venv(home / "deep" / "venv", base)
    result = run(
        {"test_a.py": b"import sys\ndef test_a(): assert 0, sys.prefix\n"}, "test_a.py::test_a", tools=str(shut)
    )
    assert str(shut) in result.rows["test_a.py::test_a"].detail
    assert "remedy" not in Path("/proc/self/mounts").read_text()


@pytest.mark.skipif(not IS_ROOT, reason="only a root app runs tests as somebody else")
def test_a_toolchain_that_nobody_may_read_counts_as_not_installed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SX-35, PG110: no permission of the tree itself is changed."""
    shut = make_venv(tmp_path / "venv")
    (shut / "lib").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run({"test_a.py": b"def test_a(): pass\n"}, "test_a.py::test_a", tools=str(shut))
    assert "can import pytest" in result.reason


def test_a_home_folder_is_never_bound() -> None:
    """SX-36."""
    for root in ("/", "/root", os.path.expanduser("~"), "/home"):
        if Path(root).is_dir() and root != "/nonexistent":
            with pytest.raises(NotBindable):
                Interpreter(f"{root}/bin/python3", root, root, "3").binds()
    assert Interpreter("/usr/bin/python3", "/usr", "/usr", "3").binds() == {}
    assert "/usr/local" not in Interpreter("/usr/local/bin/python3", "/usr/local", "/usr/local", "3").binds()
