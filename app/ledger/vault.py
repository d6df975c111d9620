"""Small named secrets of the installation itself, sealed with the operator's key: the App, the set-up, the operator."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.exc import SQLAlchemyError

from app.ledger.engine import open_engine, read
from app.ledger.rows import upsert
from app.ledger.schema import vault
from app.sealing import Seal
from app.settings import Settings

APP, OPERATOR, SETUP, HEARD = "app", "operator", "setup", "heard"


@dataclass(frozen=True)
class Registration:
    """What GitHub handed out when the App was made by the set-up; `html_url` is the App's page there."""

    app_id: int
    slug: str
    client_id: str
    html_url: str
    client_secret: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    pem: str = field(repr=False)


def put(conn: Connection, settings: Settings, name: str, value: Mapping[str, Any], now: int) -> None:
    """Keep a value under its name, in place of what was there."""
    sealed = Seal(settings.operator_key, f"vault:{name}").close(json.dumps(value))
    upsert(conn, vault, {"name": name}, {"sealed": sealed, "updated_at": now})


def get(conn: Connection, settings: Settings, name: str) -> dict[str, Any] | None:
    """The value; None when there is none, or when another key closed it."""
    sealed = conn.execute(select(vault.c.sealed).where(vault.c.name == name)).scalar_one_or_none()
    opened = None if sealed is None else Seal(settings.operator_key, f"vault:{name}").open(sealed)
    return None if opened is None else dict(json.loads(opened))


def remove(conn: Connection, name: str) -> None:
    conn.execute(delete(vault).where(vault.c.name == name))


def keep_app(conn: Connection, settings: Settings, registration: Registration, now: int) -> None:
    put(conn, settings, APP, asdict(registration), now)


def app_of(conn: Connection, settings: Settings) -> Registration | None:
    """The App that the set-up made."""
    found = get(conn, settings, APP)
    return None if found is None else Registration(**found)


def with_app(settings: Settings, engine: Engine) -> Settings:
    """The settings with the App of the set-up; what the environment names wins, and nothing is mixed."""
    if settings.app_id:
        return settings
    try:
        with read(engine) as conn:
            found = app_of(conn, settings)
    except SQLAlchemyError:  # not migrated yet: nothing was set up either
        return settings
    return settings if found is None else settings.with_app(**asdict(found))


def settings_with_app(settings: Settings) -> Settings:
    """As `with_app`, for a process without an engine yet; nothing stays open, so that it may fork afterwards."""
    engine = open_engine(settings.database)
    try:
        return with_app(settings, engine)
    finally:
        engine.dispose()
