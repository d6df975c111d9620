"""What can happen to a run, and what the machine may order: the inputs and outputs of `runs/machine`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.runs.model import BlockCause, Ci, Decision, ItemKind, ProofOutcome, Purpose, Role, Run, Stage


@dataclass(frozen=True)
class Verdict:
    """A valid decision of a supervisor turn; `prompts` (step id -> text) only with a plan's `correct`."""

    decision: Decision
    feedback: str
    prompts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """A run was created; its plan is to be read."""

    actor: str


@dataclass(frozen=True)
class TurnDone:
    """A turn ended with an answer. `reask` tells that it already was the second asking (T12, T13)."""

    item_id: str
    verdict: Verdict | None = None
    text: str = ""
    question: str = ""
    reask: bool = False


@dataclass(frozen=True)
class TurnFailed:
    """A turn ended without an answer; `code` is one of the closed list of runners. `fallback` is a ready final text."""

    item_id: str
    code: str
    error: str = ""
    purpose: Purpose = Purpose.WORK
    fallback: str = ""
    retry_at: int | None = None
    may_wait: bool = False


@dataclass(frozen=True)
class ProofDone:
    """`repeated`: an earlier proof of this step had the same tree and the same failing set (T29)."""

    item_id: str
    outcome: ProofOutcome
    feedback: str = ""
    repeated: bool = False
    whole: bool = False


@dataclass(frozen=True)
class ProofFailed:
    item_id: str
    code: str
    error: str = ""
    whole: bool = False


@dataclass(frozen=True)
class Published:
    """`handed_over`: suggestions or a patch, nothing was pushed (T37)."""

    item_id: str
    handed_over: bool = False


@dataclass(frozen=True)
class PublishRefused:
    item_id: str
    why: BlockCause
    error: str = ""


@dataclass(frozen=True)
class PublishInterrupted:
    """A passing reason; `may_retry` while tries are left (T50)."""

    item_id: str
    error: str
    may_retry: bool


@dataclass(frozen=True)
class CiEnded:
    """CI of the pushed SHA concluded, or its deadline passed (T42, T43)."""

    item_id: str
    ci: Ci


@dataclass(frozen=True)
class HeadMoved:
    """A person pushed. `applies`: the fix still fits the new head; only asked at PUBLISH (T39, T41, T46)."""

    sha: str
    applies: bool = False


@dataclass(frozen=True)
class Ended:
    """Scope closed, installation or repository gone, or a newer head is green: the run is over (T24, HM-3)."""

    reason: str
    hard: bool = False


@dataclass(frozen=True)
class Command:
    """A maintainer's word. `plan` holds the new prompts of a rebase (T22); `approves` what a resume approves."""

    verb: Literal["block", "resume", "retry", "cancel"]
    actor: str
    text: str = ""
    plan: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EngineError:
    text: str


@dataclass(frozen=True)
class Repaired:
    """A self-repair turn ended; `failed` is without a readable answer, and `may_reask` gives it one turn more (SR-10).

    It is about the block's self-repair, not about the active work item: a blocked run has none (T19, T20).
    """

    item_id: str
    decision: Literal["fixed", "needs_user", "failed"]
    feedback: str = ""
    addendum: str = ""
    may_reask: bool = False


@dataclass(frozen=True)
class CatchUp:
    """A blocked run whose self-repair nobody asked for; `stage` is where a row without one stopped (T23, BS-6)."""

    stage: Stage


Fact = (
    Start
    | TurnDone
    | TurnFailed
    | ProofDone
    | ProofFailed
    | Published
    | PublishRefused
    | PublishInterrupted
    | CiEnded
    | HeadMoved
    | Ended
    | Command
    | EngineError
    | Repaired
    | CatchUp
)


@dataclass(frozen=True)
class Rules:
    """The limits and switches that hold for this run at this moment; approvals are names like `plan`, `step:s1`."""

    rounds: int = 3
    restarts: int = 2
    self_repairs: int = 2
    head_moves: int = 3
    self_repair: bool = False
    approval: Literal["none", "plan", "publish", "both"] = "none"
    approved: frozenset[str] = frozenset()
    unaccepted: bool = False
    """The tree that would be judged or published next is one that a proof left to a person (BS-4)."""
    budgets_needed: int = 1
    """How many budgets the run needs for one turn more; `budget_note` says what of them is used (T45)."""
    budgets_allowed: int = 3
    budget_note: str = ""


@dataclass(frozen=True)
class TurnOrder:
    """Ask `role` for one turn. `guard` picks the opening of the prompt: interrupted, session_lost, reask or nothing."""

    role: Role
    purpose: Purpose
    step_id: str | None = None
    guard: str = ""
    not_before: int | None = None


@dataclass(frozen=True)
class ProofOrder:
    kind: Literal["step", "whole"]
    step_id: str | None


@dataclass(frozen=True)
class PublicationOrder:
    """`again`: the same publication is queued once more instead of a new one (T50)."""

    again: bool = False


Order = TurnOrder | ProofOrder | PublicationOrder


@dataclass(frozen=True)
class RunEvent:
    kind: str
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Transition:
    """The next state with what it orders and tells. `refused` is a reason, and then nothing changed.

    `dropped` is the work item to cancel; `repair` asks for a self-repair turn of this block, `repair_not_asked` records
    that a person is needed at once (domain.md, 5.3).
    """

    run: Run
    order: Order | None = None
    events: tuple[RunEvent, ...] = ()
    dropped: tuple[ItemKind, str] | None = None
    refused: str = ""
    repair: bool = False
    repair_not_asked: bool = False
    approves: tuple[str, ...] = ()
