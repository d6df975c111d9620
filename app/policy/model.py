"""The keys of `.github/remedy.yml`: one strict list (decisions.md 51, 75), with the defaults of every one."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.policy.commands import TestCommand
from app.settings import Limits

T = TypeVar("T")

ListOf = Annotated[tuple[T, ...], Field(strict=False, max_length=200)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
Pattern = Line
"""A glob over paths from the top of the repository."""
_RUNNER = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,39}(/[a-z0-9_-][a-z0-9._-]{0,39}){2}")


def _runner_id(value: str) -> str:
    """A name of an installed runner; a path to one would be code from the repository (RN-74)."""
    if not _RUNNER.fullmatch(value):
        raise ValueError("must be the name of an installed runner: author/name/runner")
    return value


RunnerId = Annotated[str, AfterValidator(_runner_id)]
Above0 = Annotated[int, Field(ge=1, le=1_000_000)]
Role = Literal["write", "maintain", "admin"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class Account(_Part):
    """An account by its number, which is what counts; the name is for readers (FK-8)."""

    login: Line
    id: Annotated[int, Field(ge=1)]


class Commanders(_Part):
    """Who may command: everybody with at least this role, or, where people are named, those of them who have it."""

    role: Role = "write"
    people: ListOf[Account] = ()

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, value: Any) -> Any:
        return {"role": value} if isinstance(value, str) else value


class Flaky(_Part):
    """A test is known flaky when it failed and passed on this many commits in this many days."""

    commits: Above0 = 2
    days: Annotated[int, Field(ge=1, le=365)] = 30


class Allow(_Part):
    """What a runner may use here, never more than its manifest says. None: no narrowing."""

    host_tools: ListOf[Line] | None = None
    agent_tools: Mapping[str, Literal["allow", "ask", "deny"]] | None = None


class RunnerChoice(_Part):
    """A runner that the operator installed, with its own configuration."""

    id: RunnerId | None = None
    config: Mapping[str, Any] = Field(default_factory=dict)
    allow: Allow = Allow()


class Runners(_Part):
    agent: RunnerChoice = RunnerChoice()
    supervisor: RunnerChoice = RunnerChoice()


class LowerLimits(_Part):
    """Limits of the operator that this repository lowers; a higher number changes nothing (domain.md, 6)."""

    rounds: Annotated[int, Field(ge=0, le=100)] | None = None
    restarts: Annotated[int, Field(ge=0, le=100)] | None = None
    self_repairs: Annotated[int, Field(ge=0, le=100)] | None = None
    head_moves: Annotated[int, Field(ge=0, le=100)] | None = None
    bot_commits: Above0 | None = None
    steps: Above0 | None = None
    run_usd: Annotated[float, Field(gt=0, le=1_000_000, strict=False)] | None = None
    run_tokens: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    run_s: Above0 | None = None
    budgets: Above0 | None = None
    agent_turn_s: Above0 | None = None
    supervisor_turn_s: Above0 | None = None
    self_repair_turn_s: Above0 | None = None
    proof_s: Above0 | None = None
    cell_s: Above0 | None = None
    mutants_s: Annotated[int, Field(ge=0, le=100)] | None = None
    publication_tries: Above0 | None = None


def _tags(value: Any) -> Any:
    """`" a, ,b "` is `a` and `b` (A15)."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple):
        return value
    raise ValueError("must be text, with a comma between two tags")


class Policy(_Part):
    """What a repository asks of Remedy. No file at all is not the same as this with its defaults: it means silence."""

    enabled: bool = False
    """Exactly `true` switches Remedy on in this repository."""
    repair: ListOf[Literal["tests", "build", "lint"]] = ("tests", "build")
    """Kinds of failure that are repaired without being asked; `build`: nothing could be loaded or compiled."""
    causes: ListOf[Literal["this_change", "base_red"]] = ("this_change",)
    """Causes that are repaired without being asked."""
    repair_on: Annotated[int, Field(ge=1, le=100)] = 1
    """A repair starts when a failure is seen for this time."""
    rerun_first: bool = True
    """Run failed jobs once more before anything else, where the App has `actions: write`."""
    approval: Literal["none", "plan", "publish", "both"] = "none"
    """What a maintainer must approve with `/remedy resume`."""
    publish: Literal["stacked_pr", "commit", "suggestions", "patch"] = "stacked_pr"
    """How a proven fix is handed over."""
    issues: Literal["always", "base", "never"] = "always"
    """For which failures an issue is opened."""
    allow_test_only_fix: bool = False
    """A fix may change tests alone, without asking a maintainer."""
    waive: ListOf[Annotated[str, StringConstraints(pattern=r"^(TI|MM)[0-9]{3}$")]] = ()
    """Rules of the gate that ask no person here, such as `TI630`; what blocks still blocks."""
    self_repair: bool = True
    """A stopped run may have its plan clarified once or twice."""
    flaky: Flaky = Flaky()
    """When a test counts as known flaky."""
    branches: ListOf[Line] = ()
    """Branches whose own red checks are looked at, without a pull request."""
    drafts: bool = False
    """Draft pull requests count as well."""
    allowed_bots: ListOf[Account] = ()
    """Bots whose pull requests and commands count."""
    commanders: Commanders = Commanders()
    """Who may command: `write`, `maintain`, `admin`, or a role and people."""
    max_failures: Above0 = 50
    """So many failing tests are shown."""
    max_detail_chars: Annotated[int, Field(ge=0, le=1_000_000)] = 3000
    """So many characters of each failure are kept, the end of it."""
    tags: Annotated[tuple[Annotated[str, StringConstraints(max_length=50)], ...], BeforeValidator(_tags)] = Field(
        (), strict=False, max_length=50
    )
    """Labels of the issues that Remedy opens, and tags of sessions; text with commas, or a list."""
    protected: ListOf[Pattern] = ()
    """Paths that a fix must not touch, beside the built-in ones."""
    aliases: Mapping[str, Line] = Field(default_factory=dict)
    """Other names of repositories, as they stand in logs."""
    runner: Runners = Runners()
    """Which runners work here."""
    limits: LowerLimits = LowerLimits()
    """The operator's limits, lowered."""
    tests: ListOf[TestCommand] = ()
    """How the tests are run."""
    comment: Literal["always", "when_needed", "never"] = "always"
    """When the status comment is written."""
    hand_over: bool = True
    """Say in one short comment whose turn it is when a run stops."""
    annotations: bool = True
    """Mark the lines of the diff that a failure is traced to."""
    show_cost: bool | None = None
    """Show what a run cost; by default in private repositories only."""

    @field_validator("tests")
    @classmethod
    def _names_stand_once(cls, tests: tuple[TestCommand, ...]) -> tuple[TestCommand, ...]:
        if len({command.name for command in tests}) != len(tests):
            raise ValueError("two entries have the same name")
        return tests

    def limited(self, limits: Limits) -> Limits:
        """The operator's limits, lowered where this policy says less; it can never raise one (S37)."""
        shown = {"max_failures": self.max_failures, "max_detail_chars": self.max_detail_chars}
        return limits.lowered({**self.limits.model_dump(), **shown})

    def lets(self, user_id: int, permission: str, role: str = "") -> bool:
        """Whether an account may command here; `permission` and `role` are GitHub's words, asked live (CM-6)."""
        if permission not in ("write", "admin"):
            return False
        held = _RANKS.get(role, 0) if role in _RANKS else _RANKS[permission]
        people = {person.id for person in self.commanders.people}
        return held >= _RANKS[self.commanders.role] and (not people or user_id in people)


_RANKS: Mapping[str, int] = {"write": 1, "maintain": 2, "admin": 3}
