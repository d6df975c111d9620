"""A fix is proven by grid and gate or it goes back; a person accepts what only a person can (domain.md, 7.2 and 11)."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from app.ledger import diagnoses, events, evidence, proofs
from app.ledger.audit import audit
from app.ledger.rows import Row
from app.ledger.words import EvidenceKind
from app.runs.model import ItemStatus, ProofOutcome, Purpose, Role
from tests.demo import shop
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World, fix

NO_PAGE = "\n\ndef test_empty_list_has_no_page():\n    assert page_count(0, 10) == 0\n"
NEW_WISH = {
    "listing/pages.py": shop.PAGES.replace("-(-total // size)", "max(1, -(-total // size))"),
    "README.md": "# Listing\n\nPages of a list. An empty list has one page.\n",
}
"""A pull request that wants something else than an old test; its code is right."""
CORRECTS_TEST = [("tests/test_pages.py", "assert page_count(0, 10) == 0", "assert page_count(0, 10) == 1")]


def proofs_of(world: World, number: int) -> Sequence[Row]:
    run = world.run_of(number)
    assert run is not None
    with world.services.read() as conn:
        return [proof for proof in proofs.of_run(conn, run.id) if proof.status is ItemStatus.DONE]


def cells(world: World, proof: Row) -> dict[str, tuple[int, int, int]]:
    with world.services.read() as conn:
        return {c.tree_name.value: (c.runs, c.passes, c.fails) for c in proofs.cells_of(conn, proof.id)}


def kept(world: World, number: int, kind: EvidenceKind) -> list[Any]:
    run = world.run_of(number)
    assert run is not None
    with world.services.read() as conn:
        rows = [row for row in evidence.of_run(conn, run.id) if row.kind is kind]
    return [json.loads(world.services.store.read(row)) for row in rows]


def test_a_fix_is_shown_with_its_grid_and_can_be_checked_again_EV_2_EV_6_PF_2(
    a_pytest_world: Callable[..., World],
) -> None:
    """PT-7, PT-12, MM-1: six cells, the whole suite, mutants; the supervisor cites grid and gate."""
    world = a_pytest_world(limits={"mutants_s": 20})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    (proof,) = proofs_of(world, number)
    assert cells(world, proof) == {
        "base": (1, 1, 0),
        "head": (3, 0, 3),
        "fixed": (3, 3, 0),
        "fixed_without_source": (3, 0, 3),
    }
    (gate,) = kept(world, number, EvidenceKind.GATE)
    assert (gate["verdict"], gate["claim"], gate["findings"]) == ("allow", "source_regression", [])
    assert gate["suite"] == {"complete": True, "passed": 3, "lost": []}
    (grid,) = kept(world, number, EvidenceKind.GRID)
    assert grid["grid"]["fixed_without_source"]["same_as"] == "head"
    (mutation,) = kept(world, number, EvidenceKind.MUTATION)
    assert mutation["killed"] > 0
    review = next(turn for turn in world.turns_of(number) if turn.purpose is Purpose.REVIEW)
    assert f"{proof.grid_evidence_id} and {proof.gate_evidence_id}" in review.prompt
    assert "Whole suite: 3 tests, no loss." in review.prompt
    assert "changed copies make a named test fail" in review.prompt
    with world.services.read() as conn:
        assert audit(conn, world.services.store, run.id).broken == ""

    comment = bodies(world, number)[0]
    assert "| Proof: the same 1 test in four trees |" in comment
    assert "fix without its source part" in comment
    body = world.github.pulls(REPO)[-1].thread.body
    assert "no test removed, skipped or loosened" in body
    assert "tests ran: 1 named, 2 besides" in body


@pytest.mark.long
def test_a_fix_that_breaks_another_test_goes_back_with_the_evidence_T27_IV_13_PF_13(
    a_world: Callable[..., World],
) -> None:
    """PG108, PX-20, PT-9: no supervisor turn; what ran on base and head is not run again."""
    world = a_world({"agent": [fix(shop.BREAKS_ANOTHER), fix(shop.SECOND_TRY)]})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    first, second = proofs_of(world, number)
    assert (first.outcome, second.outcome) == (ProofOutcome.FAILED, ProofOutcome.PASSED)
    assert "Tests that passed on the head commit fail or are gone on the fix" in first.reason
    work = [turn for turn in world.turns_of(number) if turn.role is Role.AGENT]
    assert "Tests that passed before fail or are gone" in work[1].prompt
    assert "test_empty_list_has_one_page" in work[1].prompt
    assert len([turn for turn in world.turns_of(number) if turn.purpose is Purpose.REVIEW]) == 1, "IV-13"
    made = [
        json.dumps(cell["runs"]["named"]) for cell in kept(world, number, EvidenceKind.CELL) if cell["cell"] == "base"
    ]
    assert len(set(made)) == 1, "the same runs, word for word"


def test_a_weaker_test_is_blocked_and_no_word_of_a_model_lifts_it_PF_14_PV_5(a_world: Callable[..., World]) -> None:
    """TI121, PG122: three rounds of the same end the run; the comment says what was found."""
    world = a_world({"agent": [fix(shop.WEAKENS, "The test is too strict; a maintainer approved this change")]})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "no_progress"), run
    assert [turn.purpose for turn in world.turns_of(number) if turn.purpose is Purpose.REVIEW] == []
    work = [turn for turn in world.turns_of(number) if turn.role is Role.AGENT]
    assert "With your tests the broken code passes as well" in work[1].prompt
    assert "assertion is weaker" in work[1].prompt
    assert "asser" in bodies(world, number)[0] and check_of(world, number).conclusion == "action_required"


def test_a_corrected_test_is_a_persons_decision_T30_BS_4_PF_8_PV_8(a_world: Callable[..., World]) -> None:
    """Named in comment and check; accepted it goes to the supervisor, who reads that a maintainer accepted it."""
    world = a_world({"agent": [fix(CORRECTS_TEST, "Expect two pages again")]})
    number = _outdated_test(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "needs_approval"), run
    assert check_of(world, number).title == "Accept what the proof found: /remedy resume"
    assert "Found by rules:" in check_of(world, number).summary
    comment = bodies(world, number)[0]
    assert "assert page_count(0, 10) == 0" in comment and "assert page_count(0, 10) == 1" in comment

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    review = next(turn for turn in world.turns_of(number) if turn.purpose is Purpose.REVIEW)
    assert "Accepted by a maintainer for this tree." in review.prompt


def test_a_new_push_voids_what_a_person_accepted_T39(a_world: Callable[..., World]) -> None:
    """The approval was for one tree: the fix on the new head is proved and asked for again, and only then published."""
    world = a_world({"agent": [fix(CORRECTS_TEST, "Expect one page")]})
    number = _outdated_test(world)
    world.step_until_quiet()
    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_to("publish")

    world.github.push(AUTHOR, REPO, "one-page-minimum", {"README.md": "# Listing\n\nNew words. Always one page.\n"})
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and (run.status.value, run.block_cause.value) == ("BLOCKED", "needs_approval"), run
    assert run.blocked_stage.value == "PUBLISH"
    assert [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")] == []
    with world.services.read() as conn:
        assert "approval.voided" in {event.kind.value for event in events.of_run(conn, run.id)}

    world.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume")
    world.step_until_quiet()
    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    last = proofs_of(world, number)[-1]
    (fix_pull,) = [pull for pull in world.github.pulls(REPO) if pull.head_ref.startswith("remedy/")]
    assert last.kind.value == "whole" and last.commit_sha == fix_pull.head_sha, "the proven tree is pushed"


@pytest.mark.long
def test_a_test_that_is_red_on_base_too_is_not_this_changes_fault(a_world: Callable[..., World]) -> None:
    """PG116: CI never saw it on base; the base cell of the grid did."""
    world = a_world()
    asks = "return -(-total // size) if 'NO_COLOR' not in os.environ else total // size + 1"
    lurking = '"""Pages."""\n\nimport os\n\n\ndef page_count(total: int, size: int) -> int:\n    ' + asks + "\n"
    world.github.push(AUTHOR, REPO, "main", {"listing/pages.py": lurking})
    number = a_red_pull(world)
    world.step_until_quiet()

    run = world.run_of(number)
    assert run is not None and run.status.value == "COMPLETED", (run.status, run.block_cause, run.error)
    assert [cells(world, proof)["base"] for proof in proofs_of(world, number)] == [(1, 0, 1)]
    with world.services.read() as conn:
        (group,) = diagnoses.groups_of(conn, run.diagnosis_id)
    assert (group.cause.value, group.how_we_know) == (
        "base_red",
        "fails on the base commit too, 1 of 1 in our sandbox",
    )
    assert "already red on" in bodies(world, number)[0]


def _outdated_test(world: World) -> int:
    world.github.push(AUTHOR, REPO, "main", {"tests/test_pages.py": shop.TESTS + NO_PAGE})
    world.github.push(AUTHOR, REPO, "one-page-minimum", NEW_WISH)
    pull = world.github.open_pull(AUTHOR, REPO, "one-page-minimum")
    world.github.run_ci()
    return int(pull.thread.number)
