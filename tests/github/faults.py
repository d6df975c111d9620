"""Faults that a test or a person orders: lost answers, errors, waits, limits, bad deliveries (github.md C9)."""

import random
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Where = Literal["rest", "git", "store", "hook"]
_MATCHED = ("op", "method", "path", "event", "action")


@dataclass
class Fault:
    """What to do to the requests that match; every given regular expression must be found in its fact.

    `times` = how often it strikes (None: until lifted), `after` = how many matches it lets pass first, `p` = with which
    chance it strikes, by its own seeded source. The effect is one of: an answer (`status`, `headers`, `body`),
    `delay_s`, `drop` (the connection is reset), `truncate` (bytes that arrive), `limit` (primary, secondary, bare) or,
    for hooks, `hook` (miss, duplicate, delay, throttle, bad_signature, shuffle). With `after_effect` the operation runs
    first and the answer is lost: the case that makes duplicates (D-35).
    """

    where: Where = "rest"
    op: str = ""
    method: str = ""
    path: str = ""
    event: str = ""
    action: str = ""
    times: int | None = 1
    after: int = 0
    p: float = 1.0
    seed: int = 0
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    delay_s: float = 0.0
    drop: bool = False
    truncate: int | None = None
    limit: str | None = None
    hook: str | None = None
    by: int = 1
    after_effect: bool = False
    optional: bool = False
    name: str = ""
    met: int = 0
    struck: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def fits(self, facts: Mapping[str, str]) -> bool:
        return all(re.search(getattr(self, key), facts.get(key, "")) for key in _MATCHED if getattr(self, key))

    def strikes(self) -> bool:
        self.met += 1
        if self.met <= self.after or (self.times is not None and self.struck >= self.times):
            return False
        if self.p < 1.0 and self._random.random() >= self.p:
            return False
        self.struck += 1
        return True


class Faults:
    """The list that is in force; the first one that fits and strikes wins."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lifted: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def lift(self, fault: Fault) -> None:
        with self._lock:
            self._faults.remove(fault)
            self._lifted.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._lifted += self._faults
            self._faults = []

    def pick(self, where: Where, facts: Mapping[str, str], only: str | None = None) -> Fault | None:
        """The fault that strikes now, if any. `only` asks for one kind of hook fault that is not tied to a delivery."""
        with self._lock:
            for fault in self._faults:
                if fault.where != where or (fault.hook == "shuffle") != (only == "shuffle"):
                    continue
                if fault.fits(facts) and fault.strikes():
                    return fault
        return None

    def complaints(self) -> list[str]:
        """A fault that met nothing means that the test did not test it (D-34)."""
        unmet = [fault for fault in (*self._faults, *self._lifted) if not fault.struck and not fault.optional]
        return [f"this fault met nothing: {fault.name or describe(fault)}" for fault in unmet]


def describe(fault: Fault) -> str:
    plain = Fault()
    changed = {key: value for key, value in vars(fault).items() if value != getattr(plain, key) and key[0] != "_"}
    return ", ".join(f"{key}={value!r}" for key, value in changed.items())
