"""Runs: the machine's record to rows and back, guarded by its version (LE-3, AC-1, IV-15)."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.ledger import diagnoses, events, repos, runs, sessions
from app.ledger.engine import write
from app.ledger.words import EventKind, ScopeState, SessionState
from app.runs.model import BlockCause, Ci, ItemKind, Result, Role, Stage, Status, StepStatus
from tests.unit.ledger.world import ACME, NOW, OTHER, SHOP, a_run, a_scope, start

EVERY_FIELD: dict[str, Any] = {
    "status": Status.BLOCKED,
    "stage": Stage.IDLE,
    "current": 1,
    "round": 2,
    "restarts": 1,
    "self_repairs": 2,
    "head_moves": 3,
    "plan_version": 4,
    "blocked_stage": Stage.AGENT,
    "cause": BlockCause.NO_PROGRESS,
    "error": "the same tests fail",
    "active_kind": ItemKind.PROOF,
    "active_id": "01J-3",
    "ci": Ci.RED_NAMED,
    "result": Result.NOT_FIXED,
    "cancel_reason": "superseded",
    "final_text": "done",
    "hint": "look at the parser",
    "budgets": 2,
}


def test_what_is_saved_is_what_is_loaded(conn: Connection) -> None:
    """Every field of the machine's record has its column, in a new row and in a saved one."""
    run = a_run(conn, **EVERY_FIELD)
    assert {*EVERY_FIELD, "run_id", "steps", "version"} == set(run.__dataclass_fields__)
    assert runs.load(conn, run.run_id) == run
    first, second = run.steps
    approved = replace(first, status=StepStatus.APPROVED, attempts=2, prompt="new", feedback="good")
    after = replace(run, version=1, status=Status.RUNNING, stage=Stage.AGENT, cause=None, steps=(approved, second))
    assert runs.save(conn, run, after, NOW + 5)
    assert runs.load(conn, run.run_id) == after
    row = runs.get(conn, run.run_id)
    assert (row.updated_at, row.stage_since_at, row.finished_at) == (NOW + 5, NOW + 5, None)
    assert [step.finished_at for step in runs.steps_of(conn, run.run_id)] == [NOW + 5, None]


def test_the_rest_of_the_row_is_what_it_was_made_from_PL_2(conn: Connection) -> None:
    run = a_run(conn)
    row = runs.get(conn, run.run_id)
    assert (row.installation_id, row.repository_id, row.head_sha, row.base_sha) == (ACME, SHOP, "headsha", "basesha")
    assert (row.started_by, row.created_at) == ("octocat", NOW)
    assert [(s.step_id, s.title, s.aliases) for s in runs.steps_of(conn, run.run_id)] == [
        ("s1", "a", []),
        ("s2", "b", ["x"]),
    ]


def test_of_two_transitions_from_one_version_the_first_wins(conn: Connection) -> None:
    """LE-3: the second writes nothing, neither run nor steps."""
    run = a_run(conn)
    mine = replace(run, version=1, round=1)
    yours = replace(run, version=1, round=2, steps=(replace(run.steps[0], attempts=9), run.steps[1]))
    assert runs.save(conn, run, mine, NOW)
    assert not runs.save(conn, run, yours, NOW)
    assert runs.load(conn, run.run_id) == mine


def test_the_version_grows_by_one(conn: Connection) -> None:
    """IV-15."""
    run = a_run(conn)
    for wrong in (replace(run), replace(run, version=2), replace(run, run_id="other", version=1)):
        with pytest.raises(ValueError, match="cannot follow"):
            runs.save(conn, run, wrong, NOW)


def test_a_scope_has_one_active_run(conn: Connection) -> None:
    """AC-1, IV-14: BLOCKED counts as active; the refused start leaves nothing behind."""
    scope_id = a_scope(conn)
    run = a_run(conn, scope_id)
    assert not start(conn, scope_id).created
    blocked = replace(run, version=1, status=Status.BLOCKED, stage=Stage.IDLE)
    runs.save(conn, run, blocked, NOW)
    second = start(conn, scope_id)
    assert not second.created
    assert runs.steps_of(conn, second.run.run_id) == []
    active = runs.active(conn, scope_id)
    assert active is not None
    assert active.id == run.run_id
    ended = replace(blocked, version=2, status=Status.CANCELLED, cancel_reason="command")
    runs.save(conn, blocked, ended, NOW + 1)
    assert runs.active(conn, scope_id) is None
    assert runs.get(conn, run.run_id).finished_at == NOW + 1
    assert start(conn, scope_id).created
    assert start(conn, a_scope(conn, "branch:main")).created, "another scope is free"


def test_no_run_in_a_scope_is_not_an_error(conn: Connection) -> None:
    """AC-2."""
    scope_id = a_scope(conn)
    assert runs.last(conn, scope_id) is None
    run = a_run(conn, scope_id)
    last = runs.last(conn, scope_id)
    assert last is not None
    assert last.id == run.run_id


