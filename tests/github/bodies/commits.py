"""Commits and changed files as JSON."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.github.bodies.people import node_id, user
from tests.github.core.clock import iso
from tests.github.core.gitstore import Commit, FileChange, Person
from tests.github.core.state import Repository

if TYPE_CHECKING:
    from tests.github.world import World

_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def commit(world: "World", repo: Repository, found: Commit) -> dict[str, Any]:
    """As `commits/{sha}` has it; the git half alone is under `commit`."""
    url = f"{world.api_url}/repos/{repo.full_name}/commits/{found.sha}"
    page = f"{world.web_url}/{repo.full_name}/commit/{found.sha}"
    return {
        "sha": found.sha,
        "node_id": node_id("C", int(found.sha[:10], 16)),
        "url": url,
        "html_url": page,
        "comments_url": f"{url}/comments",
        "commit": git_commit(world, repo, found),
        "author": _account(world, found.author),
        "committer": _account(world, found.committer),
        "parents": [_parent(world, repo, sha) for sha in found.parents],
    }


def git_commit(world: "World", repo: Repository, found: Commit) -> dict[str, Any]:
    url = f"{world.api_url}/repos/{repo.full_name}/git/commits/{found.sha}"
    return {
        "sha": found.sha,
        "node_id": node_id("C", int(found.sha[:10], 16)),
        "url": url,
        "html_url": f"{world.web_url}/{repo.full_name}/commit/{found.sha}",
        "author": _git_user(found.author, found.authored_at),
        "committer": _git_user(found.committer, found.committed_at),
        "message": found.message,
        "tree": {"sha": found.tree, "url": f"{world.api_url}/repos/{repo.full_name}/git/trees/{found.tree}"},
        "parents": [_parent(world, repo, sha) for sha in found.parents],
        "comment_count": 0,
        "verification": dict(_UNSIGNED),
    }


def simple_commit(world: "World", repo: Repository, sha: str) -> dict[str, Any]:
    """As suites, workflow runs and pushes carry it."""
    found = repo.git.one(sha)
    return {
        "id": found.sha,
        "tree_id": found.tree,
        "distinct": True,
        "message": found.message,
        "timestamp": iso(found.committed_at),
        "url": f"{world.web_url}/{repo.full_name}/commit/{found.sha}",
        "author": {"name": found.author.name, "email": found.author.email},
        "committer": {"name": found.committer.name, "email": found.committer.email},
        "added": [],
        "removed": [],
        "modified": [],
    }


def diff_entry(world: "World", repo: Repository, change: FileChange, sha: str) -> dict[str, Any]:
    path = quote(change.path)
    page = f"{world.web_url}/{repo.full_name}"
    return {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{sha}/{path}",
        "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{world.api_url}/repos/{repo.full_name}/contents/{path}?ref={sha}",
        **({"patch": change.patch} if change.patch else {}),
    }


def _account(world: "World", person: Person) -> dict[str, Any] | None:
    found = world.state.find_user(person.email)
    return user(world, found) if found is not None else None


def _git_user(person: Person, at: int) -> dict[str, Any]:
    return {"name": person.name, "email": person.email, "date": iso(at)}


def _parent(world: "World", repo: Repository, sha: str) -> dict[str, str]:
    return {
        "sha": sha,
        "url": f"{world.api_url}/repos/{repo.full_name}/commits/{sha}",
        "html_url": f"{world.web_url}/{repo.full_name}/commit/{sha}",
    }
