"""`remedy parse`: its object, its exits, archives and jobs (OUT-1 to OUT-13)."""

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

KEYS = ["path", "kind", "framework", "failures", "diagnostics", "bytes", "lines", "truncated", "exit_code"]
FAILURE_KEYS = ["id", "framework", "kind", "file", "line", "message", "detail", "flaky"]
ROW_KEYS = ["file", "line", "column", "code", "message", "tool", "severity"]
GO = """\
=== RUN   TestA
    a_test.go:5: got 2, want 3
--- FAIL: TestA (0.00s)
FAIL
FAIL	x/a	0.1s
##[error]Process completed with exit code 1.
"""
LINT = "./a.py:3:1: F401 'os' imported but unused\n##[error]Process completed with exit code 1.\n"


def remedy_parse(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "parse", *args], input=stdin, capture_output=True, timeout=60, check=False
    )


def objects(*args: str, stdin: bytes = b"") -> list[dict[str, object]]:
    done = remedy_parse("--json", *args, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_text(GO)
    return path


def test_one_object_a_line_with_exactly_these_keys(log: Path, tmp_path: Path) -> None:
    """OUT-1."""
    other = tmp_path / "lint.log"
    other.write_text(LINT)
    first, second = objects(str(log), str(other))
    assert list(first) == KEYS
    assert [list(row) for row in first["failures"]] == [FAILURE_KEYS]  # type: ignore[attr-defined]
    assert [list(row) for row in second["diagnostics"]] == [ROW_KEYS]  # type: ignore[attr-defined]
    assert (first["path"], first["kind"], first["exit_code"], first["lines"]) == (str(log), "test_failure", 1, 6)
    assert (second["kind"], second["framework"]) == ("lint", ["flake8"])


def test_standard_input_and_packed_logs(log: Path, tmp_path: Path) -> None:
    """OUT-12."""
    packed = tmp_path / "job.log.gz"
    packed.write_bytes(gzip.compress(GO.encode()))
    by_stdin, by_gzip = objects("-", stdin=GO.encode()), objects(str(packed))
    assert [row["id"] for row in by_stdin[0]["failures"]] == ["TestA"]  # type: ignore[attr-defined]
    assert by_gzip[0]["bytes"] == len(GO)


def test_an_archive_is_one_object_and_copies_of_steps_are_left_out(tmp_path: Path) -> None:
    """OUT-12: whole-job logs at the top win over the folders below them."""
    path = tmp_path / "logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0_build.txt", GO)
        archive.writestr("1_lint.txt", LINT)
        archive.writestr("build/2_test.txt", GO.replace("TestA", "TestCopy"))
    (one,) = objects(str(path))
    assert [row["id"] for row in one["failures"]] == ["TestA"]  # type: ignore[attr-defined]
    assert one["kind"] == "mixed"
    assert one["bytes"] == len(GO) + len(LINT)


def test_a_file_that_cannot_be_read_gives_1_and_the_others_are_answered(log: Path, tmp_path: Path) -> None:
    """OUT-5."""
    broken = tmp_path / "x.zip"
    broken.write_bytes(b"no archive")
    done = remedy_parse("--json", str(tmp_path / "nope.log"), str(broken), str(log))
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    assert b"nope.log" in done.stderr
    assert b"x.zip" in done.stderr


@pytest.mark.parametrize("args", [(), ("--nope", "x"), ("--jobs-json", "/nope", "x")])
def test_wrong_use_gives_2(args: tuple[str, ...]) -> None:
    assert remedy_parse(*args).returncode == 2


def test_the_job_of_a_file_is_found_by_its_name(tmp_path: Path) -> None:
    """OUT-7, OUT-8."""
    jobs = tmp_path / "jobs.json"
    jobs.write_text(
        json.dumps(
            {
                "jobs": [
                    {"id": 7, "name": "build", "conclusion": "cancelled"},
                    {"id": 8, "name": "lint", "conclusion": "success"},
                ]
            }
        )
    )
    log = tmp_path / "build.log"
    log.write_text("hello\n")
    assert objects("--jobs-json", str(jobs), str(log))[0]["kind"] == "cancelled"
    other = tmp_path / "other.log"
    other.write_text("hello\n")
    done = remedy_parse("--json", "--jobs-json", str(jobs), str(other))
    assert done.returncode == 0
    assert b"the whole log is read" in done.stderr


def test_people_get_one_failure_a_line_and_no_control_characters(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(GO.replace("got 2", "got \x1b]0;title\x07 2"))
    done = remedy_parse(str(log))
    text = done.stdout.decode()
    assert "fail       TestA  a_test.go:5" in text
    assert "1 failing, 0 flaky, 0 rows, exit code 1; 6 lines" in text
    assert "\x1b" not in text


def test_tokens_are_redacted_before_any_cut(tmp_path: Path) -> None:
    """OUT-10, RD4."""
    token = "ghp_" + "a1B2" * 9
    log = tmp_path / "a.log"
    log.write_text(GO.replace("got 2", f"got {token}"))
    assert token not in json.dumps(objects(str(log)))
