"""Diagnoses, the history of tests, issues and commands (IT-12 to IT-31, CM-10)."""

from typing import Any

from sqlalchemy import Connection

from app.ledger import commands, diagnoses, history, issues
from app.ledger.diagnoses import FailureFacts, GroupFacts
from app.ledger.history import Seen
from app.ledger.words import CommandOutcome, CommandSource, FailureKind, IssueState
from app.runs.model import Cause, DiagnosisState, Outcome
from tests.unit.ledger.world import ACME, NOW, SHOP, a_diagnosis, a_scope


def test_a_head_has_one_open_diagnosis(conn: Connection) -> None:
    """domain.md, 14: (scope, head SHA) while open; a new one may come after its end."""
    scope_id = a_scope(conn)
    first, created = diagnoses.open(conn, scope_id, "headsha", NOW, NOW + 20)
    assert created
    assert diagnoses.open(conn, scope_id, "headsha", NOW + 1, NOW + 99) == (first, False)
    assert diagnoses.get(conn, first).due_at == NOW + 20
    other, created = diagnoses.open(conn, scope_id, "newer", NOW, NOW)
    assert created
    assert [row.id for row in diagnoses.open_of_scope(conn, scope_id)] == sorted((first, other))
    assert diagnoses.end(conn, first, Outcome.NOT_OURS, NOW + 2)
    again, created = diagnoses.open(conn, scope_id, "headsha", NOW + 3, NOW + 3)
    assert created
    last = diagnoses.last(conn, scope_id, "headsha")
    assert last is not None
    assert last.id == again


def test_an_ended_diagnosis_does_not_change(conn: Connection) -> None:
    """DB-3."""
    diagnosis_id = a_diagnosis(conn, a_scope(conn))
    assert diagnoses.update_open(conn, diagnosis_id, NOW, state=DiagnosisState.READING, log_bytes_total=9)
    assert diagnoses.end(conn, diagnosis_id, Outcome.LOG_UNAVAILABLE, NOW + 1, problem="410")
    assert not diagnoses.update_open(conn, diagnosis_id, NOW, state=DiagnosisState.READING)
    assert not diagnoses.end(conn, diagnosis_id, Outcome.NOT_OURS, NOW)
    assert not diagnoses.fail(conn, diagnosis_id, "bug", NOW)
    row = diagnoses.get(conn, diagnosis_id)
    assert (row.state, row.outcome, row.problem) == (DiagnosisState.DONE, Outcome.LOG_UNAVAILABLE, "410")
    assert (row.log_bytes_total, row.finished_at, row.installation_id) == (9, NOW + 1, ACME)


def test_failures_and_groups_stored_twice_are_stored_once(conn: Connection) -> None:
    """IT-16, CR-3: reading again replaces; order and membership stay."""
    diagnosis_id = a_diagnosis(conn, a_scope(conn))
    found = [a_failure("b"), a_failure("a", kind=FailureKind.ERROR, file="a.py", line=7), a_failure("c")]
    ids = diagnoses.store_failures(conn, diagnosis_id, found, NOW)
    groups = [
        GroupFacts("g1", "a and b", Cause.THIS_CHANGE, ["a", "b"], "green on base 1 of 1", "one error"),
        GroupFacts("g2", "c", Cause.KNOWN_FLAKY, ["c"], cause_counts={"failed": 2, "of": 9}),
    ]
    group_ids = diagnoses.store_groups(conn, diagnosis_id, groups, NOW)
    found[0] = a_failure("b", detail_tail="more")
    assert diagnoses.store_failures(conn, diagnosis_id, found, NOW + 1) == ids
    assert diagnoses.store_groups(conn, diagnosis_id, groups, NOW + 1) == group_ids
    rows = diagnoses.failures_of(conn, diagnosis_id)
    assert [(r.test_id, r.detail_tail, r.line, r.group_id) for r in rows] == [
        ("b", "more", None, group_ids[0]),
        ("a", "tail", 7, group_ids[0]),
        ("c", "tail", None, group_ids[1]),
    ]
    assert [r.test_id for r in diagnoses.failures_of_group(conn, group_ids[0])] == ["b", "a"]
    assert [(g.title, g.cause_counts) for g in diagnoses.groups_of(conn, diagnosis_id)] == [
        ("a and b", {}),
        ("c", {"failed": 2, "of": 9}),
    ]


def test_those_that_wait_for_a_slot_are_served_oldest_first(conn: Connection) -> None:
    """IT-31."""
    ids = [a_diagnosis(conn, a_scope(conn, f"pr:{n}")) for n in (1, 2)]
    for diagnosis_id in reversed(ids):
        diagnoses.update_open(conn, diagnosis_id, NOW, state=DiagnosisState.WAITING)
    assert {row.id for row in diagnoses.waiting(conn, ACME)} == set(ids)
    assert diagnoses.waiting(conn, ACME + 1) == []


def test_the_history_of_a_test_is_ordered_and_kept_once(conn: Connection) -> None:
    """IT-24, BL-2, BL-16: counts come from rows, not from memory."""
    a_scope(conn)
    seen = [Seen(SHOP, "t", "ci", "sha1", n, "log", outcome) for n, outcome in enumerate(("failed", "passed"), 1)]
    assert history.record(conn, seen, NOW) == 2
    assert history.record(conn, seen, NOW + 5) == 0, "the first word stays"
    history.record(conn, [Seen(SHOP, "t", "ci", "sha0", 1, "log", "passed")], NOW - 9)
    rows = history.of_test(conn, SHOP, "t", NOW - 9)
    assert [(r.sha, r.attempt, r.outcome) for r in rows] == [
        ("sha0", 1, "passed"),
        ("sha1", 1, "failed"),
        ("sha1", 2, "passed"),
    ]
    assert len(history.of_test(conn, SHOP, "t", NOW)) == 2
    assert [r.outcome for r in history.at_sha(conn, SHOP, "sha1")] == ["failed", "passed"]


