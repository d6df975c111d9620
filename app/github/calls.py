"""The small records of a call to GitHub: the request, its surroundings, a list that was read."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Pace:
    """Time and chance, injected so that tests step them. `now_ms` is UTC, `chance` gives 0 to 1."""

    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = field(default_factory=lambda: Random().random)


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list read along its pages; `cut` says that it goes on and nothing may be concluded from what is not there."""

    items: tuple[T, ...]
    cut: bool = False

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def of(self, model: type[M]) -> "Listing[M]":
        """The items read as `model`; raises pydantic.ValidationError for one that is none."""
        return Listing(tuple(model.model_validate(item) for item in self.items), self.cut)


@dataclass(frozen=True)
class Call:
    """One request to the API; `repeatable` says that running it twice changes nothing more (GH-5)."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: object = None
    repeatable: bool = False
    follow: bool = True
    moved: bool = False
    """It goes to the new address of a repository that moved; there is no second move."""

    @property
    def by_app(self) -> bool:
        """Whether the app itself asks, with its JWT, and not an installation."""
        return self.path == "/app" or self.path.startswith("/app/")
