"""One outbox row on its way to GitHub, with all that its sender needs; and how it can end."""

from dataclasses import dataclass, field

from app.github.client import Client
from app.ledger.rows import Row
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
