"""What counts as a failing test, on report files that a real pytest writes."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.failures.reports import Report, read_report

pytestmark = pytest.mark.slow

ALL_KINDS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no database")

@pytest.fixture
def leaves_a_mess():
    yield
    raise OSError("still open")

def test_passes(): pass
def test_fails(): assert 1 == 2
def test_in_set_up(broken): pass
def test_in_both(leaves_a_mess): assert 1 == 2
def test_in_tear_down(leaves_a_mess): pass
@pytest.mark.skip(reason="not now")
def test_is_skipped(): assert False
@pytest.mark.xfail(reason="known")
def test_is_expected_to_fail(): assert False
@pytest.mark.xfail(strict=True)
def test_passes_although_it_must_not(): pass
"""


def run(folder: Path, text: str) -> Report:
    (folder / "test_all.py").write_text(text)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "/dev/null"]
    subprocess.run([*argv, "--rootdir", str(folder), "--junitxml", "r.xml", "."], cwd=folder, capture_output=True)
    return read_report("r.xml", (folder / "r.xml").read_bytes())


def names(report: Report) -> list[str]:
    return sorted(one.id.split("test_")[-1] for one in report.failing)


def test_failures_and_errors_count_and_what_was_expected_does_not(tmp_path: Path) -> None:
    """G3; G4: a test that fails in its call and in its teardown is one entry."""
    assert names(run(tmp_path, ALL_KINDS)) == sorted(
        ["fails", "in_set_up", "in_both", "in_tear_down", "passes_although_it_must_not"]
    )


def test_a_file_that_cannot_be_collected_counts(tmp_path: Path) -> None:
    """G3."""
    assert len(run(tmp_path, "import nothing_of_this_name\n").failing) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_all_in_set_up_are_all_there(tmp_path: Path, count: int) -> None:
    """G3: none is lost when every test fails before it begins."""
    tests = "\n".join(f"def test_{n}(broken): pass" for n in range(count))
    broken = "import pytest\n@pytest.fixture\ndef broken(): raise OSError('no database')\n"
    assert len(run(tmp_path, broken + tests).failing) == count
