"""Which repositories somebody may read: asked of GitHub with her own token, remembered briefly, closed on any doubt."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Engine

from app.errors import TransientError
from app.github.people import People, SignedOut
from app.ledger import browsers, repos
from app.ledger.engine import read, write
from app.ledger.rows import Row
from app.web.viewer import Viewer

T = TypeVar("T")

REMEMBERED_MS = 60_000
MOST_REMEMBERED = 5_000


class Unknown(Exception):
    """GitHub does not say what this person may read: nothing is shown (UX-P3)."""


@dataclass
class Reach:
    """One process' memory of GitHub's answers; `people` asks."""

    engine: Engine
    clock: Callable[[], int]
    people: Callable[[], People]
    _lists: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)
    _single: dict[tuple[str, int], tuple[int, bool]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def readable(self, viewer: Viewer) -> frozenset[int]:
        """Ids of the repositories that this viewer and Remedy both reach; raises Unknown."""
        if viewer.installation is not None:
            with read(self.engine) as conn:
                return frozenset(row.id for row in repos.repositories_of(conn, viewer.installation))
        known = self._lists.get(viewer.key)
        if known is not None and self.clock() < known[0]:
            return known[1]
        found = self._ask(viewer, lambda people: people.reachable(viewer.token))
        with self._lock:
            self._tidy()
            self._lists[viewer.key] = (self.clock() + REMEMBERED_MS, found)
        return found

    def may_read(self, viewer: Viewer, repository: Row | None) -> bool:
        """Whether one repository may be shown; False on any doubt. A removed one is shown to nobody."""
        if repository is None or repository.removed_at is not None:
            return False
        if viewer.installation is not None:
            return bool(repository.installation_id == viewer.installation)
        try:
            if repository.id in self.readable(viewer):
                return True
            return self._may_read_alone(viewer, repository)
        except Unknown:
            return False

    def forget(self, key: str) -> None:
        """The browser signed out, or its token was refused."""
        with self._lock:
            self._lists.pop(key, None)
            for pair in [pair for pair in self._single if pair[0] == key]:
                del self._single[pair]

    def _may_read_alone(self, viewer: Viewer, repository: Row) -> bool:
        pair = (viewer.key, repository.id)
        known = self._single.get(pair)
        if known is not None and self.clock() < known[0]:
            return known[1]
        name, number = repository.full_name, repository.id
        found = self._ask(viewer, lambda people: people.can_read(viewer.token, name, number))
        with self._lock:
            self._tidy()
            self._single[pair] = (self.clock() + REMEMBERED_MS, found)
        return found

    def _ask(self, viewer: Viewer, question: Callable[[People], T]) -> T:
        try:
            return question(self.people())
        except SignedOut:
            self.forget(viewer.key)
            with write(self.engine) as conn:
                browsers.remove(conn, viewer.key)
            raise Unknown from None
        except TransientError as error:
            raise Unknown(str(error)) from error

    def _tidy(self) -> None:
        """Drop what is over, and everything when that does not help: asking again is always right."""
        if len(self._lists) + len(self._single) < MOST_REMEMBERED:
            return
        now = self.clock()
        self._lists = {key: kept for key, kept in self._lists.items() if kept[0] > now}
        self._single = {pair: kept for pair, kept in self._single.items() if kept[0] > now}
        if len(self._lists) + len(self._single) >= MOST_REMEMBERED:
            self._lists.clear()
            self._single.clear()
