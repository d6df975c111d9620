"""The diary of a turn: what is kept of a runner's events, and what never becomes a row."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.ledger.events import of_turn
from app.ledger.words import TurnEventSource
from app.runners.runner import EventType, RunnerEvent
from app.services import Services, make
from app.settings import Settings
from app.turns.keeping import Diary
from tests.databases import a_ledger
from tests.unit.ledger.world import NOW, a_run, a_turn


@pytest.fixture
def s(tmp_path: Path) -> Iterator[Services]:
    settings = Settings(
        data=tmp_path, DATABASE_URL="", REDIS_URL="redis://127.0.0.1:9/0", secret_key=SecretStr("canary-0123456789")
    )
    a_ledger(settings.database).dispose()
    made = make(settings)
    yield made
    made.engine.dispose()


def kept(s: Services, *events: tuple[EventType, dict[str, Any]]) -> list[Any]:
    with s.write() as conn:
        turn_id = a_turn(conn, a_run(conn))
    diary = Diary(s, turn_id)
    for kind, data in events:
        diary(RunnerEvent(kind, data))
    diary.host(RunnerEvent(EventType.LOG, {"text": "by the host"}))
    with s.read() as conn:
        return list(of_turn(conn, turn_id))


def test_a_secret_is_redacted_before_it_is_a_row(s: Services) -> None:
    """D20, RN-4: of a tool's output too; what no JSON could hold after it is kept as a cut text."""
    said = {"call": "c", "output": "key canary-0123456789 and ghp_" + "a" * 36}
    rows = kept(s, (EventType.TOOL_COMPLETED, said), (EventType.MESSAGE_COMPLETED, {"text": "x" * 200_000}))
    assert "canary-0123456789" not in str(rows) and "ghp_a" not in str(rows)
    assert [row.source for row in rows] == [TurnEventSource.RUNNER, TurnEventSource.RUNNER, TurnEventSource.HOST]
    assert set(rows[1].data_json) == {"cut"} and len(rows[1].data_json["cut"]) <= 100_000


def test_pieces_and_thoughts_are_no_rows_and_use_is_written_seldom(s: Services) -> None:
    """RN-12: an agent that tells its use with every word fills no database."""
    rows = kept(
        replace(s, clock=lambda: NOW),
        (EventType.MESSAGE_DELTA, {"text": "x"}),
        (EventType.THOUGHT_DELTA, {"text": "x"}),
        *[(EventType.USAGE_UPDATED, {"used": n}) for n in range(50)],
    )
    assert [row.type.value for row in rows] == ["usage.updated", "turn.log"]
