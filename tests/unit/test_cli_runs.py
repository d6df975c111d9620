"""`remedy runs` and `remedy prune`: what an operator reads, and the exit status that a script reads."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from app.cli import remedy
from app.errors import UserError
from app.ledger.engine import open_engine, write
from app.ledger.evidence import Store
from app.ledger.schema import evidence
from app.ledger.words import EvidenceKind
from tests.databases import a_ledger
from tests.unit.ledger.world import NOW, a_run

pytestmark = pytest.mark.slow


@pytest.fixture
def run_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A run with one piece of evidence, in the data folder that the command uses."""
    monkeypatch.setenv("REMEDY_DATA", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    engine = a_ledger(f"sqlite:///{tmp_path / 'remedy.db'}")
    with write(engine) as conn:
        run = a_run(conn, error="odd\x1b[31m text")
        fact = {"kind": EvidenceKind.GRID, "data": b"grid", "origin": "host", "meta": {"what": "1 test"}, "now": NOW}
        Store(tmp_path / "evidence").put(conn, run_id=run.run_id, **fact)  # type: ignore[arg-type]
    yield run.run_id
    engine.dispose()


def said(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(remedy, args)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_runs_lists_the_newest_and_shows_one(run_id: str) -> None:
    code, text = said("runs")
    assert code == 0 and run_id in text and "acme/r101 pr:318" in text
    assert [run["run_id"] for run in json.loads(said("runs", "--json")[1])["runs"]] == [run_id]

    code, text = said("runs", "show", run_id)
    assert code == 0 and "1 test" in text and "\x1b" not in text
    assert json.loads(said("runs", "show", run_id, "--json")[1])["run"]["stage"] == "PLAN_REVIEW"


def test_verify_holds_or_names_the_first_broken_link_EV_2(run_id: str, tmp_path: Path) -> None:
    code, text = said("runs", "verify", run_id)
    assert code == 0 and text.startswith("holds: 1 pieces of evidence")

    next((tmp_path / "evidence").glob("??/*")).write_bytes(b"other")
    code, text = said("runs", "verify", run_id)
    assert code == 1 and "the file is not what was stored" in text
    found = json.loads(said("runs", "verify", run_id, "--json")[1])
    assert (found["ok"], found["broken"]) == (False, text.removeprefix("broken: ").strip())


def test_an_unknown_run_is_one_sentence_UX_T7(run_id: str) -> None:
    with pytest.raises(UserError, match="There is no run nobody"):
        said("runs", "verify", "nobody")


def test_prune_says_what_it_would_take_and_takes_nothing_of_a_live_run(run_id: str, tmp_path: Path) -> None:
    assert json.loads(said("prune", "--dry-run", "--json")[1])["evidence"] == 0
    assert json.loads(said("prune", "--days", "1", "--json")[1])["files"] == 0

    engine = open_engine(f"sqlite:///{tmp_path / 'remedy.db'}")
    with write(engine) as conn:
        conn.execute(update(evidence).values(path=""))
    engine.dispose()
    code, text = said("runs", "verify", run_id)
    assert code == 1 and "the file was removed" in text


def test_tick_says_the_word_of_the_tick_C30_LE_8(run_id: str) -> None:
    """In a process of its own, as an operator calls it."""
    command = (sys.executable, "-m", "app.cli", "runs", "tick")
    done = subprocess.run([*command, run_id], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "idle"), done.stderr
    unknown = subprocess.run([*command, "nobody"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 1 and "There is no run nobody" in unknown.stderr
