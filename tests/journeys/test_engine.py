"""What holds a run together: one supervisor at a time, faults of ours, the proven tree, the words of a tick."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from app.ledger import leases, outbox, pace, publications, turns
from app.ledger.schema import publications as publications_table
from app.runs.model import ItemStatus, Purpose
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def status_of(world: World, turn_id: str) -> ItemStatus:
    with world.services.read() as conn:
        found: ItemStatus = turns.get(conn, turn_id).status
    return found


def test_one_supervisor_at_a_time_and_only_the_proven_tree_is_pushed_C33_LE_7_PB_1_PB_2_PB_4_PB_5_PB_10(
    world: World,
) -> None:
    number = a_red_pull(world)
    turn_id = world.step_to("turn")
    run = world.run_of(number)
    assert run is not None
    with world.services.write() as conn:
        epoch = leases.take(conn, f"supervisor:{run.installation_id}", "other", world.now(), 60_000)
    assert world.run("turn", turn_id) == "waiting", "LE-7"
    assert status_of(world, turn_id) is ItemStatus.QUEUED
    with world.services.write() as conn:
        leases.release(conn, f"supervisor:{run.installation_id}", "other", epoch or 0)
    assert world.run("turn", turn_id) == "processed"

    publication = world.step_to("publish")
    with world.services.write() as conn:
        mine = update(publications_table).where(publications_table.c.id == publication)
        conn.execute(mine.values(tree="0" * 40))
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.block_cause.value == "tree_mismatch", "PB-2"
    assert [pull.head_ref for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")] == []

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    with world.services.read() as conn:
        published = publications.of_run(conn, run.id)[-1]
    fix = next(pull for pull in world.github.pulls(REPO) if pull.head_ref == published.branch)
    assert published.branch == f"remedy/{run.dedup_tag}/{run.id}", "PB-4"
    assert not fix.draft, "PB-5"
    body = fix.thread.body.lower()
    assert not any(f"{word} #" in body for word in ("closes", "fixes", "resolves")), "PB-5"
    last = next(turn for turn in world.turns_of(number) if turn.purpose is Purpose.FINAL)
    assert "Remedy prints this line itself" in last.prompt, "PB-10"


def test_a_fault_of_ours_stops_the_run_with_its_type_and_text_C23_C30_CR_17_LE_8_A22(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = a_red_pull(world)
    turn_id = world.step_to("turn")
    run = world.run_of(number)
    assert run is not None
    assert world.run("advance", run.id) == "waiting", "the turn is not done"
    world.run("turn", turn_id)

    def broken(*_: Any) -> None:
        raise KeyError("no such thing")

    with monkeypatch.context() as patch:
        patch.setattr("jobs.advance._of_turn", broken)
        assert world.run("advance", run.id) == "blocked"
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.error == "KeyError: 'no such thing'"
    assert world.run("advance", run.id) == "idle"
    assert check_of(world, number).conclusion == "neutral", "A22: our trouble is nobody's red check"
    with world.services.write() as conn:
        leases.take(conn, f"run:{run.id}", "other", world.now(), 60_000)
    assert world.run("advance", run.id) == "leased"
    theirs = world.github.check(f"{REPO}#{number}", "unit")
    assert theirs is not None and theirs.conclusion == "failure"


def test_what_a_log_holds_is_redacted_before_it_is_evidence_EV_3_A20(a_world: Callable[..., World]) -> None:
    world = a_world()
    broken = shop.BROKEN.replace("return total", f'print("token {SECRET}")\n    return total')
    change = {**shop.CHANGE, "listing/pages.py": broken}
    world.github.push(AUTHOR, REPO, "leaky", change)
    pull = world.github.open_pull(AUTHOR, REPO, "leaky")
    world.github.run_ci()
    world.step_to("turn")

    kept = [path for path in (world.folder / "data" / "evidence").glob("??/*") if path.is_file()]
    assert kept and not any(SECRET.encode() in path.read_bytes() for path in kept)
    assert SECRET not in "".join(bodies(world, int(pull.thread.number)))


def test_a_limit_of_githubs_is_left_to_the_sweep_OB_6(world: World) -> None:
    a_red_pull(world)
    world.step_to("deliver")
    with world.services.write() as conn:
        (installation,) = outbox.installations_due(conn, world.now(), world.now())
        pace.set_next_write(conn, installation, world.now() + 60_000)
    before = len(world.github.log(writes_only=True))

    assert world.run("deliver", str(installation)) == "waiting"
    assert len(world.github.log(writes_only=True)) == before
    assert ("deliver", str(installation)) not in world.ready()
    assert ("deliver", str(installation)) in world.ready(61)
