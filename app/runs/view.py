"""What a person may be shown about one scope: the plain values that every text and page is made from."""

from dataclasses import dataclass, field

from app.runs.model import BlockCause, Cause, DiagnosisState, Outcome, Result, Stage, Status


@dataclass(frozen=True)
class GroupView:
    """One failure group, one row of the cause table. `how_we_know` carries counts (UX-C7)."""

    group_id: str
    cause: Cause
    tests: tuple[str, ...]
    title: str
    how_we_know: str
    file: str | None = None
    line: int | None = None
    framework: str = ""
    error_head: str = ""
    why_grouped: str = ""
    issue_number: int | None = None
    issue_url: str | None = None
    diff_file: str | None = None
    """A file of the pull request's own diff, and below a line in it, that the failure is traced to (UX-L7)."""
    diff_line: int | None = None


@dataclass(frozen=True)
class Unasked:
    """Groups that no repair starts for by itself: the policy key that says so, kinds that it leaves out, titles."""

    key: str
    kinds: tuple[str, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """Lines of one job's log around the failures; `shown` and `total` count lines."""

    job: str
    text: str
    shown: int
    total: int
    log_url: str | None = None


@dataclass(frozen=True)
class RoundView:
    """One row of the rounds table; `verdict` is the supervisor's decision or empty, `feedback` its first sentence."""

    n: int
    tried: str
    proof: str
    verdict: str = ""
    feedback: str = ""


@dataclass(frozen=True)
class GridRow:
    """One tree of the proof: what was expected and, per named test, what was seen ("fail 1 of 1")."""

    tree: str
    sha: str
    expected: str
    seen: tuple[str, ...]
    as_expected: bool


@dataclass(frozen=True)
class FoundView:
    """A finding that stops a fix or asks for a person: where it is, why it matters, both versions (PV-8)."""

    title: str
    file: str = ""
    line: int = 0
    explanation: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProofView:
    tests: tuple[str, ...]
    rows: tuple[GridRow, ...]
    tier: str
    findings: tuple[FoundView, ...] = ()
    gate: bool = False
    """The integrity gate looked at the change; without it nothing may be said about tests that were touched."""
    tree: str = ""
    """The proven tree, which is the one that is pushed."""
    ran: int = 0
    """Tests that ran besides the named ones."""


@dataclass(frozen=True)
class FixView:
    """The published or proven change: unified diff and its size."""

    diff: str
    files: int
    added: int
    removed: int
    what_was_wrong: str = ""
    approved_in_round: int = 0
    subject: str = ""
    test_added: int = 0
    test_removed: int = 0
    repairs: int = 0
    """How many of the named tests a fix that is not proven repairs."""


@dataclass(frozen=True)
class PublicationView:
    mode: str
    branch: str
    pushed_sha: str = ""
    pull_number: int | None = None
    pull_url: str | None = None
    ci: str | None = None
    places: tuple[tuple[str, int], ...] = ()
    """File and line of each suggestion (mode suggestions)."""
    red_jobs: tuple[str, ...] = ()
    red_before: bool | None = None
    """Whether the red jobs failed before the fix as well; None: not known."""


@dataclass(frozen=True)
class LimitRow:
    """One limit of a run that stopped: "3.00 USD" set, "3.00 USD" used."""

    name: str
    set: str
    used: str
    reached: bool = False


@dataclass(frozen=True)
class AskedLog:
    """One thing that was asked for and not given: the job's log, or its report file."""

    job: str
    times: int
    answer: str
    within_s: int = 0
    report_file: bool = False


@dataclass(frozen=True)
class ConfigMistake:
    """A mistake in the policy file; `text` says what is allowed, `excerpt` is the line as it stands."""

    path: str
    text: str
    line: int = 0
    column: int = 0
    field: str = ""
    excerpt: str = ""


@dataclass(frozen=True)
class Press:
    """The last press of a button of this check: who, which verb, and why it was refused or empty."""

    by: str
    verb: str
    refused: str = ""
    denied: bool = False
    """They may not command here."""


@dataclass(frozen=True)
class SeenRow:
    """One row of an issue's table Seen."""

    at: int
    where: str
    result: str
    sha: str = ""
    cause: Cause | None = None
    url: str | None = None


@dataclass(frozen=True)
class RunView:
    """One run. `round` and `rounds` are what people see: attempts since the last reset, attempts allowed (UX-C18)."""

    run_id: str
    status: Status
    stage: Stage
    step_title: str
    step: int
    steps: int
    round: int
    rounds: int
    started_at: int
    stage_since: int
    restarts: int = 0
    restarts_allowed: int = 2
    blocked_stage: Stage | None = None
    cause: BlockCause | None = None
    error: str = ""
    stopped_by: str = ""
    stop_reason: str = ""
    approval: str = ""
    result: Result | None = None
    cancel_reason: str = ""
    newer_sha: str = ""
    final_text: str = ""
    finished_at: int | None = None
    repair_n: int = 0
    repair_state: str = ""
    """Status of the newest plan repair: RUNNING, SUCCEEDED, NEEDS_USER, FAILED, SUPERSEDED, or empty."""
    repair_feedback: str = ""
    addendum: str = ""
    cost: str = ""
    budget: str = ""
    """One budget of the limit that is reached, such as "3.00 USD"; empty where no resume may add one more."""
    repairs_allowed: int = 2
    repair_fresh: bool = False
    """The first turn after a plan repair that said fixed is still active (state 10-self-repair-applied)."""
    lost_at: int | None = None
    """Last sign of life of the item that was interrupted, while its restart is active (state 24)."""
    limit_s: int = 0
    """Time limit of the active item."""
    plan: str = ""
    similar_approved: int = 0
    similar_total: int = 0
    limits: tuple[LimitRow, ...] = ()
    tag: str = ""
    agent: str = ""
    supervisor: str = ""
    event: str = ""
    """Number under which the operator finds a mistake of ours."""


@dataclass(frozen=True)
class ScopeView:
    """Everything about one pull request or branch. `updated_at` and other times are UTC milliseconds."""

    scope_key: str
    repository: str
    check_key: str
    head_sha: str
    head_ref: str
    base_ref: str
    base_sha: str
    updated_at: int
    public_url: str
    web_url: str
    state: DiagnosisState | None = None
    outcome: Outcome | None = None
    jobs: tuple[str, ...] = ()
    waiting_for: int = 0
    problem: str = ""
    groups: tuple[GroupView, ...] = ()
    failures_total: int = 0
    left: tuple[str, ...] = ()
    """Groups that the run leaves alone: one run has so many steps at most (PL-1)."""
    unasked: Unasked | None = None
    """What no repair starts for by itself (policy `causes`, `repair`)."""
    failures_most: int = 50
    """So many failing tests are listed at most (A6)."""
    evidence: Evidence | None = None
    log_bytes: tuple[int, int] = (0, 0)
    """Bytes of the logs that were read, and that there were."""
    run: RunView | None = None
    rounds: tuple[RoundView, ...] = ()
    proof: ProofView | None = None
    fix: FixView | None = None
    publication: PublicationView | None = None
    fixed_in_head: bool = False
    own_way: bool = False
    """The head is green, and nobody knows whether the published fix is in it (IT-35)."""
    closed_issues: tuple[int, ...] = ()
    off_by: str = ""
    off_at: int | None = None
    off_reason: str = ""
    is_fork: bool = False
    pages: bool = True
    """This server has pages that a text may link to."""
    sightings: tuple[int, int] | None = None
    """How often the failure was seen, and from which time on this repository has it repaired (`repair_on`)."""
    rerun: bool = False
    """CI was asked to run the failed jobs once more (needs the permission Actions: write)."""
    base_repair_number: int | None = None
    """The pull request that repairs the base branch for everybody (state 03)."""
    base_repair_url: str | None = None
    base_red_since: tuple[str, int] | None = None
    """The commit of the base at which the failure was seen before, first of all, and when."""
    also_red_in: int = 0
    queue_before: int = 0
    config: ConfigMistake | None = None
    config_in_head: ConfigMistake | None = None
    """A mistake in the policy file as this pull request changes it (decisions.md, 72); the check adds one line."""
    press: Press | None = None
    asked: tuple[AskedLog, ...] = ()
    waiting_workflow: str = ""
    trouble: str = ""
    """What GitHub refuses Remedy in this repository, as a sentence; below it where an owner can allow it."""
    trouble_url: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int | None:
        """The pull request's number, or None for a branch scope."""
        kind, _, rest = self.scope_key.partition(":")
        return int(rest) if kind == "pr" else None
