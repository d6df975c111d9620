"""The ledger's own closed sets; those of a run are in `app.runs.model`. Each is a CHECK constraint (DB-6)."""

from enum import StrEnum


class ScopeState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class DeliveryState(StrEnum):
    RECEIVED = "RECEIVED"
    HANDLED = "HANDLED"
    IGNORED = "IGNORED"
    FAILED = "FAILED"


class CommandSource(StrEnum):
    COMMENT = "comment"
    REVIEW = "review"
    REVIEW_COMMENT = "review_comment"
    BUTTON = "button"
    PAGE = "page"


class CommandOutcome(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    NO_EFFECT = "no_effect"
    NOT_UNDERSTOOD = "not_understood"


class IssueState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


class FailureKind(StrEnum):
    FAILED = "failed"
    ERROR = "error"


class Risk(StrEnum):
    CODE = "code"
    TEST = "test"
    CONFIG = "config"
    PRODUCTION = "production"


class Claim(StrEnum):
    REGRESSION = "regression"
    PRE_EXISTING = "pre_existing"
    TEST_SIDE = "test_side"


class SessionState(StrEnum):
    OPEN = "OPEN"
    LOST = "LOST"
    CLOSED = "CLOSED"


class VerdictSource(StrEnum):
    STRUCTURED = "structured"
    TOOL = "tool"
    MARKER = "marker"


class ProofKind(StrEnum):
    STEP = "step"
    WHOLE = "whole"
    BASELINE = "baseline"


class TreeName(StrEnum):
    """The six cells (proof.md, 3.2)."""

    BASE = "base"
    HEAD = "head"
    FIXED = "fixed"
    FIXED_WITHOUT_SOURCE = "fixed_without_source"
    BASE_SOURCE_WITH_FIXED_TESTS = "base_source_with_fixed_tests"
    FIXED_SOURCE_WITH_ORIGINAL_TESTS = "fixed_source_with_original_tests"


class EvidenceKind(StrEnum):
    LOG = "log"
    FAILURE = "failure"
    BLAME = "blame"
    PLAN = "plan"
    DIFF = "diff"
    GRID = "grid"
    CELL = "cell"
    GATE = "gate"
    FINDING = "finding"
    MUTATION = "mutation"
    HUMAN = "human"
    CI = "ci"
    ANSWER = "answer"


class PublishMode(StrEnum):
    COMMIT = "commit"
    STACKED_PR = "stacked_pr"
    SUGGESTIONS = "suggestions"
    PATCH = "patch"


class ApprovalOf(StrEnum):
    PLAN = "plan"
    STEP = "step"
    PROOF = "proof"
    PUBLISH = "publish"


class SelfRepairStatus(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    NEEDS_USER = "NEEDS_USER"
    FAILED = "FAILED"
    SUPERSEDED = "SUPERSEDED"


class SpendState(StrEnum):
    RESERVED = "reserved"
    SPENT = "spent"
    RELEASED = "released"


class TurnEventSource(StrEnum):
    RUNNER = "runner"
    HOST = "host"


class OutboxKind(StrEnum):
    """Every write to GitHub's API (domain.md, 15)."""

    UPSERT_COMMENT = "upsert_comment"
    UPSERT_CHECK = "upsert_check"
    OPEN_ISSUE = "open_issue"
    UPDATE_ISSUE = "update_issue"
    CLOSE_ISSUE = "close_issue"
    REOPEN_ISSUE = "reopen_issue"
    OPEN_PULL = "open_pull"
    UPDATE_PULL = "update_pull"
    SUBMIT_REVIEW = "submit_review"
    REPLY = "reply"
    HIDE_REPLY = "hide_reply"
    REACT = "react"
    RERUN_JOBS = "rerun_jobs"
    UPDATE_BRANCH = "update_branch"


class OutboxState(StrEnum):
    PENDING = "PENDING"
    SENDING = "SENDING"
    DONE = "DONE"
    FAILED = "FAILED"
    DROPPED = "DROPPED"


class RunnerState(StrEnum):
    INSTALLING = "installing"
    READY = "ready"
    BROKEN = "broken"
    DISABLED = "disabled"


class RunnerScope(StrEnum):
    SESSION = "session"
    REPOSITORY = "repository"
    RUNNER = "runner"


class EventKind(StrEnum):
    """What can be written in the history of a run (domain.md, 16)."""

    RUN_STARTED = "run.started"
    RUN_EVIDENCE_ADDED = "run.evidence_added"
    RUN_BLOCKED = "run.blocked"
    RUN_RESUMED = "run.resumed"
    RUN_COMPLETED = "run.completed"
    RUN_CANCELLED = "run.cancelled"
    TICK_FAILED = "tick.failed"
    LEASE_TAKEN_OVER = "lease.taken_over"
    HEAD_MOVED = "head.moved"
    PLAN_APPROVED = "plan.approved"
    PLAN_CORRECTION_REQUESTED = "plan.correction_requested"
    STEP_STARTED = "step.started"
    STEP_WORK_FINISHED = "step.work_finished"
    STEP_CORRECTION_REQUESTED = "step.correction_requested"
    STEP_APPROVED = "step.approved"
    STEP_TURN_RESTARTED = "step.turn_restarted"
    SUPERVISOR_REVIEW_RESTARTED = "supervisor.review_restarted"
    TURN_RESTARTED = "turn.restarted"
    TURN_LATE_RESULT = "turn.late_result"
    SESSION_REPLACED = "session.replaced"
    WORKSPACE_PREPARED = "workspace.prepared"
    PROOF_STARTED = "proof.started"
    PROOF_PASSED = "proof.passed"
    PROOF_FAILED = "proof.failed"
    PROOF_NEEDS_HUMAN = "proof.needs_human"
    PROOF_NOT_RUN = "proof.not_run"
    PROOF_FORBIDDEN = "proof.forbidden"
    PROOF_RESTARTED = "proof.restarted"
    PUBLISH_STARTED = "publish.started"
    PUBLISH_DONE = "publish.done"
    PUBLISH_REFUSED = "publish.refused"
    CI_WAITING = "ci.waiting"
    CI_CONCLUDED = "ci.concluded"
    CI_NONE = "ci.none"
    SELF_REPAIR_STARTED = "self_repair.started"
    SELF_REPAIR_CATCHUP_STARTED = "self_repair.catchup_started"
    SELF_REPAIR_RESUMED = "self_repair.resumed"
    SELF_REPAIR_NEEDS_USER = "self_repair.needs_user"
    SELF_REPAIR_FAILED = "self_repair.failed"
    SELF_REPAIR_OWNER_RESOLVED = "self_repair.owner_resolved"
    COMMAND_ACCEPTED = "command.accepted"
    COMMAND_REFUSED = "command.refused"
    APPROVAL_RECORDED = "approval.recorded"
    APPROVAL_VOIDED = "approval.voided"
    BUDGET_RESERVED = "budget.reserved"
    BUDGET_EXHAUSTED = "budget.exhausted"
    ISSUE_OPENED = "issue.opened"
    ISSUE_LINKED = "issue.linked"
    ISSUE_SEEN = "issue.seen"
    ISSUE_CLOSED = "issue.closed"
    ISSUE_REOPENED = "issue.reopened"
    PR_OPENED = "pr.opened"
    COMMENT_UPDATED = "comment.updated"
    CHECK_UPDATED = "check.updated"


class TurnEventKind(StrEnum):
    """What can be written in the ledger of a turn (domain.md, 16)."""

    SESSION_BOUND = "session.bound"
    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    PLAN_UPDATED = "plan.updated"
    TOOL_CALL_STARTED = "tool.call.started"
    TOOL_CALL_COMPLETED = "tool.call.completed"
    TOOL_DENIED = "tool.denied"
    PERMISSION_DECIDED = "permission.decided"
    USAGE_UPDATED = "usage.updated"
    STATE_UPDATED = "state.updated"
    TURN_LOG = "turn.log"
    TURN_CLEANUP_FAILED = "turn.cleanup_failed"
    TURN_COMPLETED = "turn.completed"
    TURN_FAILED = "turn.failed"