def test_a_blocked_run_holds_no_slot(conn: Connection) -> None:
    """IT-31."""
    first = a_run(conn)
    a_run(conn, a_scope(conn, "branch:main"))
    assert runs.running(conn, ACME) == 2
    runs.save(conn, first, replace(first, version=1, status=Status.BLOCKED, stage=Stage.IDLE), NOW)
    assert runs.running(conn, ACME) == 1
    assert [row.full_name for row in runs.active_of_installation(conn, ACME)] == ["acme/r101"] * 2


def test_a_run_about_the_same_tests_of_the_same_commit_is_remembered(conn: Connection) -> None:
    """IT-30."""
    run = a_run(conn)
    same = (SHOP, "e2e-fail-0123456789ab", "headsha")
    assert runs.ended_before(conn, *same) is None
    runs.save(conn, run, replace(run, version=1, status=Status.COMPLETED, stage=Stage.IDLE), NOW)
    ended = runs.ended_before(conn, *same)
    assert ended is not None
    assert ended.id == run.run_id
    assert runs.ended_before(conn, SHOP, same[1], "newer") is None


def test_another_installation_finds_nothing(conn: Connection) -> None:
    """DB-8: a foreign id gives "not found", never another tenant's row."""
    run = a_run(conn)
    scope_id = runs.get(conn, run.run_id).scope_id
    assert runs.find(conn, ACME, run.run_id) is not None
    assert runs.find(conn, OTHER, run.run_id) is None
    assert [row.id for row in repos.open_scopes(conn, ACME, SHOP)] == [scope_id]
    assert repos.open_scopes(conn, OTHER, SHOP) == []
    assert repos.find_repository(conn, ACME, "Acme/R101") is not None
    assert repos.find_repository(conn, OTHER, "acme/r101") is None
    assert runs.active_of_installation(conn, OTHER) == []


def test_an_unknown_run_is_an_error_of_the_caller(conn: Connection) -> None:
    with pytest.raises(NoResultFound):
        runs.load(conn, "nothing")


def test_what_the_machine_turns_is_written_by_transitions_only(conn: Connection) -> None:
    run = a_run(conn)
    runs.annotate(conn, run.run_id, stale_head_sha="newer")
    runs.annotate_step(conn, run.run_id, "s1", session_id="S", start_tree="T", addenda=["x"])
    assert runs.get(conn, run.run_id).stale_head_sha == "newer"
    assert runs.steps_of(conn, run.run_id)[0].addenda == ["x"]
    with pytest.raises(ValueError, match="machine"):
        runs.annotate(conn, run.run_id, status=Status.COMPLETED)
    with pytest.raises(ValueError, match="machine"):
        runs.annotate_step(conn, run.run_id, "s1", attempts=0)


def test_events_are_numbered_in_order_and_of_known_kinds(conn: Connection) -> None:
    """IV-15; domain.md, 16."""
    run = a_run(conn)
    assert events.append(conn, run.run_id, EventKind.RUN_STARTED, {"by": "octocat"}, "octocat", NOW) == 1
    assert events.append(conn, run.run_id, "issue.linked", {"number": 7}, None, NOW + 1) == 2
    assert [(e.seq, e.kind, e.details, e.actor) for e in events.of_run(conn, run.run_id)] == [
        (1, EventKind.RUN_STARTED, {"by": "octocat"}, "octocat"),
        (2, EventKind.ISSUE_LINKED, {"number": 7}, None),
    ]
    with pytest.raises(ValueError, match=r"run\.exploded"):
        events.append(conn, run.run_id, "run.exploded", {}, None, NOW)


def test_a_row_of_nothing_is_refused(engine: Engine) -> None:
    """DB-1: foreign keys hold."""
    with pytest.raises(IntegrityError), write(engine) as conn:
        events.append(conn, "no such run", EventKind.RUN_STARTED, {}, None, NOW)


def test_a_session_keeps_its_row_when_the_agent_loses_it(conn: Connection) -> None:
    """IV-4, CR-13: only the agent's own id changes."""
    run = a_run(conn)
    session_id = sessions.create(conn, run.run_id, Role.AGENT, "acme/agents/coder", NOW)
    assert session_id is not None
    assert not sessions.opened(conn, session_id, "ses_1", model="m", workspace="w")
    assert not sessions.opened(conn, session_id, "ses_1", model="m", workspace="w")
    sessions.lost(conn, session_id)
    assert sessions.get(conn, session_id).state == SessionState.LOST
    assert sessions.opened(conn, session_id, "ses_2", model="m", workspace="w"), "replaced: tell it"
    assert sessions.get(conn, session_id).state == SessionState.OPEN


