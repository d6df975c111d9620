"""The one-time link of the set-up, and the one browser that it was opened in (UX-P8)."""

import secrets
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from app.ledger import vault
from app.settings import Settings

LINK_MS = 3_600_000


def new_link(conn: Connection, settings: Settings, now: int) -> str:
    """A fresh secret for the link; an older one is worth nothing from now on."""
    secret = secrets.token_urlsafe(24)
    _put(conn, settings, now, link=_hash(secret), until=now + LINK_MS)
    return secret


def open_link(conn: Connection, settings: Settings, secret: str, now: int) -> str | None:
    """Spend the link: the cookie of the browser that may go on; None for a link that is spent, old or invented."""
    kept = _kept(conn, settings)
    good = kept.get("link") and secrets.compare_digest(kept["link"], _hash(secret)) and now < kept.get("until", 0)
    if not good:
        return None
    cookie = secrets.token_urlsafe(32)
    _put(conn, settings, now, browser=_hash(cookie), state=secrets.token_urlsafe(24), until=now + LINK_MS)
    return cookie


def is_good(conn: Connection, settings: Settings, secret: str, now: int) -> bool:
    """Whether a link would open; looking spends nothing."""
    kept = _kept(conn, settings)
    right = bool(kept.get("link")) and secrets.compare_digest(kept["link"], _hash(secret))
    return right and bool(now < kept.get("until", 0))


def state_of(conn: Connection, settings: Settings, cookie: str, now: int) -> str | None:
    """The state that GitHub must send back to this browser; None for every other browser."""
    kept = _kept(conn, settings)
    if not cookie or not kept.get("browser") or not secrets.compare_digest(kept["browser"], _hash(cookie)):
        return None
    return str(kept["state"]) if now < kept.get("until", 0) else None


def close(conn: Connection) -> None:
    """The set-up has its operator: no browser goes on without signing in."""
    vault.remove(conn, vault.SETUP)


def _kept(conn: Connection, settings: Settings) -> dict[str, Any]:
    return vault.get(conn, settings, vault.SETUP) or {}


def _put(conn: Connection, settings: Settings, now: int, **values: object) -> None:
    vault.put(conn, settings, vault.SETUP, values, now)


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
