"""Turns: one prompt and its answer; only the holder of its lease writes the answer (LE-2, IV-16)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from app.ledger import work
from app.ledger.leases import Holder
from app.ledger.rows import Row
from app.ledger.schema import turns, verdicts
from app.ledger.words import VerdictSource
from app.runs.model import Decision, ItemKind, ItemStatus, Purpose, Role


@dataclass(frozen=True)
class NewTurn:
    """A turn to be done; `key` is `<run id>-<version>` of the transition that made it (domain.md, 14)."""

    key: str
    run_id: str
    session_id: str
    role: Role
    purpose: Purpose
    step_id: str | None = None
    prompt: str = ""
    prompt_version: str = ""
    nonce: str = ""
    next_at: int | None = None
    simulated: bool = False


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended: DONE with an answer or FAILED with a closed code (runners.md, 2.2)."""

    status: ItemStatus
    text: str = ""
    result: Mapping[str, Any] | None = None
    stop_reason: str = ""
    error_code: str = ""
    error: str = ""
    cost: Mapping[str, Any] | None = None
    next_at: int | None = None


@dataclass(frozen=True)
class Verdict:
    """The decision of a supervisor turn as it was read; `evidence` are the ids it cites."""

    decision: Decision
    feedback: str
    evidence: Sequence[str]
    source: VerdictSource
    prompts: Mapping[str, str] | None = None
    addendum: str | None = None
    model: str = ""
    prompt_version: str = ""
    rules_version: str = ""


def create(conn: Connection, turn: NewTurn, now: int) -> str:
    """Queue a turn; its id, which is its key."""
    values = asdict(turn)
    conn.execute(turns.insert().values(id=values.pop("key"), created_at=now, **values))
    return turn.key


def get(conn: Connection, turn_id: str) -> Row:
    """The whole row; raises sqlalchemy.exc.NoResultFound for an unknown id."""
    return work.get(conn, ItemKind.TURN, turn_id)


def of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """All turns of a run, oldest first."""
    return conn.execute(select(turns).where(turns.c.run_id == run_id).order_by(turns.c.created_at, turns.c.id)).all()


def start(conn: Connection, turn_id: str, holder: Holder, now: int, **columns: object) -> bool:
    """QUEUED to RUNNING by the holder of `turn:<id>`; False if it is not mine to start.

    `columns`: what is frozen at the start, such as `grant_json`, `prompt`, `nonce`, `deadline_at`, `runner_digest`.
    """
    return work.start(conn, ItemKind.TURN, turn_id, holder, now, **columns)


def finish(conn: Connection, turn_id: str, holder: Holder, end: TurnEnd, now: int) -> bool:
    """RUNNING to DONE or FAILED by the holder of `turn:<id>`; False, and nothing is written, if it is not mine."""
    values = asdict(end)
    values |= {"result_json": values.pop("result"), "cost_json": values.pop("cost"), "follow_json": None}
    return work.end(conn, ItemKind.TURN, turn_id, holder, now, **values)


def follow(conn: Connection, turn_id: str, holder: Holder, now: int, **columns: object) -> bool:
    """A turn of a remote agent goes on RUNNING without a worker; `columns` hold `follow_json`, often `next_at`.

    False, and nothing is written, as for `finish`. Whoever is rung next finds in `follow_json` where it stands.
    """
    waiting = {"status": ItemStatus.RUNNING, "finished_at": None, "rung_at": None}
    return work.end(conn, ItemKind.TURN, turn_id, holder, now, **waiting, **columns)


def followed_to_the_end(conn: Connection, turn_id: str) -> None:
    """What ran elsewhere for a cancelled turn was ended, or cannot be."""
    conn.execute(update(turns).where(turns.c.id == turn_id).values(follow_json=None))


def store_verdict(conn: Connection, turn_id: str, verdict: Verdict, now: int) -> None:
    """Keep the verdict of a finished turn (IV-16); store it in the transaction of `finish`."""
    values = asdict(verdict) | {"evidence": list(verdict.evidence)}
    conn.execute(verdicts.insert().values(turn_id=turn_id, at=now, **values))


def verdict_of(conn: Connection, turn_id: str) -> Row | None:
    return conn.execute(select(verdicts).where(verdicts.c.turn_id == turn_id)).one_or_none()


def verdicts_of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """All verdicts of a run, oldest first, with `step_id` and `purpose` of their turns."""
    rows = select(verdicts, turns.c.step_id, turns.c.purpose).join(turns).where(turns.c.run_id == run_id)
    return conn.execute(rows.order_by(turns.c.created_at, turns.c.id)).all()
