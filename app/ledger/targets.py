"""Which repository the target of a step names: one of the same installation, by name or alias (PL-6, PL-7, C2)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.commands.parser import normalise
from app.ledger import repos
from app.ledger.rows import Row
from app.ledger.rules import policy_of


@dataclass(frozen=True)
class Unclear:
    """Why a target names no repository."""

    why: str


def resolve(conn: Connection, repository: Row, target: str) -> Row | Unclear:
    """The repository that a step of `repository` is about; an empty target is `repository` itself.

    A full name is exact; a short name or an alias of the policy is compared without accents, case and punctuation.
    """
    if not target or target.lower() == repository.full_name.lower():
        return repository
    exact = repos.find_repository(conn, repository.installation_id, target)
    if exact is not None:
        return exact
    aliases = {_plain(alias): _plain(name) for alias, name in (policy_of(repository).get("aliases") or {}).items()}
    wanted = {_plain(target), aliases.get(_plain(target), _plain(target))}
    known = repos.repositories_of(conn, repository.installation_id)
    found = [one for one in known if wanted & {_plain(one.full_name), _plain(one.full_name.partition("/")[2])}]
    if len(found) == 1:
        return found[0]
    return Unclear(f"{target} is {'the name of several repositories' if found else 'no repository'} here")


def same(conn: Connection, repository: Row, one: str, other: str) -> bool:
    """Whether two targets name the same repository (PL-4)."""
    if _plain(one) == _plain(other):
        return True
    first, second = resolve(conn, repository, one), resolve(conn, repository, other)
    return not isinstance(first, Unclear) and not isinstance(second, Unclear) and first.id == second.id


def _plain(name: str) -> str:
    return normalise(name).replace("-", "")
