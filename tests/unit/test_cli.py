"""The command line: what it says, its exit status, and that it never shows a traceback or a secret (UX-T5 to UX-T7)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import remedy as command
from app.doctor.table import CHECKS
from app.web.tokens import read_token

ROOT = Path(__file__).parents[2]
SECRET = "a-webhook-secret-for-tests"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that the users of a root app's sandbox can reach."""
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o711)
    return tmp_path


def remedy(*args: str, **env: Any) -> "subprocess.CompletedProcess[str]":
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("REMEDY_", "REDIS_", "DATABASE_"))
    }
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *args],
        cwd=ROOT,
        env={**clean, **{name: str(value) for name, value in env.items()}},
        capture_output=True,
        text=True,
        timeout=60,
    )


class TestToken:
    def test_c35_it_speaks_for_one_installation_until_its_end(self, data: Path) -> None:
        done = remedy("token", "4711", "--days", "1", REMEDY_DATA=data, REMEDY_SECRET_KEY="k" * 32)
        assert (done.returncode, done.stderr) == (0, "")
        token = done.stdout.strip()
        expires = int(token.split(".")[2])
        assert read_token("k" * 32, token, expires - 1) == 4711
        assert read_token("k" * 32, token, expires) is None
        assert "k" * 32 not in token

    def test_ux_t7_without_a_key_it_says_what_to_do(self, data: Path) -> None:
        done = remedy("token", "4711", REMEDY_DATA=data)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("remedy: Set REMEDY_SECRET_KEY")
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("args", [["token"], ["token", "acme"], ["token", "0"], ["worker", "all"], ["nothing"]])
    def test_ux_t5_wrong_use_is_2(self, args: list[str]) -> None:
        assert CliRunner().invoke(command, args).exit_code == 2

    def test_ux_t7_a_setting_that_cannot_be_used_is_named(self, data: Path) -> None:
        done = remedy("token", "1", REMEDY_DATA=data, REMEDY_PORT="x", REMEDY_TIMES__LEASE_S="soon")
        assert done.returncode == 1
        assert "REMEDY_PORT" in done.stderr
        assert "REMEDY_TIMES__LEASE_S" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "url", ["nonsense", "postgresql://remedy:pgp4ss-77aa9c4e22@127.0.0.1:9/remedy", "sqlite:////proc/x.db"]
)
def test_ux_t7_a_database_that_cannot_be_used_is_said(data: Path, url: str) -> None:
    done = remedy("migrate", REMEDY_DATA=data, DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.startswith("remedy: ")
    assert "Traceback" not in done.stderr
    assert "pgp4ss" not in done.stderr


def test_migrate_can_be_said_twice(data: Path) -> None:
    for _ in range(2):
        done = remedy("migrate", REMEDY_DATA=data)
        assert (done.returncode, "database" in done.stdout) == (0, True), done.stderr
    assert (data / "remedy.db").stat().st_mode & 0o077 == 0


def test_a_data_folder_that_cannot_be_made_is_said(data: Path) -> None:
    (data / "file").touch()
    done = remedy("migrate", REMEDY_DATA=data / "file" / "below")
    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert "REMEDY_DATA" in done.stderr


@pytest.mark.slow
class TestDoctor:
    def test_ux_t6_json_gives_the_same_facts_as_the_text(self, data: Path) -> None:
        env = {"REMEDY_DATA": data, "REMEDY_GITHUB__API_URL": "http://127.0.0.1:9", "REMEDY_WEBHOOK_SECRET": SECRET}
        text, data_ = remedy("doctor", **env), remedy("doctor", "--json", **env)
        assert (text.returncode, data_.returncode) == (1, 1)
        rows = json.loads(data_.stdout)["checks"]
        assert {row["group"] for row in rows} == set(CHECKS)
        for row in rows:
            assert row["check"] in text.stdout
        by_name = {row["check"]: row for row in rows}
        assert by_name["Webhook secret"]["result"] == "passed"
        assert by_name["Database"]["result"] == "failed"
        assert by_name["Clock"]["result"] == "failed"
        assert "exit status 1" in text.stdout
        assert "\x1b" not in text.stdout
        assert SECRET not in text.stdout + data_.stdout
