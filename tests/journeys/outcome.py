"""What must stand at the end of the thread, whatever happened on the way: everything once, nothing left over."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import select

from app.ledger.schema import commands, deliveries, diagnoses, leases, outbox, proofs, publications, turns
from app.ledger.schema.diagnosis import ENDED
from app.ledger.schema.engine import UNFINISHED
from app.ledger.schema.work import BEGUN
from app.ledger.words import DeliveryState
from app.services import Services
from tests.journeys.steps import Place, bodies, check_of
from tests.journeys.world import REPO, World

CREATES = ("issues/create", "issues/create-comment", "checks/create", "pulls/create")
ONCE: Mapping[str, int] = {**dict.fromkeys(CREATES, 1), "push": 1}
"""One issue, one comment, one check, one pull request, one push: all that a repair writes for good."""


def created(place: Place) -> dict[str, int]:
    """How often the App created each kind of thing and pushed, answered or not."""
    ours = [asked for asked in place.github.log() if asked.who.startswith("installation:")]
    found = Counter(str(asked.operation) for asked in ours if asked.operation in CREATES and asked.status < 400)
    pushes = [asked for asked in ours if asked.path.endswith("/git-receive-pack")]
    return {**{name: found[name] for name in CREATES}, "push": len(pushes)}


def assert_repaired(world: World, number: int, written: Mapping[str, int] = ONCE) -> None:
    """The run is COMPLETED(fixed), people see it once, the ledger is at rest, the evidence is whole."""
    run = world.run_of(number)
    assert run is not None, world.outcome_of(number)
    assert (run.status, run.result) == ("COMPLETED", "fixed"), (run.status, run.block_cause, run.error, world.did[-20:])
    assert_seen_once(world, number, written)
    assert left_over(world.services) == {}
    with world.services.read() as conn:
        assert world.services.store.verify(conn, run.id) is None


def assert_seen_once(place: Place, number: int, written: Mapping[str, int] = ONCE) -> None:
    """What people see at GitHub: one of each, and the comment leads to the fix."""
    assert check_of(place, number).conclusion == "action_required"
    assert len(bodies(place, number)) == 1
    assert [issue.state for issue in place.github.issues(REPO)] == ["open"]
    fixes = [pull for pull in place.github.pulls(REPO) if pull.head_ref.startswith("remedy/")]
    assert [(pull.state, pull.base_ref) for pull in fixes] == [("open", place.github.pull(f"{REPO}#{number}").head_ref)]
    assert f"/pull/{fixes[0].thread.number}" in bodies(place, number)[0]
    assert created(place) == dict(written)


def left_over(s: Services) -> dict[str, list[str]]:
    """What the ledger still waits for; empty when all is done."""
    waits = {
        "deliveries": select(deliveries.c.guid).where(deliveries.c.state == DeliveryState.RECEIVED),
        "diagnoses": select(diagnoses.c.id).where(diagnoses.c.state.not_in(ENDED)),
        "commands": select(commands.c.id).where(commands.c.outcome.is_(None)),
        "letters": select(outbox.c.key).where(outbox.c.state.in_(UNFINISHED)),
        "leases": select(leases.c.resource).where(leases.c.until_at > s.clock()),
    }
    for items in (turns, proofs, publications):
        waits[items.name] = select(items.c.id).where(items.c.status.in_(BEGUN))
    with s.read() as conn:
        found = {name: list(conn.execute(query).scalars()) for name, query in waits.items()}
    return {name: rows for name, rows in found.items() if rows}
