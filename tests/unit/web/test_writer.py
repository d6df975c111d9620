"""The thread that stores deliveries: groups, failures, doorbells (ST-W2, ST-W4)."""

import asyncio
import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event, select

from app.ledger.deliveries import Delivery
from app.ledger.engine import read, write
from app.ledger.schema import deliveries
from app.redact import Redactor
from app.web.writer import Arrival, NotKept, Writer

from .conftest import NOW


def arrival(guid: str, action: str = "completed") -> Arrival:
    return Arrival(Delivery(guid, "check_run", action, 4711, 77, None, b"{}"))


@contextmanager
def writing(engine: Engine, ring: Callable[[str], object] = lambda guid: None) -> Iterator[Writer]:
    writer = Writer(engine, Redactor(), lambda: NOW, ring)
    writer.start()
    try:
        yield writer
    finally:
        writer.close()


async def keep_all(writer: Writer, arrivals: list[Arrival]) -> list[object]:
    return list(await asyncio.gather(*map(writer.keep, arrivals), return_exceptions=True))


def test_st_w2_a_burst_costs_few_commits(engine: Engine) -> None:
    commits = []
    event.listen(engine, "commit", lambda conn: commits.append(1))
    with writing(engine) as writer:
        results = asyncio.run(keep_all(writer, [arrival(f"g-{n}") for n in range(300)]))
    assert results == ["stored"] * 300
    assert len(commits) < 60


def test_one_that_cannot_be_stored_costs_no_other(engine: Engine) -> None:
    broken = arrival("g-1", action=None)  # type: ignore[arg-type]
    with writing(engine) as writer:
        results = asyncio.run(keep_all(writer, [arrival("g-0"), broken, arrival("g-2")]))
    assert [type(result) if isinstance(result, NotKept) else result for result in results] == [
        "stored",
        NotKept,
        "stored",
    ]
    with read(engine) as conn:
        assert list(conn.execute(select(deliveries.c.guid)).scalars()) == ["g-0", "g-2"]


def test_at_the_end_each_is_stored_or_told_that_it_is_not(engine: Engine) -> None:
    """Nobody hangs, and what was answered "stored" is on disk."""

    async def keep_and_close(writer: Writer) -> list[object]:
        first = [asyncio.ensure_future(writer.keep(arrival(f"g-{n}"))) for n in range(20)]
        await first[0]
        closing = asyncio.to_thread(writer.close)
        late = writer.keep(arrival("late"))
        answers = await asyncio.gather(*first, closing, late, return_exceptions=True)
        return [*answers[:20], answers[21]]

    writer = Writer(engine, Redactor(), lambda: NOW, lambda guid: None)
    writer.start()
    answers = asyncio.run(asyncio.wait_for(keep_and_close(writer), 30))
    assert not writer.is_alive()
    stored = [answer for answer in answers if answer == "stored"]
    assert len(stored) + sum(isinstance(answer, NotKept) for answer in answers) == 21
    with read(engine) as conn:
        assert len(conn.execute(select(deliveries.c.guid)).all()) == len(stored) >= 1


def test_st_w4_the_doorbell_rings_after_the_commit(engine: Engine) -> None:
    """The row also says that it rang, so that the sweep does not ring at once again (decisions.md, row 61)."""
    seen: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()

    def look(guid: str) -> None:
        with read(engine) as conn:
            seen.put((guid, conn.execute(select(deliveries.c.rung_at).where(deliveries.c.guid == guid)).scalar()))

    with writing(engine, look) as writer:
        asyncio.run(writer.keep(arrival("g-1")))
        assert seen.get(timeout=5) == ("g-1", NOW)
        asyncio.run(writer.keep(arrival("g-1")))
    assert seen.empty(), "a repeated delivery rings nothing"


def test_st_q1_a_doorbell_that_hangs_holds_nobody_up(engine: Engine) -> None:
    """Redis hangs: deliveries are accepted as before, and the end of the process does not wait for it."""
    hanging: queue.SimpleQueue[None] = queue.SimpleQueue()
    with writing(engine, lambda guid: hanging.get()) as writer:
        results = asyncio.run(keep_all(writer, [arrival(f"g-{n}") for n in range(50)]))
        assert results == ["stored"] * 50
        hanging.put(None)


def test_an_unreadable_one_rings_nothing(engine: Engine) -> None:
    rung: list[str] = []
    with writing(engine, rung.append) as writer:
        unreadable = Arrival(arrival("g-1").delivery, "check_run.id: not a number")
        assert asyncio.run(writer.keep(unreadable)) == "failed"
    assert not rung


def test_a_locked_database_is_told_and_the_writer_lives_on(engine: Engine) -> None:
    with writing(engine) as writer:
        with write(engine) as conn:
            conn.exec_driver_sql("DROP TABLE deliveries")
        assert isinstance(asyncio.run(keep_all(writer, [arrival("g-1")]))[0], NotKept)
        assert writer.is_alive()
