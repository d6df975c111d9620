"""What each prompt is made from: plain values out of rows, filled by `jobs/turn`."""

from dataclasses import dataclass
from enum import StrEnum


class Rung(StrEnum):
    """How the result comes back (runners.md, 4.1)."""

    NATIVE = "native"
    TOOL = "tool"
    MARKER = "marker"


@dataclass(frozen=True)
class Form:
    """The form of the answer. `nonce` is drawn by `draw_nonce` after all inputs are known (PM-7)."""

    rung: Rung
    nonce: str = ""
    may_ask: bool = False
    """`request_human` is in the turn's grant."""


@dataclass(frozen=True)
class RunFacts:
    """The part Run. `head_sha` and `environment` may be empty: then the word `unknown` stands there (A13)."""

    repository: str
    head_sha: str
    base_sha: str
    tag: str
    failures_total: int
    failures_in_step: int
    pull_number: int | None = None
    head_ref: str = ""
    base_ref: str = ""
    environment: str = ""
    attempt: int = 1
    log_bytes: tuple[int, int] = (0, 0)
    """Bytes of the logs that were read, and that there were."""


@dataclass(frozen=True)
class Failure:
    """One failing test: `kind` is "failed" or "error", `detail` the end of its output, `error_head` its error line."""

    test_id: str
    kind: str
    job: str
    attempt: int
    detail: str
    error_head: str = ""
    detail_total: int = 0
    """Characters of the output before the log reader kept its end; 0: `detail` is all."""
    since_later: bool = False
    """It joined the run later (IT-29)."""


@dataclass(frozen=True)
class Task:
    """The step prompt with its author ("Remedy", "plan review" or "a maintainer"), addenda, and a maintainer's hint."""

    step_id: str
    text: str
    author: str = "Remedy"
    addenda: tuple[str, ...] = ()
    hint: str = ""
    hint_by: str = ""


@dataclass(frozen=True)
class TreeRow:
    """One row of a grid: "fail 3 of 3" is `outcome` "fail", 3, 3; `note` replaces the counts ("same tree as ...")."""

    tree: str
    outcome: str = ""
    count: int = 0
    of: int = 0
    expected: str = ""
    note: str = ""


@dataclass(frozen=True)
class PullText:
    """What the author wrote and changed; `diff` is a unified diff of `files` files."""

    title: str = ""
    body: str = ""
    diff: str = ""
    files: int = 0


@dataclass(frozen=True)
class ConventionFile:
    """A contributor file at the base commit. `text` is for judges only; `changed`: by the pull request (PM-18)."""

    path: str
    text: str = ""
    changed: bool = False


@dataclass(frozen=True)
class Attempt:
    """An earlier attempt of the step. `files` are "path +n -n" of the host's diff.

    `ended_by` is proof, supervisor, question or plan repair; `said` is line 1 of the agent's report.
    """

    n: int
    ended_by: str
    said: str
    files: tuple[str, ...]
    came_out: str
    point: str = ""
    diff: str = ""


@dataclass(frozen=True)
class Finding:
    """A finding of the integrity gate in its own words; `excerpt` shows before and after."""

    title: str
    file: str = ""
    line: int = 0
    explanation: str = ""
    excerpt: str = ""
    accepted: bool = False
    """A maintainer accepted it for this tree (PM-26)."""


@dataclass(frozen=True)
class EvidenceLine:
    """One thing that a judge may cite; `what` is made by the app."""

    evidence_id: str
    kind: str
    what: str


@dataclass(frozen=True)
class PlanStep:
    """One step of the plan as the plan review reads it."""

    step_id: str
    title: str
    claim: str
    risk: str
    cause: str
    why_grouped: str
    prompt: str


@dataclass(frozen=True)
class CellOutput:
    """The end of the output of one tree."""

    tree: str
    text: str


class Place(StrEnum):
    """What the workspace holds (PM-20)."""

    FRESH = "fresh"
    LEFT = "left"
    DRY_RUN = "dry_run"


@dataclass(frozen=True)
class StepText:
    """The text of one step, made by code (PL-1). `claim`: regression, pre_existing, test_side or build."""

    claim: str
    why_grouped: str = ""
    frame: str = ""
    why: str = ""
    tool: str = ""
    command: str = ""
    from_plan_review: str = ""


