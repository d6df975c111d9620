"""The words of a run as closed sets, and the records that the machine turns."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    RUNNING = "RUNNING"
    BLOCKED = "BLOCKED"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"


class Stage(StrEnum):
    PLAN_REVIEW = "PLAN_REVIEW"
    AGENT = "AGENT"
    PROVE = "PROVE"
    SUPERVISOR = "SUPERVISOR"
    PUBLISH = "PUBLISH"
    AWAIT_CI = "AWAIT_CI"
    FINAL_REVIEW = "FINAL_REVIEW"
    IDLE = "IDLE"


class StepStatus(StrEnum):
    PENDING = "PENDING"
    WORKING = "WORKING"
    PROVING = "PROVING"
    REVIEWING = "REVIEWING"
    CORRECTING = "CORRECTING"
    APPROVED = "APPROVED"
    BLOCKED = "BLOCKED"


class Cause(StrEnum):
    THIS_CHANGE = "this_change"
    KNOWN_FLAKY = "known_flaky"
    BASE_RED = "base_red"
    INFRASTRUCTURE = "infrastructure"
    STALE_BASE = "stale_base"
    NOT_DECIDED = "not_decided"


class BlockCause(StrEnum):
    VERDICT = "verdict"
    CORRECTION_LIMIT = "correction_limit"
    NO_PROGRESS = "no_progress"
    VERDICT_MISSING = "verdict_missing"
    TURN_FAILED = "turn_failed"
    CRASH = "crash"
    PROOF_FAILED = "proof_failed"
    PROOF_UNAVAILABLE = "proof_unavailable"
    NEEDS_APPROVAL = "needs_approval"
    QUESTION = "question"
    SECRET_FOUND = "secret_found"
    HUMAN_PUSHED = "human_pushed"
    NO_PERMISSION = "no_permission"
    TREE_MISMATCH = "tree_mismatch"
    PUBLISH_FAILED = "publish_failed"
    BUDGET_USED = "budget_used"
    COMMAND = "command"


class Role(StrEnum):
    SUPERVISOR = "SUPERVISOR"
    AGENT = "AGENT"
    SELF_REPAIR = "SELF_REPAIR"


class Purpose(StrEnum):
    PLAN = "plan"
    WORK = "work"
    REVIEW = "review"
    FINAL = "final"
    REPAIR = "repair"
    REASK = "reask"


class ItemStatus(StrEnum):
    """Status of a turn or a proof."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class PublicationStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PUSHED = "PUSHED"
    HANDED_OVER = "HANDED_OVER"
    REFUSED = "REFUSED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Decision(StrEnum):
    APPROVE = "approve"
    CORRECT = "correct"
    BLOCK = "block"


class ProofOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NEEDS_HUMAN = "needs_human"
    FORBIDDEN = "forbidden"
    NOT_RUN = "not_run"


class Result(StrEnum):
    FIXED = "fixed"
    FIXED_OTHER_RED = "fixed_other_red"
    NOT_FIXED = "not_fixed"
    CI_UNKNOWN = "ci_unknown"
    HANDED_OVER = "handed_over"


class Ci(StrEnum):
    GREEN = "green"
    RED_NAMED = "red_named"
    RED_OTHER = "red_other"
    NONE = "none"
    WAITING_APPROVAL = "waiting_approval"
    UNFINISHED = "unfinished"
    NOT_PUSHED = "not_pushed"


class DiagnosisState(StrEnum):
    COLLECTING = "COLLECTING"
    READING = "READING"
    MEASURING = "MEASURING"
    WAITING = "WAITING"
    DONE = "DONE"
    FAILED = "FAILED"


class Outcome(StrEnum):
    """How a diagnosis ended."""

    RUN_STARTED = "run_started"
    ATTACHED = "attached"
    NOTHING_FAILED = "nothing_failed"
    NO_TESTS_RECOGNISED = "no_tests_recognised"
    LOG_UNAVAILABLE = "log_unavailable"
    NOT_OURS = "not_ours"
    STALE_BASE = "stale_base"
    INFRASTRUCTURE = "infrastructure"
    NEEDS_MAINTAINER = "needs_maintainer"
    NOT_ENABLED = "not_enabled"
    MISCONFIGURED = "misconfigured"
    AMBIGUOUS_SCOPE = "ambiguous_scope"
    LIMIT_REACHED = "limit_reached"
    CI_WAITS_FOR_APPROVAL = "ci_waits_for_approval"
    SUPERSEDED = "superseded"


class ItemKind(StrEnum):
    TURN = "turn"
    PROOF = "proof"
    PUBLICATION = "publication"


@dataclass(frozen=True)
class Step:
    """One failure group to repair, with the prompt its agent gets."""

    step_id: str
    status: StepStatus = StepStatus.PENDING
    attempts: int = 0
    risk: str = "code"
    prompt: str = ""
    feedback: str = ""


@dataclass(frozen=True)
class Run:
    """One attempt to repair one scope, as the machine sees it. `current` is an index into `steps` or None."""

    run_id: str
    status: Status
    stage: Stage
    steps: tuple[Step, ...]
    version: int = 0
    current: int | None = None
    round: int = 0
    restarts: int = 0
    self_repairs: int = 0
    head_moves: int = 0
    plan_version: int = 1
    blocked_stage: Stage | None = None
    cause: BlockCause | None = None
    error: str = ""
    active_kind: ItemKind | None = None
    active_id: str | None = None
    ci: Ci | None = None
    result: Result | None = None
    cancel_reason: str = ""
    final_text: str = ""
    hint: str = ""
    budgets: int = 1
