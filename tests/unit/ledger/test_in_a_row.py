"""IT-32: how many commits in a row are our own."""

from dataclasses import replace

from sqlalchemy import Connection, update

from app.ledger import publications, runs
from app.ledger.schema import publications as publications_table
from app.ledger.schema import runs as runs_table
from app.runs.model import Stage, Status
from tests.unit.ledger.world import NOW, SHOP, a_publication, a_run, a_scope


def pushed(conn: Connection, scope_id: str, head: str, sha: str) -> None:
    """A run that began at `head` and pushed `sha`, and is over."""
    run = a_run(conn, scope_id)
    conn.execute(update(runs_table).where(runs_table.c.id == run.run_id).values(head_sha=head))
    item = a_publication(conn, run)
    conn.execute(update(publications_table).where(publications_table.c.id == item).values(pushed_sha=sha))
    over = replace(run, version=run.version + 1, status=Status.CANCELLED, stage=Stage.IDLE, cancel_reason="x")
    assert runs.save(conn, run, over, NOW)


def test_it_32_run_upon_run_until_a_persons_commit(conn: Connection) -> None:
    scope_id = a_scope(conn)
    pushed(conn, scope_id, "person", "ours1")
    pushed(conn, scope_id, "ours1", "ours2")
    pushed(conn, scope_id, "ours2", "ours3")

    assert [publications.in_a_row(conn, SHOP, sha) for sha in ("person", "ours1", "ours3")] == [0, 1, 3]
    assert publications.in_a_row(conn, SHOP + 1, "ours3") == 0, "of this repository only"


def test_it_32_a_circle_of_forced_pushes_ends(conn: Connection) -> None:
    scope_id = a_scope(conn)
    pushed(conn, scope_id, "b", "a")
    pushed(conn, scope_id, "a", "b")

    assert publications.in_a_row(conn, SHOP, "a") == publications.MOST_IN_A_ROW
