"""How fast one installation writes: a pause after each write, a cap per hour, and what GitHub's limits said (GH-11)."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from app.ledger.schema import installations

WINDOW_MS = 300_000
WINDOWS = 13
"""So many windows always hold a whole hour, wherever the present one begins."""


def next_write(conn: Connection, installation_id: int) -> int:
    """UTC milliseconds before which this installation writes nothing; 0 if it may at once (OB-6)."""
    at = select(installations.c.next_write_at).where(installations.c.id == installation_id)
    return conn.execute(at).scalar() or 0


def set_next_write(conn: Connection, installation_id: int, at: int) -> None:
    """Nothing of this installation is written before `at`: its pace, or what GitHub's limit said (GH-10)."""
    conn.execute(update(installations).where(installations.c.id == installation_id).values(next_write_at=at))


def wrote(conn: Connection, installation_id: int, count: int, now: int, *, pace_ms: int, an_hour: int) -> None:
    """Count writes of now; the next one follows after a pause for each, and never as one too many in any hour."""
    row = conn.execute(select(installations).where(installations.c.id == installation_id)).one()
    window = now // WINDOW_MS
    windows = {int(at): int(n) for at, n in row.writes or () if at > window - WINDOWS}
    windows[window] = windows.get(window, 0) + count
    kept = sorted(windows.items())
    at = max(row.next_write_at or 0, now + count * pace_ms, _free_at(kept, an_hour))
    conn.execute(
        update(installations).where(installations.c.id == installation_id).values(writes=kept, next_write_at=at)
    )


def _free_at(windows: Sequence[tuple[int, int]], an_hour: int) -> int:
    """When enough old windows have passed for one more write; 0: there is room already."""
    total = sum(n for _, n in windows)
    free_at = 0
    for at, n in windows:
        if total < an_hour:
            break
        total -= n
        free_at = (at + WINDOWS) * WINDOW_MS
    return free_at
