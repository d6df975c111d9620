"""What the web process works with, made once at its start; the App may come later, by the set-up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Engine
from starlette.requests import Request

from app.github.people import People
from app.ledger import setting_up, vault
from app.ledger.engine import read, write
from app.ledger.evidence import Store
from app.redact import Redactor
from app.settings import Settings
from app.telemetry import known_secrets
from app.web.body import BodyReader
from app.web.reach import Reach
from app.web.writer import Writer


@dataclass
class Web:
    """`clock` gives UTC milliseconds; `ring` is a doorbell; `adopted` hears of settings that the set-up changed."""

    settings: Settings
    engine: Engine
    clock: Callable[[], int]
    bodies: BodyReader
    writer: Writer
    ring: Callable[[str, str], object] = lambda job, item: None
    adopted: Callable[[Settings], object] = lambda settings: None
    streams: int = 0
    _people: People | None = None
    _operator: int | None = None
    _tried_at: int = field(default=0)

    @cached_property
    def store(self) -> Store:
        return Store(self.settings.data / "evidence")

    @property
    def redactor(self) -> Redactor:
        return Redactor(known_secrets(self.settings))

    @cached_property
    def reach(self) -> Reach:
        return Reach(self.engine, self.clock, self.people)

    def people(self) -> People:
        """GitHub, asked in the name of people."""
        if self._people is None:
            self._people = People(self.settings)
        return self._people

    @property
    def operator(self) -> int | None:
        """The account that finished the set-up (UX-P7)."""
        if self._operator is None:
            with read(self.engine) as conn:
                kept: Mapping[str, Any] | None = vault.get(conn, self.settings, vault.OPERATOR)
            self._operator = None if kept is None else int(kept["id"])
        return self._operator

    def heard(self) -> None:
        """GitHub's test delivery came, well signed: the set-up page says so."""
        with write(self.engine) as conn:
            vault.put(conn, self.settings, vault.HEARD, {"at": self.clock()}, self.clock())

    def took_over(self, person: int) -> None:
        """The account that finished the set-up is the operator from now on."""
        with write(self.engine) as conn:
            vault.put(conn, self.settings, vault.OPERATOR, {"id": person}, self.clock())
            setting_up.close(conn)
        self._operator = person

    def look_for_app(self) -> bool:
        """Whether an App is known; another process may have set one up, so the database is asked once a second."""
        if self.settings.app_id:
            return True
        if self.clock() - self._tried_at >= 1000:
            self._tried_at = self.clock()
            self.adopt(vault.with_app(self.settings, self.engine))
        return bool(self.settings.app_id)

    def adopt(self, settings: Settings) -> None:
        """Work on with these settings."""
        if settings is self.settings:
            return
        self.settings = settings
        self.bodies.secret = settings.webhook_secret.get_secret_value().encode()
        if self._people is not None:
            self._people.close()
            self._people = None
        self.writer.redact_with(self.redactor)
        self.adopted(settings)

    def close(self) -> None:
        if self._people is not None:
            self._people.close()


def web_of(request: Request) -> Web:
    """The tools of the process that answers this request."""
    web: Web = request.app.state.web
    return web
