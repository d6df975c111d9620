"""Installations, repositories and scopes: what Remedy watches, and its one comment and one check per scope."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select, update

from app.ledger.ids import new_id
from app.ledger.rows import Row, insert
from app.ledger.rows import upsert as _upsert
from app.ledger.schema import commands, installations, publications, repositories, runs, scopes
from app.ledger.words import ScopeState


@dataclass(frozen=True)
class ScopeFacts:
    """A pull request (`pr:318`) or branch (`branch:main`) as GitHub shows it now."""

    repository_id: int
    key: str
    head_repo_id: int | None
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    is_fork: bool = False
    is_draft: bool = False
    author_id: int | None = None
    author_type: str = ""
    state: ScopeState = ScopeState.OPEN


def upsert_installation(conn: Connection, installation_id: int, account: str) -> Row:
    """Know an installation. One that was removed stays so: GitHub gives a new id to a new installation."""
    return _upsert(conn, installations, {"id": installation_id}, {"account": account})


def note_calls_left(conn: Connection, installation_id: int, left: int, now: int, every_ms: int) -> None:
    """GitHub's budget as it last said, for figures; at most one write in `every_ms`."""
    old = or_(installations.c.calls_left_at.is_(None), installations.c.calls_left_at <= now - every_ms)
    known = update(installations).where(installations.c.id == installation_id, old)
    conn.execute(known.values(calls_left=left, calls_left_at=now))


def suspend_installation(conn: Connection, installation_id: int, at: int | None) -> None:
    """Suspended since `at`, or with None no more; nothing is sent meanwhile."""
    conn.execute(update(installations).where(installations.c.id == installation_id).values(suspended_at=at))


def remove_installation(conn: Connection, installation_id: int, now: int) -> None:
    """Gone: nothing is sent to it any more; its repositories go with it."""
    conn.execute(update(installations).where(installations.c.id == installation_id).values(removed_at=now))
    own = (repositories.c.installation_id == installation_id, repositories.c.removed_at.is_(None))
    conn.execute(update(repositories).where(*own).values(removed_at=now))


def upsert_repository(
    conn: Connection, repository_id: int, installation_id: int, full_name: str, default_branch: str, is_private: bool
) -> Row:
    """Know a repository under its present name and installation; its scopes follow to that installation (DB-8).

    One that was removed stays so until `restore_repository`: late events must not bring it back (IT-5).
    """
    values: dict[str, object] = {
        "installation_id": installation_id,
        "full_name": full_name,
        "default_branch": default_branch,
        "is_private": is_private,
    }
    row = _upsert(conn, repositories, {"id": repository_id}, values)
    moved = (scopes.c.repository_id == repository_id, scopes.c.installation_id != installation_id)
    conn.execute(update(scopes).where(*moved).values(installation_id=installation_id))
    return row


def set_default_branch(conn: Connection, repository_id: int, branch: str) -> None:
    """Its default branch, where an event named the repository alone."""
    conn.execute(update(repositories).where(repositories.c.id == repository_id).values(default_branch=branch))


def remove_repository(conn: Connection, repository_id: int, installation_id: int, now: int) -> None:
    """The installation no longer includes it; one that another installation has by now stays."""
    its = (repositories.c.id == repository_id, repositories.c.installation_id == installation_id)
    conn.execute(update(repositories).where(*its).values(removed_at=now))


def restore_repository(conn: Connection, repository_id: int, installation_id: int) -> None:
    """This installation includes it, again or after a transfer; what nobody knows yet comes with its first event."""
    values = {"removed_at": None, "installation_id": installation_id}
    conn.execute(update(repositories).where(repositories.c.id == repository_id).values(**values))


def get_installation(conn: Connection, installation_id: int) -> Row | None:
    return conn.execute(select(installations).where(installations.c.id == installation_id)).one_or_none()


def get_repository(conn: Connection, repository_id: int) -> Row | None:
    return conn.execute(select(repositories).where(repositories.c.id == repository_id)).one_or_none()


def find_repository(conn: Connection, installation_id: int, full_name: str) -> Row | None:
    """A present repository of this installation by name, in any case; another installation's is not found (DB-8)."""
    named = (
        repositories.c.installation_id == installation_id,
        func.lower(repositories.c.full_name) == full_name.lower(),
        repositories.c.removed_at.is_(None),
    )
    return conn.execute(select(repositories).where(*named).limit(1)).one_or_none()


def repositories_of(conn: Connection, installation_id: int) -> Sequence[Row]:
    """The present repositories of an installation, by name."""
    own = (repositories.c.installation_id == installation_id, repositories.c.removed_at.is_(None))
    return conn.execute(select(repositories).where(*own).order_by(repositories.c.full_name)).all()


def repository_of_payload(conn: Connection, payload: Mapping[str, Any]) -> Row | None:
    """The repository of an outbox row, by the scope, publication or command that it names."""
    scope_id = payload.get("scope_id")
    if scope_id is None and (publication_id := payload.get("publication_id")) is not None:
        found = select(runs.c.scope_id).join(publications).where(publications.c.id == publication_id)
        scope_id = conn.execute(found).scalar_one_or_none()
    if scope_id is None and (command_id := payload.get("command_id")) is not None:
        scope_id = conn.execute(select(commands.c.scope_id).where(commands.c.id == command_id)).scalar_one_or_none()
    scope = None if scope_id is None else get_scope(conn, str(scope_id))
    return None if scope is None else get_repository(conn, scope.repository_id)


