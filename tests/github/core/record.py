"""What was asked and what broke a rule: the request log, and violations that no test may leave (github.md C4)."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TOLD_KEPT = 100


@dataclass(frozen=True)
class Violation:
    """`operation` is an operation id, `git`, `store`, `hook` or `workflow`; `field` is the part that broke the rule."""

    operation: str
    field: str
    detail: str

    def __str__(self) -> str:
        return f"{self.operation} {self.field}: {self.detail}"


@dataclass(frozen=True)
class Asked:
    """One request; `who` is `app`, `installation:<id>`, `actions`, `user:<login>` or `nobody`."""

    at: int
    method: str
    path: str
    operation: str | None
    who: str
    status: int
    body: Any = None
    query: tuple[tuple[str, str], ...] = ()

    @property
    def is_write(self) -> bool:
        return self.method not in ("GET", "HEAD")


@dataclass(frozen=True)
class Told:
    """One good answer of JSON, `answer`, to an operation with these values."""

    operation: str
    params: Mapping[str, Any]
    query: Mapping[str, str]
    body: Any
    status: int
    answer: bytes


@dataclass
class Expectation:
    operation: str
    field: str
    met: int = 0


@dataclass
class Record:
    """Kept from the start of a test to its end; safe to use from any thread."""

    asked: list[Asked] = field(default_factory=list)
    told: dict[str, list[Told]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    notify: Callable[[Violation], None] | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def violate(self, operation: str, where: str, detail: str) -> None:
        """Note a broken rule, unless a test said that it would break it."""
        with self._lock:
            for expectation in self.expectations:
                if (expectation.operation, expectation.field) == (operation, where):
                    expectation.met += 1
                    return
            violation = Violation(operation, where, detail)
            self.violations.append(violation)
        if self.notify is not None:
            self.notify(violation)

    def tell(self, told: Told) -> None:
        """Keep an answer for the referee; of each operation the first hundred."""
        kept = self.told.setdefault(told.operation, [])
        if len(kept) < TOLD_KEPT:
            kept.append(told)

    def expect(self, operation: str, where: str) -> None:
        """The test is about to break this rule on purpose; not breaking it fails the test (D-16)."""
        self.expectations.append(Expectation(operation, where))

    def complaints(self) -> list[str]:
        """Sentences for everything that should fail a test; empty when all is well."""
        unmet = [f"expected, but did not happen: {e.operation} {e.field}" for e in self.expectations if not e.met]
        return [str(violation) for violation in self.violations] + unmet
