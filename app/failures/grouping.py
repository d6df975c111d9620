"""Group failures by root cause; a group is one thing to explain and to repair (6.2)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.failures.model import Failure

_MISSING = re.compile(
    r"(?:No module named|Cannot find (?:module|package"
    r"|name)|cannot find (?:symbol|module|package)|ModuleNotFoundError:"
    r"|undefined:"
    r"|NoClassDefFoundError:|ClassNotFoundException:|cannot load such file --|Could not resolve|unresolved import"
    r"|cannot import name|uninitialized constant|Unable to resolve)\W{0,3}([\w@./:$-]{1,120})"
)
_HOOK = re.compile(
    r'"(?:before|after) (?:all|each)" hook[^"]{0,200}|\b(?:setUpClass'
    r"|setUpModule|tearDownClass|setup_all|beforeAll|afterAll)\b.{0,200}"
)


@dataclass(frozen=True)
class Group:
    """One root cause: `fingerprint` identifies the group, `members` are its failures, `why_grouped` says why."""

    fingerprint: str
    title: str
    members: tuple[Failure, ...]
    why_grouped: str = ""

    @property
    def test_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.test_id for member in self.members))


@dataclass(frozen=True)
class _Reason:
    """Why failures belong together: the key they share and the sentence that says it."""

    key_of: Callable[[Failure], str]
    sentence: str


def _same_failure(failure: Failure) -> str:
    return failure.fingerprint


def _same_error(failure: Failure) -> str:
    return failure.group_key


def _same_hook(failure: Failure) -> str:
    found = _HOOK.search(failure.test_id)
    return f"{found[0]} {failure.file or ''}" if found else ""


def _same_missing_thing(failure: Failure) -> str:
    if failure.failure_kind not in ("collection_error", "suite_error", "error"):
        return ""
    found = _MISSING.search(failure.error_head) or _MISSING.search(failure.detail_tail)
    return found[1].strip("'\".") if found else ""


_REASONS = (
    _Reason(_same_error, "same error at the same place"),
    _Reason(_same_hook, "the same set-up failed"),
    _Reason(_same_missing_thing, "the same thing is missing"),
)


def group_failures(failures: Sequence[Failure]) -> list[Group]:
    """Groups in order of their first member; none is dropped, and the order changes no group (GR-1, GR-2)."""
    groups: dict[str, list[Failure]] = {}
    reasons: dict[str, str] = {}
    shared = {reason: _counted(failures, reason) for reason in _REASONS}
    for failure in failures:
        key, why = _same_failure(failure), ""
        for reason in _REASONS:
            name = reason.key_of(failure)
            if name and len(shared[reason].get(name, ())) > 1:
                key, why = f"{reason.sentence}\0{name}", reason.sentence
                break
        groups.setdefault(key, []).append(failure)
        reasons[key] = why
    return [_group(key, members, reasons[key]) for key, members in groups.items()]


def _counted(failures: Sequence[Failure], reason: _Reason) -> dict[str, set[str]]:
    ids: dict[str, set[str]] = {}
    for failure in failures:
        ids.setdefault(reason.key_of(failure), set()).add(failure.fingerprint)
    return ids


def _group(key: str, members: list[Failure], why: str) -> Group:
    first = min(members, key=lambda member: (member.test_id, member.fingerprint))
    tests = len({member.test_id for member in members})
    identity = first.fingerprint if not why else (first.group_key or first.fingerprint)
    title = first.test_id if tests == 1 else f"{first.error_head or first.test_id} ({tests} tests)"
    return Group(identity, title, tuple(members), f"{tests} tests: {why}" if why and tests > 1 else why)