def test_no_failure_has_two_open_issues(conn: Connection) -> None:
    """IT-27: the lowest number is linked, missing members are added, a held one stays where it is."""
    a_scope(conn)
    low = issues.register(conn, SHOP, "g1", ["f1"], NOW, 7)
    high = issues.register(conn, SHOP, "g2", ["f2"], NOW, 9)
    assert issues.attach(conn, high, ["f1", "f3"]) == ["f3"]
    assert issues.failures_of(conn, high) == ["f2", "f3"]
    found = issues.open_for(conn, SHOP, ["f3", "f1"])
    assert found is not None
    assert found.id == low
    assert issues.open_for(conn, SHOP, ["f9"]) is None
    assert issues.open_for(conn, SHOP + 1, ["f1"]) is None
    assert [row.number for row in issues.open_of_repository(conn, SHOP)] == [7, 9]


def test_an_issue_is_registered_before_it_has_a_number(conn: Connection) -> None:
    """IT-27: the registry is the truth, so a second diagnosis finds it while it is being opened."""
    a_scope(conn)
    issue_id = issues.register(conn, SHOP, "g1", ["f1"], NOW)
    found = issues.open_for(conn, SHOP, ["f1"])
    assert found is not None
    assert (found.id, found.number) == (issue_id, None)
    issues.register(conn, SHOP, "g2", ["f2"], NOW, 4)
    lowest = issues.open_for(conn, SHOP, ["f1", "f2"])
    assert lowest is not None
    assert lowest.number == 4, "one with a number comes first"
    issues.numbered(conn, issue_id, 12)
    by_number = issues.find(conn, SHOP, 12)
    assert by_number is not None
    assert by_number.id == issue_id


def test_an_issue_closes_by_evidence_and_comes_back(conn: Connection) -> None:
    """IT-28: three green on base close it; the fingerprint's return reopens it, after the limit a new one is made."""
    a_scope(conn)
    issue_id = issues.register(conn, SHOP, "g1", ["f1"], NOW, 7)
    assert [issues.green(conn, issue_id) for _ in range(2)] == [1, 2]
    issues.seen(conn, issue_id, NOW + 1)
    assert issues.green(conn, issue_id) == 1, "red in between: counted anew"
    assert issues.close(conn, issue_id, "green", NOW + 2)
    assert not issues.close(conn, issue_id, "green", NOW + 3)
    assert issues.open_for(conn, SHOP, ["f1"]) is None
    assert issues.closed_for(conn, SHOP, ["f1"], NOW + 3) is None
    closed = issues.closed_for(conn, SHOP, ["f1"], NOW)
    assert closed is not None
    assert (closed.id, closed.closed_reason, closed.seen_count) == (issue_id, "green", 2)
    assert issues.reopen(conn, issue_id, ["f1", "f2"], NOW + 4)
    assert not issues.reopen(conn, issue_id, ["f1"], NOW + 5)
    row = issues.get(conn, issue_id)
    assert (row.state, row.closed_at, row.green_count) == (IssueState.OPEN, None, 0)
    assert issues.failures_of(conn, issue_id) == ["f1", "f2"]


def test_a_failure_of_a_closed_issue_may_have_a_new_one(conn: Connection) -> None:
    """IT-28: and the old one, reopened, does not take it back."""
    a_scope(conn)
    old = issues.register(conn, SHOP, "g1", ["f1", "f2"], NOW, 7)
    issues.close(conn, old, "green", NOW)
    new = issues.register(conn, SHOP, "g1", ["f1"], NOW, 8)
    issues.reopen(conn, old, ["f1", "f2"], NOW)
    assert issues.failures_of(conn, new) == ["f1"]
    assert issues.failures_of(conn, old) == ["f2"]


def test_a_command_is_kept_once_and_settled_once(conn: Connection) -> None:
    """CM-10; domain.md, 14: (source, source id, ordinal in the comment)."""
    scope_id = a_scope(conn)
    second = a_command(conn, scope_id, ordinal=1)
    first = a_command(conn, scope_id, ordinal=0)
    assert first is not None
    assert second is not None
    assert a_command(conn, scope_id, ordinal=0) is None
    assert a_command(conn, scope_id, ordinal=0, source=CommandSource.REVIEW) is not None
    assert [(r.id, r.verb, r.args) for r in commands.waiting(conn)][:2] == [
        (first, "resume", "try *the* parser"),
        (second, "resume", "try *the* parser"),
    ], "in the order of the comment (CM-2)"
    assert commands.settle(conn, first, CommandOutcome.ACCEPTED, "")
    assert not commands.settle(conn, first, CommandOutcome.REFUSED, "late")
    assert first not in [row.id for row in commands.waiting(conn)]
    row = commands.get(conn, first)
    assert row is not None
    assert (row.outcome, row.actor, row.url) == (CommandOutcome.ACCEPTED, "octocat", "https://github.com/x")


def a_failure(test_id: str, **more: Any) -> FailureFacts:
    facts = {"kind": FailureKind.FAILED, "error_head": "boom", "detail_tail": "tail", "fingerprint": f"f-{test_id}"}
    return FailureFacts(test_id, "pytest", **(facts | more))


def a_command(
    conn: Connection, scope_id: str, *, ordinal: int, source: CommandSource = CommandSource.COMMENT
) -> str | None:
    return commands.store(
        conn,
        source=source,
        source_id="5001",
        ordinal=ordinal,
        scope_id=scope_id,
        actor_id=1,
        actor="octocat",
        verb="resume",
        args="try *the* parser",
        url="https://github.com/x",
        now=NOW,
    )