@dataclass(frozen=True)
class PlanReview:
    """Supervisor before any work; `since` says what happened when the plan is read again."""

    run: RunFacts
    steps: tuple[PlanStep, ...]
    evidence: tuple[EvidenceLine, ...]
    form: Form
    failures: tuple[Failure, ...] = ()
    pull: PullText = PullText()
    conventions: tuple[ConventionFile, ...] = ()
    since: str = ""
    hint: str = ""
    hint_by: str = ""


@dataclass(frozen=True)
class AgentWork:
    """Agent, first attempt of a step. `remote_branch` only for a remote runner (RN-60)."""

    run: RunFacts
    task: Task
    form: Form
    failures: tuple[Failure, ...] = ()
    measured: tuple[TreeRow, ...] = ()
    command: tuple[str, ...] = ()
    pull: PullText = PullText()
    conventions: tuple[ConventionFile, ...] = ()
    protected: tuple[str, ...] = (".github/", ".git/", "agent configuration", "lock files")
    attempts: tuple[Attempt, ...] = ()
    place: Place = Place.FRESH
    remote_branch: str = ""


@dataclass(frozen=True)
class AgentCorrect:
    """Agent, a later attempt: after the proof (`rows`), after the supervisor (`feedback`), or on re-entry.

    `claims` are words of the table in prompts.md, 5.3; `collateral` names tests; `flaky` is (k, n).
    """

    run: RunFacts
    task: Task
    form: Form
    after: str
    attempts: tuple[Attempt, ...] = ()
    place: Place = Place.FRESH
    rows: tuple[TreeRow, ...] = ()
    claims: tuple[str, ...] = ()
    flaky: tuple[int, int] = (0, 0)
    collateral: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    output: CellOutput | None = None
    feedback: str = ""
    evidence: tuple[EvidenceLine, ...] = ()
    """Ids that the feedback may name: each is shown as its kind (PM-6)."""
    failures: tuple[Failure, ...] = ()
    command: tuple[str, ...] = ()
    conventions: tuple[ConventionFile, ...] = ()
    protected: tuple[str, ...] = (".github/", ".git/", "agent configuration", "lock files")
    remote_branch: str = ""


@dataclass(frozen=True)
class AgentResume:
    """Agent, interrupted turn. `work` is given when the session was replaced: then the whole text follows."""

    form: Form
    work: AgentWork | None = None
    attempts: tuple[Attempt, ...] = ()
    last_message: str = ""


@dataclass(frozen=True)
class Reask:
    """Result only. `kind` is "schema" or "verdict"; `wrong` are lines "field: reason"; `ids` for judges only (EV-9)."""

    kind: str
    form: Form
    role: str
    wrong: tuple[str, ...] = ()
    ids: tuple[EvidenceLine, ...] = ()
    approve_needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Review:
    """Supervisor after a proof that holds. `restarted`: "" | "interrupted" | "answered" (prompts.md, 5.8)."""

    run: RunFacts
    task: Task
    evidence: tuple[EvidenceLine, ...]
    approve_needs: tuple[str, ...]
    form: Form
    claim: str
    rows: tuple[TreeRow, ...]
    named_tests: int
    diff: str
    diff_id: str
    all_executed: bool = True
    suite_tests: int | None = None
    suite_lost: int = 0
    findings: tuple[Finding, ...] = ()
    mutants: str = ""
    failures: tuple[Failure, ...] = ()
    outputs: tuple[CellOutput, ...] = ()
    run_diff: str = ""
    pull: PullText = PullText()
    conventions: tuple[ConventionFile, ...] = ()
    approvals: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    note: str = ""
    restarted: str = ""


@dataclass(frozen=True)
class SelfRepair:
    """Plan repair: it sees our own text, never code. `events` are lines made by the app, oldest first."""

    cause: str
    stage: str
    task: Task
    form: Form
    feedback: str = ""
    summary: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True)
class Final:
    """The last words of a run. `result` is a word of `app.runs.model.Result`; `ci` lines are "unit: success"."""

    result: str
    result_line: str
    was_wrong: str = ""
    change: str = ""
    files: tuple[str, ...] = ()
    proof: str = ""
    ci: tuple[str, ...] = ()
    open: str = ""


Inputs = StepText | PlanReview | AgentWork | AgentCorrect | AgentResume | Reask | Review | SelfRepair | Final
