"""`remedy replay` of a log, and what the shell is offered (the replay of deliveries is a journey)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import remedy
from app.cli.complete import delivery_ids, run_ids
from app.errors import UserError
from app.events.router import ACTIONS, event_of
from app.ledger import deliveries
from app.ledger.deliveries import Delivery
from app.ledger.engine import migrate, open_engine, write
from tests.databases import a_ledger
from tests.unit.ledger.world import NOW, a_run

ROOT = Path(__file__).parents[2]
LOG = """\
FAILED tests/test_a.py::test_x - AssertionError: 1 == 2
FAILED tests/test_b.py::test_\x1b[31my - KeyError: 'k'
2 failed, 2 passed in 0.1s
"""


def said(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(remedy, ["replay", *args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REMEDY_DATA", str(tmp_path))
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_log_says_what_it_says_by_itself_without_a_server(data: Path) -> None:
    (data / "unit.log").write_text(LOG)
    code, text = said(str(data / "unit.log"))
    assert (code, "2 in 2 groups" in text, "test_a.py::test_x" in text, "\x1b" in text) == (0, True, True, False)
    assert not (data / "remedy.db").exists()
    steps = {one["step"]: one for one in json.loads(said(str(data / "unit.log"), "--json")[1])["steps"]}
    assert (steps["Kind"]["now"], steps["Kind"]["recorded"]) == ("test failure", None)


def test_ux_t7_what_is_neither_is_one_sentence(data: Path) -> None:
    engine = open_engine(f"sqlite:///{data / 'remedy.db'}")
    with pytest.raises(UserError, match="remedy migrate"):
        said("nobody")
    migrate(engine)
    with pytest.raises(UserError, match="no file and no delivery nobody"):
        said("nobody")
    (data / "x.json").write_text("[1]")
    with pytest.raises(UserError, match="unknown event"):
        said(str(data / "x.json"))
    with write(engine) as conn:
        deliveries.store(conn, Delivery("g-1", "check_run", "completed", 1, 2, None, b""), NOW)
        conn.exec_driver_sql("UPDATE deliveries SET payload = X''")
    with pytest.raises(UserError, match="was let go"):
        said("g-1")
    engine.dispose()


def test_the_shell_is_offered_ids(data: Path) -> None:
    assert run_ids("") == []
    engine = a_ledger(f"sqlite:///{data / 'remedy.db'}")
    with write(engine) as conn:
        run = a_run(conn)
        deliveries.store(conn, Delivery("g-1", "check_run", "completed", 1, 2, None, b"{}"), NOW)
    engine.dispose()
    assert run_ids(run.run_id[:4]) == [run.run_id]
    assert (delivery_ids("g"), delivery_ids("h")) == (["g-1"], [])


@pytest.mark.slow
@pytest.mark.parametrize(("line", "offered"), [("remedy re", "replay"), ("remedy replay --", "--json")])
def test_bash_completes(data: Path, line: str, offered: str) -> None:
    words = {"_REMEDY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    program = "import sys; sys.argv = ['remedy']; from app.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, **words}, capture_output=True, text=True
    )
    assert offered in done.stdout.split()


RECORDED = sorted((ROOT / "tests" / "unit" / "events" / "recorded").rglob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_event_of_a_body_is_seen(path: Path) -> None:
    name = path.stem.split(".")[0]
    if name in ACTIONS:
        assert event_of(json.loads(path.read_text())) == name
