"""One outbox row on its way to GitHub, with all that its sender needs; and how it can end."""

from dataclasses import dataclass, field

from app.github.client import Client
from app.ledger import events, runs
from app.ledger.rows import Row
from app.ledger.words import EventKind
from app.services import Services


@dataclass(frozen=True)
class Letter:
    """`repository` is where it goes; `client` may write there and nowhere else."""

    s: Services
    client: Client
    row: Row
    repository: Row

    @property
    def repo(self) -> str:
        return str(self.repository.full_name)

    def note(self, kind: EventKind, scope_id: str, **details: object) -> None:
        """Tell it in the history of the run that the scope has, if it has one."""
        s = self.s
        with s.write() as conn:
            run = runs.last(conn, scope_id)
            if run is not None:
                events.append(conn, run.id, kind, details, None, s.clock())

    def told(self, name: str) -> str:
        """A value of the row's payload as text; empty where it is not there."""
        value = self.row.payload.get(name)
        return "" if value is None else str(value)


@dataclass(frozen=True)
class Sent:
    """It stands at GitHub under this id."""

    remote_id: str | int | None = None
    rings: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True)
class NotNow:
    """It holds its lane until this time (UTC ms)."""

    at: int
    why: str


@dataclass(frozen=True)
class Dropped:
    """Nothing has to be said any more."""

    why: str


Ending = Sent | NotNow | Dropped
