"""Turns, proofs and publications: what they keep, and what of it is used again."""

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from app.ledger import events, leases, proofs, publications, turns
from app.ledger.events import TurnEvent
from app.ledger.leases import Holder
from app.ledger.proofs import Cell, NewProof, ProofEnd
from app.ledger.publications import PublicationEnd
from app.ledger.turns import TurnEnd, Verdict
from app.ledger.words import ProofKind, TreeName, TurnEventKind, VerdictSource
from app.runs.model import Decision, ItemStatus, ProofOutcome, PublicationStatus, Purpose
from tests.unit.ledger.world import NOW, SHOP, a_proof, a_publication, a_run, a_scope, a_turn


def test_a_turn_keeps_what_was_frozen_at_its_start_and_what_came_out(conn: Connection) -> None:
    """PL-11: the grant of a turn is frozen; decisions.md, 96: with the version of its prompt."""
    run = a_run(conn)
    turn_id = a_turn(conn, run, purpose=Purpose.REVIEW, step_id="s1", prompt_version="3")
    me = hold(conn, f"turn:{turn_id}")
    assert turns.start(conn, turn_id, me, NOW, grant_json={"fs": "read"}, nonce="N", deadline_at=NOW + 900)
    end = TurnEnd(ItemStatus.DONE, "text", {"decision": "approve"}, "end_turn", cost={"usd": 0.01})
    assert turns.finish(conn, turn_id, me, end, NOW + 1)
    row = turns.get(conn, turn_id)
    assert (row.status, row.result_json, row.cost_json) == (ItemStatus.DONE, {"decision": "approve"}, {"usd": 0.01})
    assert (row.grant_json, row.nonce, row.prompt_version) == ({"fs": "read"}, "N", "3")
    assert [turn.id for turn in turns.of_run(conn, run.run_id)] == [turn_id]


def test_a_verdict_points_to_a_stored_turn_and_is_given_once(conn: Connection) -> None:
    """IV-16."""
    run = a_run(conn)
    turn_id = a_turn(conn, run, step_id="s1", purpose=Purpose.REVIEW)
    verdict = Verdict(Decision.CORRECT, "the test is weaker", ["E-1"], VerdictSource.MARKER, prompts={"s1": "again"})
    assert turns.verdict_of(conn, turn_id) is None
    turns.store_verdict(conn, turn_id, verdict, NOW)
    (row,) = turns.verdicts_of_run(conn, run.run_id)
    assert (row.decision, row.evidence, row.step_id, row.purpose) == (Decision.CORRECT, ["E-1"], "s1", Purpose.REVIEW)
    with pytest.raises(IntegrityError), conn.begin_nested():
        turns.store_verdict(conn, turn_id, verdict, NOW)
    with pytest.raises(IntegrityError), conn.begin_nested():
        turns.store_verdict(conn, "no such turn", verdict, NOW)


def test_an_event_of_a_turn_is_kept_once_per_number(conn: Connection) -> None:
    """domain.md, 14: (turn, seq)."""
    turn_id = a_turn(conn, a_run(conn))
    first = TurnEvent(1, TurnEventKind.TOOL_DENIED, {"tool": "rm"})
    assert events.append_to_turn(conn, turn_id, first, NOW)
    assert not events.append_to_turn(conn, turn_id, TurnEvent(1, TurnEventKind.TURN_LOG, {}), NOW + 1)
    assert events.append_to_turn(conn, turn_id, TurnEvent(2, TurnEventKind.TURN_COMPLETED, {}), NOW + 2)
    kept = [(e.seq, e.type, e.data_json) for e in events.of_turn(conn, turn_id)]
    assert kept == [(1, TurnEventKind.TOOL_DENIED, {"tool": "rm"}), (2, TurnEventKind.TURN_COMPLETED, {})]


def test_a_cell_that_is_stored_again_is_replaced(conn: Connection) -> None:
    """PF-4: counts of the newest run of a proof."""
    proof_id = a_proof(conn, a_run(conn))
    for runs_ in (1, 2):
        proofs.store_cell(conn, proof_id, Cell(TreeName.HEAD, "t", "tree1", "env1", runs_, 0, runs_, 0, "fail"))
    assert [cell.runs for cell in proofs.cells_of(conn, proof_id)] == [2]


def test_proofs_of_a_step_are_listed_oldest_first(conn: Connection) -> None:
    """T29 looks at the earlier proofs of the step: tree and failing set."""
    run = a_run(conn)
    proof_id = a_proof(conn, run)
    me = hold(conn, f"proof:{proof_id}")
    assert proofs.start(conn, proof_id, me, NOW, tree="T")
    assert proofs.finish(conn, proof_id, me, ProofEnd(ItemStatus.DONE, ProofOutcome.FAILED, failing_key="k"), NOW)
    proofs.create(conn, NewProof(f"{run.run_id}-9", ProofKind.WHOLE, run.run_id), NOW + 1)
    assert [p.kind for p in proofs.of_run(conn, run.run_id)] == [ProofKind.STEP, ProofKind.WHOLE]
    (row,) = proofs.of_run(conn, run.run_id, "s1")
    assert (row.outcome, row.failing_key, row.tree) == (ProofOutcome.FAILED, "k", "T")


def test_a_work_item_is_made_once_per_transition(conn: Connection) -> None:
    """domain.md, 14: its id is `<run id>-<version>`."""
    run = a_run(conn)
    proofs.create(conn, NewProof(f"{run.run_id}-3", ProofKind.STEP, run.run_id), NOW)
    with pytest.raises(IntegrityError), conn.begin_nested():
        proofs.create(conn, NewProof(f"{run.run_id}-3", ProofKind.STEP, run.run_id), NOW)


def test_ci_of_a_commit_finds_the_publication_that_waits_for_it(conn: Connection) -> None:
    """T42, T44, decisions.md 58: by repository and pushed commit."""
    run = a_run(conn)
    item = a_publication(conn, run)
    me = hold(conn, f"publication:{item}")
    publications.start(conn, item, me, NOW)
    pushed = PublicationEnd(PublicationStatus.PUSHED, "sha", next_at=NOW, ci_deadline_at=NOW)
    publications.finish(conn, item, me, pushed, NOW)
    publications.pull_opened(conn, item, 319)
    found = publications.waiting_for(conn, SHOP, "sha")
    assert found is not None
    assert (found.id, found.pr_number, found.run_id) == (item, 319, run.run_id)
    assert publications.waiting_for(conn, SHOP, "another") is None
    a_scope(conn, repository=9)
    assert publications.waiting_for(conn, 9, "sha") is None
    assert [p.id for p in publications.of_run(conn, run.run_id)] == [item]


def hold(conn: Connection, resource: str) -> Holder:
    epoch = leases.take(conn, resource, "me", NOW, 8000)
    assert epoch is not None
    return Holder("me", epoch)
