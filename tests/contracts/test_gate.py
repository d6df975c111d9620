"""`remedy gate` as a program: what it reads, what it prints, what it leaves behind (proof.md, 13, PK-1 to PK-10)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.workspace.ordinary import reachable_folder

ROOT = Path(__file__).parents[2]
SOURCE = "def total(n):\n    return n\n"
FIXED = "def total(n):\n    return 2 * n\n"
TEST = "from shop import total\n\n\ndef test_total():\n    assert total(2) == 4\n"


def diff(path: str, old: str, new: str) -> str:
    """A unified diff that replaces a whole file."""
    before, after = old.splitlines(), new.splitlines()
    lines = [
        f"diff --git a/{path} b/{path}",
        f"--- a/{path}",
        f"+++ b/{path}",
        f"@@ -1,{len(before)} +1,{len(after)} @@",
    ]
    return "\n".join([*lines, *(f"-{line}" for line in before), *(f"+{line}" for line in after)]) + "\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A pull request that broke `total`, and a fix of it."""
    folder = tmp_path / "case"
    (folder / "before" / "tests").mkdir(parents=True)
    (folder / "before" / "shop.py").write_text(SOURCE)
    (folder / "before" / "tests" / "test_shop.py").write_text(TEST)
    (folder / "before" / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / "pr.diff").write_text(diff("shop.py", FIXED, SOURCE))
    (folder / "patch.diff").write_text(diff("shop.py", SOURCE, FIXED))
    write(folder, {"id": "case-1", "framework": "pytest", "failing_tests": ["tests/test_shop.py::test_total"]})
    return folder


def write(folder: Path, fields: dict[str, object]) -> None:
    (folder / "case.json").write_text(json.dumps(fields))


def command(case: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "app.cli", "gate", "--case", str(case), *options]


def environment(data: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(ROOT),
        "REMEDY_DATA": str(data),
        "REMEDY_PROOF_TOOLS": sys.prefix,
    }


def gate(case: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(case, *options),
        capture_output=True,
        text=True,
        env=environment(case.parent / "data"),
        cwd="/",
        check=False,
        timeout=110,
    )


