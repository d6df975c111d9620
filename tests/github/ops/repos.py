"""Repositories: contents, branches, commits, comparison, who may do what."""

import base64
from typing import Any

from tests.github import bodies
from tests.github.acts import pulls, refs
from tests.github.call import Call
from tests.github.core.messages import Answer, Refused, not_found
from tests.github.core.state import Repository, User

GROUP = "repos"
CONTENT_LIMIT = 1024 * 1024
# maintain reads as write, triage as read (github.md D-20).
_PERMISSION = {"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}


def get(call: Call) -> Any:
    return bodies.repository(call.world, call.repository)


def get_content(call: Call) -> Any:
    ref = call.query.get("ref", call.repository.default_branch)
    sha, path, git = call.sha(ref), call.params["path"].strip("/"), call.repository.git
    entry = git.entry(sha, path)
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        return [bodies.content_entry(call.world, call.repository, one, ref) for one in git.entries(sha, path)]
    body = bodies.content_entry(call.world, call.repository, entry, ref)
    if entry.kind == "commit":
        return {**body, "submodule_git_url": None}
    content = git.blob(entry.sha)
    if "raw" in (call.request.header("accept") or ""):
        return Answer(200, content, {"Content-Type": "application/vnd.github.raw; charset=utf-8"})
    if len(content) > CONTENT_LIMIT:
        return {**body, "encoding": "none", "content": ""}
    return {**body, "encoding": "base64", "content": base64.encodebytes(content).decode()}


def create_or_update_file_contents(call: Call) -> Any:
    """One file on a branch, as one commit by the app; `sha` must be that of the file it replaces."""
    git, path = call.repository.git, call.params["path"].strip("/")
    branch = call.body.get("branch") or call.repository.default_branch
    parent = git.refs().get(f"refs/heads/{branch}")
    if parent is None:
        raise Refused(404, f"Branch {branch} not found")
    entry = git.entry(parent, path)
    if (entry.sha if entry is not None else None) != call.body.get("sha"):
        raise Refused(409 if call.body.get("sha") else 422, f'{path} does not match, or "sha" wasn\'t supplied.')
    if path.startswith(".github/workflows/"):
        raise Refused(403, "Resource not accessible by integration")
    content = base64.b64decode(call.body["content"])
    new = pulls.new_commit(call.world, call.body["message"], call.actor)
    sha = git.commit(branch, parent, {path: content}, new)
    refs.ref_moved(call.world, refs.Moved(call.repository, f"refs/heads/{branch}", parent, sha, call.actor))
    made = git.entry(sha, path)
    assert made is not None
    body = bodies.content_entry(call.world, call.repository, made, branch)
    return Answer(200 if entry is not None else 201, {"content": body, "commit": {"sha": sha}})


def get_branch(call: Call) -> Any:
    name = call.params["branch"]
    sha = call.repository.git.refs().get(f"refs/heads/{name}")
    if sha is None:
        raise Refused(404, "Branch not found")
    return bodies.branch(call.world, call.repository, name, sha)


def list_branches(call: Call) -> Any:
    found = [(ref.removeprefix("refs/heads/"), sha) for ref, sha in call.repository.git.refs().items()]
    return call.page(found, lambda ref: bodies.branch(call.world, call.repository, *ref))


def get_branch_rules(call: Call) -> Any:
    return call.page([], lambda rule: rule)


def get_commit(call: Call) -> Any:
    git = call.repository.git
    found = git.one(call.sha(call.params["ref"]))
    parent = found.parents[0] if found.parents else None
    changes = git.changes(parent, found.sha) if parent is not None else []
    added, gone = sum(change.additions for change in changes), sum(change.deletions for change in changes)
    return {
        **bodies.commit(call.world, call.repository, found),
        "stats": {"additions": added, "deletions": gone, "total": added + gone},
        "files": [bodies.diff_entry(call.world, call.repository, change, found.sha) for change in changes],
    }


def list_commits(call: Call) -> Any:
    sha = call.sha(call.query.get("sha", call.repository.default_branch))
    found = call.repository.git.commits(sha, 1000)
    return call.page(found, lambda commit: bodies.commit(call.world, call.repository, commit))


def compare_commits_with_basehead(call: Call) -> Any:
    base_name, dots, head_name = call.params["basehead"].partition("...")
    if not dots:
        raise not_found()
    git, repo, world = call.repository.git, call.repository, call.world
    base, head = call.sha(base_name.rpartition(":")[2]), call.sha(head_name.rpartition(":")[2])
    start = git.merge_base(base, head)
    if start is None:
        raise Refused(404, f"No common ancestor between {base_name} and {head_name}.")
    ahead, behind = git.commits(f"{base}..{head}"), git.commits(f"{head}..{base}")
    status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
    page = f"{world.web_url}/{repo.full_name}/compare/{base_name}...{head_name}"
    return {
        "url": f"{world.api_url}/repos/{repo.full_name}/compare/{base}...{head}",
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": bodies.commit(world, repo, git.one(base)),
        "merge_base_commit": bodies.commit(world, repo, git.one(start)),
        "status": status.get((bool(ahead), bool(behind)), "diverged"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [bodies.commit(world, repo, found) for found in reversed(ahead)],
        "files": [bodies.diff_entry(world, repo, change, head) for change in git.changes(start, head)],
    }


def list_pull_requests_associated_with_commit(call: Call) -> Any:
    """Open pull requests that hold the commit, and merged ones that brought it; none is normal (F-C11)."""
    sha, git = call.sha(call.params["commit_sha"]), call.repository.git
    found = [
        pull
        for pull in call.repository.pulls
        if (pull.state == "open" or pull.merged_at is not None)
        and git.is_ancestor(sha, pull.head_sha)
        and (pull.head_sha == sha or not git.is_ancestor(sha, pull.base_sha))
    ]
    return call.page(found, lambda pull: bodies.pull(call.world, pull))


def get_collaborator_permission_level(call: Call) -> Any:
    who = call.world.state.users.get(call.params["username"])
    if who is None:
        raise not_found()
    role = role_of(call.repository, who)
    permission = _PERMISSION.get(role, "none")
    user = {**bodies.user(call.world, who), "role_name": role, "permissions": _flags(permission)}
    return {"permission": permission, "role_name": role, "user": user}


def get_combined_status_for_ref(call: Call) -> Any:
    sha = call.sha(call.params["ref"])
    url = f"{call.world.api_url}/repos/{call.repository.full_name}/commits/{sha}"
    return {
        "state": "pending",
        "statuses": [],
        "sha": sha,
        "total_count": 0,
        "repository": bodies.repository(call.world, call.repository, inner=True),
        "commit_url": url,
        "url": f"{url}/status",
    }


def role_of(repository: Repository, who: User) -> str:
    """The role by name; on a public repository everybody reads (F-U2)."""
    if who is repository.owner:
        return "admin"
    return repository.collaborators.get(who.login) or ("none" if repository.private else "read")


def _flags(permission: str) -> dict[str, bool]:
    rank = ("none", "read", "write", "admin").index(permission)
    names = {"pull": 1, "triage": 2, "push": 2, "maintain": 3, "admin": 3}
    return {name: rank >= least for name, least in names.items()}
