"""Signed-in browsers: a row each, named by the hash of its cookie; the person's token comes here sealed."""

from hashlib import sha256

from sqlalchemy import Connection, delete, select

from app.ledger.rows import Row
from app.ledger.schema import browsers


def key_of(cookie: str) -> str:
    """What the row of a cookie is called: nobody who reads the table can act as the browser."""
    return sha256(cookie.encode()).hexdigest()


def add(conn: Connection, cookie: str, person: tuple[int, str], token: str, now: int, until: int) -> None:
    """A person (id and login) signed in; rows that are over go on the way."""
    conn.execute(delete(browsers).where(browsers.c.until_at <= now))
    user_id, login = person
    row = {"id": key_of(cookie), "user_id": user_id, "login": login, "sealed": token}
    conn.execute(browsers.insert().values(**row, created_at=now, until_at=until))


def find(conn: Connection, cookie: str, now: int) -> Row | None:
    """The row of a cookie that still holds."""
    mine = (browsers.c.id == key_of(cookie), browsers.c.until_at > now)
    return conn.execute(select(browsers).where(*mine)).one_or_none()


def remove(conn: Connection, key: str) -> None:
    """Signed out, or the token was refused."""
    conn.execute(delete(browsers).where(browsers.c.id == key))


def holds(conn: Connection, key: str, now: int) -> bool:
    """Whether this browser is still signed in."""
    mine = (browsers.c.id == key, browsers.c.until_at > now)
    return conn.execute(select(browsers.c.id).where(*mine)).first() is not None