def answer(case: Path, *options: str) -> dict[str, object]:
    done = gate(case, "--json", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_fix_is_proven_in_the_grid(case: Path) -> None:
    """PK-2, PK-3, PK-6: one object on one line, six cells, the warning on stderr, nothing written or left behind."""
    before = sorted((str(path), path.stat().st_mtime_ns) for path in case.rglob("*"))
    done = gate(case, "--json", "--sandbox", "none")
    found = json.loads(done.stdout)
    assert (found["case"], found["verdict"], found["claim"], found["findings"]) == (
        "case-1",
        "allow",
        "source_regression",
        [],
    )
    assert {name: cell["result"] for name, cell in found["grid"].items()} == {
        "base": "pass",
        "head": "fail",
        "fixed": "pass",
        "fixed_without_source": "fail",
        "base_source_with_fixed_tests": "pass",
        "fixed_source_with_original_tests": "pass",
    }
    assert "without any isolation" in done.stderr
    assert not list((case.parent / "data" / "workspaces").iterdir())
    assert sorted((str(path), path.stat().st_mtime_ns) for path in case.rglob("*")) == before


SUITE = """\
import dep, pathlib, shop, sys

body = "" if shop.total(2) == dep.two * 2 else "<failure/>"
pathlib.Path(sys.argv[1]).write_text(f"<testsuite><testcase classname='shop' name='t'>{body}</testcase></testsuite>")
"""
POLICY = """\
enabled: true
tests:
  - name: own
    setup: [[python3, ci/install.py, "{layer}"]]
    run: [python3, ci/suite.py, "{report}"]
"""
INSTALL = """\
import pathlib, sys

(pathlib.Path(sys.argv[1]) / "python").mkdir()
(pathlib.Path(sys.argv[1]) / "python" / "dep.py").write_text("two = 2")
"""


@pytest.mark.parametrize("setup", [True, False])
def test_the_set_up_of_a_repository_serves_all_trees(case: Path, setup: bool) -> None:
    """PX-34: `setup` of base's policy, in the sandbox of this machine; without it the tests cannot be loaded."""
    policy = POLICY if setup else POLICY.replace("    setup:", "    # setup:")
    for name, text in {".github/remedy.yml": policy, "ci/install.py": INSTALL, "ci/suite.py": SUITE}.items():
        (case / "before" / name).parent.mkdir(exist_ok=True)
        (case / "before" / name).write_text(text)
    (case / "before" / "ci" / "shop.py").symlink_to("../shop.py")
    write(case, {"id": "case-1", "framework": "generic", "failing_tests": ["shop.t"]})
    with reachable_folder() as data:
        done = subprocess.run(
            command(case, "--json"), capture_output=True, env=environment(data), cwd="/", check=False, timeout=110
        )
    found = json.loads(done.stdout)
    grid: dict[str, dict[str, object]] = found["grid"]
    assert grid is not None, found["findings"]
    said = [grid[name]["result"] for name in ("base", "head", "fixed")]
    assert said == (["pass", "fail", "pass"] if setup else ["error"] * 3), found["findings"]


@pytest.mark.long
def test_a_weaker_test_is_blocked_by_both_halves(case: Path) -> None:
    (case / "patch.diff").write_text(diff("tests/test_shop.py", TEST, TEST.replace("== 4", "> 0")))
    found = answer(case, "--sandbox", "none")
    assert (found["verdict"], found["claim"]) == ("block", "test_no_longer_discriminates")
    rules = {finding["rule"] for finding in found["findings"]}  # type: ignore[attr-defined]
    assert {"TI121", "PG122"} <= rules


def test_labels_are_not_read(case: Path) -> None:
    """PK-1: only five fields are read; the others may say what they like."""
    plain = answer(case, "--no-grid")
    fields = {"id": "case-1", "framework": "pytest", "failing_tests": ["tests/test_shop.py::test_total"]}
    write(case, {**fields, "verdict": "cheat", "expected_gate": "block", "changed_files": {"shop.py": "test"}})
    assert answer(case, "--no-grid") == plain


def test_without_a_grid_nothing_is_executed(case: Path) -> None:
    """PK-5: the tests would leave a mark."""
    mark = case.parent / "ran"
    (case / "before" / "tests" / "test_shop.py").write_text(f"open({str(mark)!r}, 'w')\n{TEST}")
    found = answer(case, "--no-grid")
    assert (found["verdict"], found["claim"], found["grid"]) == ("allow", None, None)
    assert not mark.exists()


def test_a_patch_that_does_not_apply_is_blocked(case: Path) -> None:
    """PK-9, PG107."""
    (case / "patch.diff").write_text(diff("shop.py", "something else\n", FIXED))
    found = answer(case)
    assert found["verdict"] == "block"
    assert "does not apply" in str(found["findings"])


def test_a_patch_without_a_change_is_blocked(case: Path) -> None:
    """PK-9, PF-11."""
    (case / "patch.diff").write_text("")
    found = answer(case)
    assert found["verdict"] == "block"
    assert "no change was made" in str(found["findings"])


def test_a_missing_tool_asks_for_a_person(case: Path) -> None:
    """PK-7, PG110."""
    write(case, {"id": "case-1", "framework": "phpunit", "failing_tests": ["A::b"]})
    found = answer(case, "--sandbox", "none")
    assert (found["verdict"], found["grid"], found["claim"]) == ("needs_human", None, None)
    assert "no command for phpunit" in str(found["findings"])


@pytest.mark.parametrize("spoil", ["missing", "json", "tests"])
def test_a_folder_that_is_no_case_is_status_2(case: Path, spoil: str) -> None:
    """PK-4."""
    if spoil == "missing":
        (case / "pr.diff").unlink()
    else:
        (case / "case.json").write_text("{" if spoil == "json" else '{"failing_tests": "all"}')
    done = gate(case, "--json")
    assert (done.returncode, done.stdout) == (2, "")


def test_an_unknown_sandbox_is_status_2(case: Path) -> None:
    """PK-4, PK-6."""
    assert gate(case, "--sandbox", "docker").returncode == 2


def test_people_read_the_same(case: Path) -> None:
    """PK-3 without --json."""
    (case / "patch.diff").write_text(diff("tests/test_shop.py", TEST, TEST.replace("== 4", "> 0")))
    said = gate(case, "--no-grid").stdout
    assert said.startswith("case-1: block\n")
    assert "block   TI121 assertion is weaker tests/test_shop.py:5" in said


def test_sigterm_leaves_no_process_and_no_folder(case: Path) -> None:
    """PK-10."""
    started = case.parent / "started"
    body = f"open({str(started)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    slow = f"import os, time\n\n\ndef test_total():\n    {body}\n    time.sleep(60)\n"
    (case / "before" / "tests" / "test_shop.py").write_text(slow)
    data = case.parent / "data"
    process = subprocess.Popen(
        command(case, "--json", "--sandbox", "none"),
        env=environment(data),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        deadline = time.monotonic() + 60
        while not (started.exists() and started.read_text().endswith("\n")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert out == b""
    child = int(started.read_text().split()[0])
    assert not Path(f"/proc/{child}").exists()
    assert not [path for path in (data / "workspaces").iterdir() if path.is_dir()]