def cache_policy(conn: Connection, repository_id: int, sha: str, policy: Mapping[str, Any] | None, now: int) -> None:
    """Keep the policy of the base branch under the SHA of its file; None means there is none."""
    values = {"policy_sha": sha, "policy_json": policy, "policy_at": now}
    conn.execute(update(repositories).where(repositories.c.id == repository_id).values(**values))


def upsert_scope(conn: Connection, facts: ScopeFacts, now: int) -> Row:
    """Know a scope as it is now; its comment, its check and its marks stay."""
    installation_id = select(repositories.c.installation_id).where(repositories.c.id == facts.repository_id)
    values: dict[str, Any] = asdict(facts) | {"installation_id": conn.execute(installation_id).scalar_one()}
    fresh = {"id": new_id(now), "created_at": now, "updated_at": now}
    statement = insert(conn, scopes).values(**values, **fresh)
    known = statement.on_conflict_do_update(index_elements=["repository_id", "key"], set_=values | {"updated_at": now})
    return conn.execute(known.returning(*scopes.c)).one()


def get_scope(conn: Connection, scope_id: str) -> Row | None:
    return conn.execute(select(scopes).where(scopes.c.id == scope_id)).one_or_none()


def find_scope(conn: Connection, repository_id: int, key: str) -> Row | None:
    """The scope with this key (`pr:318`, `branch:main`) in a repository."""
    return conn.execute(
        select(scopes).where(scopes.c.repository_id == repository_id, scopes.c.key == key)
    ).one_or_none()


def scopes_at(conn: Connection, repository_id: int, head_sha: str) -> Sequence[Row]:
    """Open scopes whose head is this commit."""
    there = (scopes.c.repository_id == repository_id, scopes.c.head_sha == head_sha, scopes.c.state == ScopeState.OPEN)
    return conn.execute(select(scopes).where(*there).order_by(scopes.c.id)).all()


def open_scopes(conn: Connection, installation_id: int, repository_id: int) -> Sequence[Row]:
    """For people: the open scopes of a repository of this installation, newest first (DB-8)."""
    own = (
        scopes.c.installation_id == installation_id,
        scopes.c.repository_id == repository_id,
        scopes.c.state == ScopeState.OPEN,
    )
    return conn.execute(select(scopes).where(*own).order_by(scopes.c.updated_at.desc(), scopes.c.id.desc())).all()


def mark_off(conn: Connection, scope_id: str, by: str, reason: str, now: int) -> bool:
    """Nobody is to work on this scope (decisions.md, 54); False if it is off already."""
    on = (scopes.c.id == scope_id, scopes.c.off_at.is_(None))
    return conn.execute(update(scopes).where(*on).values(off_by=by, off_at=now, off_reason=reason)).rowcount == 1


def clear_off(conn: Connection, scope_id: str) -> bool:
    """Work may go on; False if it was not off."""
    off = (scopes.c.id == scope_id, scopes.c.off_at.is_not(None))
    return conn.execute(update(scopes).where(*off).values(off_by=None, off_at=None, off_reason="")).rowcount == 1


def note(conn: Connection, scope_id: str, name: str, value: Mapping[str, Any] | None) -> bool:
    """Keep a note about a scope under a name, None takes it away; whether that changed anything."""
    notes = dict(conn.execute(select(scopes.c.notes).where(scopes.c.id == scope_id)).scalar_one() or {})
    if notes.get(name) == (None if value is None else dict(value)):
        return False
    notes.pop(name, None)
    _set(conn, scope_id, notes=notes if value is None else {**notes, name: dict(value)})
    return True


def set_comment(conn: Connection, scope_id: str, comment_id: int, comment_hash: str, now: int) -> None:
    """The sticky comment as it stands at GitHub."""
    _set(conn, scope_id, comment_id=comment_id, comment_hash=comment_hash, comment_at=now, comment_deleted_at=None)


def comment_deleted(conn: Connection, scope_id: str, now: int) -> None:
    """A person deleted the sticky comment: not posted again in this run (OB-10)."""
    _set(conn, scope_id, comment_id=None, comment_hash=None, comment_deleted_at=now)


def comment_wanted(conn: Connection, scope_id: str) -> None:
    """A new run: it may post the comment again."""
    _set(conn, scope_id, comment_deleted_at=None)


def set_check(conn: Connection, scope_id: str, check_run_id: int, head_sha: str, open_at: int | None) -> None:
    """Our check run, and the head that it stands on (decisions.md, 57); `open_at`: since when it says in progress."""
    _set(conn, scope_id, check_run_id=check_run_id, check_head_sha=head_sha, check_open_at=open_at)


def set_green(conn: Connection, scope_id: str, sha: str | None) -> None:
    """The last head whose CI was seen green."""
    _set(conn, scope_id, green_sha=sha)


def count_bot_commits(conn: Connection, scope_id: str, in_a_row: int) -> None:
    """How many of our commits stand in a row at the head (IT-32)."""
    _set(conn, scope_id, bot_commits=in_a_row)


def _set(conn: Connection, scope_id: str, **values: object) -> None:
    conn.execute(update(scopes).where(scopes.c.id == scope_id).values(**values))