def test_a_remote_session_is_made_once_per_dedupe_key(conn: Connection) -> None:
    """decisions.md, 17: unique per runner while it is open."""
    run = a_run(conn)
    first = sessions.create(conn, run.run_id, Role.AGENT, "devin", NOW, dedupe_key="k")
    assert first is not None
    assert sessions.create(conn, run.run_id, Role.AGENT, "devin", NOW, dedupe_key="k") is None
    assert sessions.create(conn, run.run_id, Role.AGENT, "jules", NOW, dedupe_key="k") is not None
    assert sessions.create(conn, run.run_id, Role.AGENT, "devin", NOW) is not None
    sessions.close_of_run(conn, run.run_id)
    assert sessions.create(conn, run.run_id, Role.AGENT, "devin", NOW, dedupe_key="k") is not None


def test_a_scope_keeps_its_comment_and_its_marks(conn: Connection) -> None:
    """One sticky comment and one check per scope; decisions.md, 54 and 57."""
    scope_id = a_scope(conn)
    repos.set_comment(conn, scope_id, 900, "hash", NOW)
    repos.set_check(conn, scope_id, 800, "headsha", None)
    repos.set_green(conn, scope_id, "basesha")
    repos.count_bot_commits(conn, scope_id, 2)
    assert repos.mark_off(conn, scope_id, "octocat", "not now", NOW)
    assert not repos.mark_off(conn, scope_id, "hubot", "", NOW + 1), "off already"
    assert a_scope(conn) == scope_id, "seen again: the same row"
    row = repos.get_scope(conn, scope_id)
    assert row is not None
    assert (row.comment_id, row.comment_hash, row.check_run_id, row.check_head_sha) == (900, "hash", 800, "headsha")
    assert (row.green_sha, row.bot_commits) == ("basesha", 2)
    assert (row.off_by, row.off_at, row.off_reason, row.state) == ("octocat", NOW, "not now", ScopeState.OPEN)
    assert repos.clear_off(conn, scope_id)
    assert not repos.clear_off(conn, scope_id)
    assert [scope.id for scope in repos.scopes_at(conn, SHOP, "headsha")] == [scope_id]
    found = repos.find_scope(conn, SHOP, "pr:318")
    assert found is not None
    assert found.id == scope_id


def test_a_deleted_comment_stays_away_until_a_new_run(conn: Connection) -> None:
    """OB-10."""
    scope_id = a_scope(conn)
    repos.set_comment(conn, scope_id, 900, "hash", NOW)
    repos.comment_deleted(conn, scope_id, NOW)
    row = repos.get_scope(conn, scope_id)
    assert row is not None
    assert (row.comment_id, row.comment_deleted_at) == (None, NOW)
    repos.comment_wanted(conn, scope_id)
    row = repos.get_scope(conn, scope_id)
    assert row is not None
    assert row.comment_deleted_at is None


def test_a_removed_repository_is_not_found_and_late_events_do_not_bring_it_back(conn: Connection) -> None:
    """IT-5, DB-8."""
    a_scope(conn)
    repos.remove_repository(conn, SHOP, ACME, NOW)
    a_scope(conn)
    assert repos.find_repository(conn, ACME, "acme/r101") is None
    repos.restore_repository(conn, SHOP, ACME)
    assert repos.find_repository(conn, ACME, "acme/r101") is not None
    repos.remove_installation(conn, ACME, NOW)
    a_scope(conn)
    assert repos.repositories_of(conn, ACME) == []


def test_a_repository_that_changes_hands_takes_its_scopes_along(conn: Connection) -> None:
    """DB-8: the old installation finds nothing of it any more."""
    scope_id = a_scope(conn)
    repos.upsert_installation(conn, OTHER, "other")
    repos.upsert_repository(conn, SHOP, OTHER, "other/shop", "main", True)
    assert repos.open_scopes(conn, ACME, SHOP) == []
    assert [row.id for row in repos.open_scopes(conn, OTHER, SHOP)] == [scope_id]


def test_the_policy_is_kept_under_the_sha_of_its_file(conn: Connection) -> None:
    a_scope(conn)
    repos.cache_policy(conn, SHOP, "blob", {"enabled": True}, NOW)
    row = repos.get_repository(conn, SHOP)
    assert row is not None
    assert (row.policy_sha, row.policy_json, row.policy_at) == ("blob", {"enabled": True}, NOW)
    repos.cache_policy(conn, SHOP, "", None, NOW)
    row = repos.get_repository(conn, SHOP)
    assert row is not None
    assert row.policy_json is None


def test_a_run_points_to_the_diagnosis_that_made_it(conn: Connection) -> None:
    scope_id = a_scope(conn)
    run = a_run(conn, scope_id)
    (open_,) = diagnoses.open_of_scope(conn, scope_id)
    assert runs.get(conn, run.run_id).diagnosis_id == open_.id
