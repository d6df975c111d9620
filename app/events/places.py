"""Where an event happened: installation, repository and scope as rows, the policy of the base branch."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.events.payloads import Payload
from app.github import pulls, repositories
from app.github.client import Client
from app.github.paths import repo_path
from app.github.pulls import Pull
from app.github.tokens import Purpose
from app.ledger import repos
from app.ledger.repos import ScopeFacts
from app.ledger.rows import Row
from app.ledger.words import ScopeState
from app.policy import Policy, PolicyError, load_policy
from app.services import Services

POLICY_FILE = ".github/remedy.yml"


@dataclass(frozen=True)
class Place:
    """One repository of one installation."""

    installation_id: int
    repository_id: int
    full_name: str


def know(conn: Connection, payload: Payload) -> Place | None:
    """Keep installation and repository of an event as they are now; None where the event names none or it is gone."""
    repository = payload.repository
    if payload.installation_id is None or repository is None:
        return None
    account = repository.owner.login if repository.owner is not None else repository.full_name.partition("/")[0]
    known = repos.get_installation(conn, payload.installation_id)
    if known is None:
        repos.upsert_installation(conn, payload.installation_id, account)
    before = repos.get_repository(conn, repository.id)
    row = repos.upsert_repository(
        conn,
        repository.id,
        payload.installation_id,
        repository.full_name,
        repository.default_branch or (before.default_branch if before is not None else "main"),
        bool(repository.private),
    )
    if row.removed_at is not None or (known is not None and known.removed_at is not None):
        return None
    return Place(payload.installation_id, repository.id, repository.full_name)


def reader(client: Client, place: Place) -> Client:
    """A view of the client that may read this repository and nothing else (GH-20)."""
    return client.acting(Purpose.READ, place.repository_id)


def pulls_at(client: Client, place: Place, sha: str) -> list[Pull]:
    """Open pull requests into this repository whose head is exactly this commit (IT-10)."""
    found = pulls.find_pulls_for_sha(client, place.full_name, sha)
    return [pull for pull in found if pull.is_open and pull.head.sha == sha]


def keep_pull(conn: Connection, place: Place, pull: Pull, now: int) -> Row:
    """The scope row of a pull request as GitHub shows it now."""
    state = ScopeState.MERGED if pull.is_merged else (ScopeState.OPEN if pull.is_open else ScopeState.CLOSED)
    facts = ScopeFacts(
        repository_id=place.repository_id,
        key=f"pr:{pull.number}",
        head_repo_id=pull.head.repo.id if pull.head.repo is not None else None,
        head_ref=pull.head.ref,
        head_sha=pull.head.sha,
        base_ref=pull.base.ref,
        base_sha=pull.base.sha,
        is_fork=pull.is_fork,
        is_draft=bool(pull.draft),
        author_id=pull.user.id if pull.user is not None else None,
        author_type=pull.user.type if pull.user is not None else "",
        state=state,
    )
    return repos.upsert_scope(conn, facts, now)


def keep_branch(conn: Connection, place: Place, branch: str, sha: str, now: int) -> Row:
    """The scope row of a branch that policy lists."""
    facts = ScopeFacts(place.repository_id, f"branch:{branch}", place.repository_id, branch, sha, branch, "")
    return repos.upsert_scope(conn, facts, now)


def policy_at(s: Services, client: Client, place: Place, ref: str) -> Policy | PolicyError | None:
    """The policy of a base branch, read now and kept beside the repository (IT-9); None where there is no file."""
    found = load_policy(
        lambda path: repositories.read_file(client, place.full_name, path, ref),
        lambda path: _default_file(client, place, path),
    )
    kept = found.model_dump(mode="json") if isinstance(found, Policy) else None
    with s.write() as conn:
        repos.cache_policy(conn, place.repository_id, ref, kept, s.clock())
    return found


def _default_file(client: Client, place: Place, path: str) -> bytes | None:
    """The file of the organisation's `.github` repository, where the installation has that (decisions.md, row 78)."""
    owner, _, name = place.full_name.partition("/")
    if name == ".github":
        return None
    whole = client.acting(Purpose.SWEEP, None)
    found = whole.find(repo_path(f"{owner}/.github"))
    branch = found.get("default_branch") if isinstance(found, dict) else None
    return repositories.read_file(whole, f"{owner}/.github", path, branch) if branch else None


def is_on(policy: Policy | PolicyError | None) -> bool:
    """Whether Remedy may speak here by itself: exactly `enabled: true`, also in a file that has a mistake (A1)."""
    if isinstance(policy, PolicyError):
        return policy.wants_remedy
    return policy is not None and policy.enabled
