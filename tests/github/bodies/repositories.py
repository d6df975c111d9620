"""Repositories, branches and contents as JSON."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.github.bodies.commits import commit
from tests.github.bodies.people import node_id, user
from tests.github.core.clock import iso
from tests.github.core.gitstore import Entry
from tests.github.core.state import Repository

if TYPE_CHECKING:
    from tests.github.world import World

_LINKS = (
    *("contributors", "deployments", "downloads", "events", "forks", "hooks", "languages", "merges", "stargazers"),
    *("subscribers", "subscription", "tags", "teams"),
)
_TEMPLATES = {
    "archive_url": "{archive_format}{/ref}",
    "assignees_url": "assignees{/user}",
    "blobs_url": "git/blobs{/sha}",
    "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}",
    "comments_url": "comments{/number}",
    "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}",
    "contents_url": "contents/{+path}",
    "git_commits_url": "git/commits{/sha}",
    "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}",
    "issue_comment_url": "issues/comments{/number}",
    "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}",
    "keys_url": "keys{/key_id}",
    "labels_url": "labels{/name}",
    "milestones_url": "milestones{/number}",
    "notifications_url": "notifications{?since,all,participating}",
    "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}",
    "statuses_url": "statuses/{sha}",
    "trees_url": "git/trees{/sha}",
}
_OFF = (
    *("is_template", "has_pages", "has_discussions", "has_downloads", "disabled", "delete_branch_on_merge"),
    *("allow_auto_merge", "allow_update_branch", "use_squash_pr_title_as_default", "web_commit_signoff_required"),
)
_ON = ("has_projects", "has_wiki", "allow_merge_commit", "allow_squash_merge", "allow_rebase_merge", "allow_forking")
_ZERO = ("size", "stargazers_count", "stargazers", "watchers_count", "watchers", "network_count", "subscribers_count")


def repository(world: "World", repo: Repository, *, inner: bool = False) -> dict[str, Any]:
    """`inner` leaves the parent of a fork out."""
    url = f"{world.api_url}/repos/{repo.full_name}"
    page = f"{world.web_url}/{repo.full_name}"
    open_threads = sum(thread.state == "open" for thread in repo.threads.values())
    parent = repo.fork_of if not inner else None
    return {
        "id": repo.id,
        "node_id": node_id("R", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "visibility": "private" if repo.private else "public",
        "owner": user(world, repo.owner),
        "html_url": page,
        "url": url,
        "description": None,
        "fork": repo.fork_of is not None,
        "created_at": iso(repo.created_at),
        "updated_at": iso(repo.pushed_at),
        "pushed_at": iso(repo.pushed_at),
        "git_url": f"{page.replace('http', 'git', 1)}.git",
        "ssh_url": f"git@{world.web_url.split('//')[1]}:{repo.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "language": "Python",
        "license": None,
        "mirror_url": None,
        "has_issues": repo.has_issues,
        "archived": repo.archived,
        "default_branch": repo.default_branch,
        "master_branch": repo.default_branch,
        "forks": 0,
        "forks_count": 0,
        "open_issues": open_threads,
        "open_issues_count": open_threads,
        "topics": [],
        "custom_properties": {},
        "permissions": {"admin": False, "maintain": False, "push": True, "triage": True, "pull": True},
        "temp_clone_token": "",
        **dict.fromkeys(_OFF, False),
        **dict.fromkeys(_ON, True),
        **dict.fromkeys(_ZERO, 0),
        **{f"{name}_url": f"{url}/{name}" for name in _LINKS},
        **{name: f"{url}/{rest}" for name, rest in _TEMPLATES.items()},
        **({"parent": repository(world, parent, inner=True)} if parent is not None else {}),
        **({"source": repository(world, parent, inner=True)} if parent is not None else {}),
    }


def branch(world: "World", repo: Repository, name: str, sha: str) -> dict[str, Any]:
    url = f"{world.api_url}/repos/{repo.full_name}/branches/{quote(name, safe='')}"
    return {
        "name": name,
        "commit": commit(world, repo, repo.git.one(sha)),
        "_links": {"self": url, "html": f"{world.web_url}/{repo.full_name}/tree/{quote(name)}"},
        "protected": name in repo.protected,
        "protection": {"enabled": name in repo.protected},
        "protection_url": f"{url}/protection",
    }


def content_entry(world: "World", repo: Repository, entry: Entry, ref: str) -> dict[str, Any]:
    """One file or folder of a listing, without its content."""
    path = quote(entry.path)
    url = f"{world.api_url}/repos/{repo.full_name}/contents/{path}?ref={quote(ref)}"
    kind = {"tree": "dir", "commit": "submodule"}.get(entry.kind, "symlink" if entry.mode == "120000" else "file")
    git_url = f"{world.api_url}/repos/{repo.full_name}/git/{entry.kind}s/{entry.sha}"
    page = f"{world.web_url}/{repo.full_name}/{'tree' if kind == 'dir' else 'blob'}/{quote(ref)}/{path}"
    return {
        "type": kind,
        "size": entry.size,
        "name": entry.path.rsplit("/", 1)[-1],
        "path": entry.path,
        "sha": entry.sha,
        "url": url,
        "git_url": git_url,
        "html_url": page,
        "download_url": f"{world.web_url}/{repo.full_name}/raw/{quote(ref)}/{path}" if kind == "file" else None,
        "_links": {"self": url, "git": git_url, "html": page},
    }
