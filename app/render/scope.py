"""The values that the texts about one scope are made from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from markupsafe import Markup

from app.redact import Redactor
from app.render.links import links_of
from app.render.space import Space
from app.render.text import clean
from app.runs.model import Cause
from app.runs.projection import Projection
from app.runs.view import FoundView, GridRow, GroupView, ScopeView

T = TypeVar("T")


@dataclass(frozen=True)
class Counts:
    """Failing tests in all and by cause, each as people count them."""

    total: int
    this_change: int
    known_flaky: int
    base_red: int
    named: int


@dataclass(frozen=True)
class Name:
    """A group's tests in short: one name, how many more of the same function or other ones, and the file."""

    name: str
    more_cases: int
    more_tests: int
    file: str


def redacted(value: T, redactor: Redactor) -> T:
    """The same record with every text in it redacted; enums stay."""
    result: T = mapped(value, redactor.text)
    return result


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{part.name: mapped(getattr(value, part.name), change) for part in fields(value)})
    return value


def values_of(view: ScopeView, shown: Projection, space: Space, patch: Markup | None) -> Mapping[str, object]:
    """What a comment or check template may use. `view` is redacted already, `patch` is the one to take away."""
    return {
        "view": view,
        "run": view.run,
        "p": shown,
        "n": counts_of(view),
        "space": space,
        "links": links_of(view),
        "name_of": name_of,
        "columns": columns,
        "as_expected": as_expected,
        "changed": changed,
        "patch": patch,
        "mistake": view.config or (view.config_in_head if view.outcome is None and view.state is None else None),
        "here": Markup("this pull request" if view.number is not None else "this branch"),
    }


def counts_of(view: ScopeView) -> Counts:
    """Failing tests by cause; where the list was cut, the true total counts for the one cause there is (A6)."""

    def of(cause: Cause) -> int:
        return sum(len(group.tests) for group in view.groups if group.cause is cause)

    listed = sum(len(group.tests) for group in view.groups)
    total = max(view.failures_total, listed)
    extra = total - listed if len({group.cause for group in view.groups}) == 1 else 0
    by_cause = [of(cause) for cause in (Cause.THIS_CHANGE, Cause.KNOWN_FLAKY, Cause.BASE_RED)]
    this_change, flaky, base_red = (count + extra if count else 0 for count in by_cause)
    named = len(view.proof.tests) if view.proof else this_change or total
    return Counts(total, this_change, flaky, base_red, named)


def name_of(group: GroupView) -> Name:
    """How a group is named in a table cell (UX-C5)."""
    tests = group.tests or (group.title,)
    names = [_own_name(test) for test in tests]
    functions = [name.split("[", 1)[0] for name in names]
    same = sum(function == functions[0] for function in functions)
    name = names[0] if same == 1 else functions[0]
    file = group.file or (tests[0].split("::", 1)[0] if "::" in tests[0] else "")
    return Name(name, same - 1, len(tests) - same, file)


def columns(tests: tuple[str, ...]) -> tuple[str, ...]:
    """Heads of the proof table: `…[EUR]` where only the parameters differ, else the tests' own names."""
    names = [_own_name(test) for test in tests]
    functions = {name.split("[", 1)[0] for name in names}
    if len(names) > 1 and len(functions) == 1 and all("[" in name for name in names):
        return tuple("…[" + name.split("[", 1)[1] for name in names)
    return tuple(names)


def as_expected(row: GridRow) -> int:
    """How many of a tree's tests were seen as expected."""
    return sum(seen.startswith(f"{row.expected} ") for seen in row.seen)


def changed(found: FoundView) -> str:
    """Both versions of a finding as lines of a diff; still to be made safe."""
    return "\n".join([*(f"-{line}" for line in found.before), *(f"+{line}" for line in found.after)])


def _own_name(test: str) -> str:
    return clean(test).rsplit("::", 1)[-1] or test
