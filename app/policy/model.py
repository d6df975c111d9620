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
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


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
    agent_turn_s: Above0 | None = None
    supervisor_turn_s: Above0 | None = None
    self_repair_turn_s: Above0 | None = None
    proof_s: Above0 | None = None
    cell_s: Above0 | None = None
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
    repair: ListOf[Literal["tests", "build", "lint"]] = ("tests", "build")
    causes: ListOf[Literal["this_change", "base_red"]] = ("this_change",)
    repair_on: Annotated[int, Field(ge=1, le=100)] = 1
    rerun_first: bool = True
    approval: Literal["none", "plan", "publish", "both"] = "none"
    publish: Literal["stacked_pr", "commit", "suggestions", "patch"] = "stacked_pr"
    issues: Literal["always", "base", "never"] = "always"
    allow_test_only_fix: bool = False
    self_repair: bool = True
    flaky: Flaky = Flaky()
    branches: ListOf[Line] = ()
    drafts: bool = False
    allowed_bots: ListOf[Account] = ()
    commanders: Commanders = Commanders()
    max_failures: Above0 = 50
    max_detail_chars: Annotated[int, Field(ge=0, le=1_000_000)] = 3000
    tags: Annotated[tuple[Annotated[str, StringConstraints(max_length=50)], ...], BeforeValidator(_tags)] = Field(
        (), strict=False, max_length=50
    )
    protected: ListOf[Pattern] = ()
    aliases: Mapping[str, Line] = Field(default_factory=dict)
    runner: Runners = Runners()
    limits: LowerLimits = LowerLimits()
    tests: ListOf[TestCommand] = ()
    comment: Literal["always", "when_needed", "never"] = "always"
    hand_over: bool = True
    annotations: bool = True
    show_cost: bool | None = None
    """None: only in private repositories (decisions.md 75)."""

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
