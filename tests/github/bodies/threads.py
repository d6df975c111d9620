"""Issues, pull requests, comments, reviews and reactions as JSON."""

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.github.bodies.people import app, node_id, user
from tests.github.bodies.repositories import repository
from tests.github.core.clock import iso
from tests.github.core.state import Comment, Label, Pull, Reaction, Repository, Review, ReviewComment, Thread, User

if TYPE_CHECKING:
    from tests.github.world import World

_CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
_NO_SUB_ISSUES = {"total": 0, "completed": 0, "percent_completed": 0}
_NO_DEPENDENCIES = {"blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0}


def label(world: "World", repo: Repository, found: Label) -> dict[str, Any]:
    return {
        "id": found.id,
        "node_id": node_id("LA", found.id),
        "url": f"{world.api_url}/repos/{repo.full_name}/labels/{quote(found.name, safe='')}",
        "name": found.name,
        "description": found.description,
        "color": found.color,
        "default": False,
    }


def issue(world: "World", thread: Thread) -> dict[str, Any]:
    """An issue; a pull request in the same clothes carries `pull_request`."""
    repo = thread.repository
    url = f"{world.api_url}/repos/{repo.full_name}/issues/{thread.number}"
    return {
        "id": thread.id,
        "node_id": node_id("I", thread.id),
        "url": url,
        "repository_url": f"{world.api_url}/repos/{repo.full_name}",
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page_of(world, thread),
        "number": thread.number,
        "state": thread.state,
        "state_reason": thread.state_reason,
        "title": thread.title,
        "body": thread.body,
        "user": user(world, thread.user),
        "labels": [label(world, repo, found) for found in thread.labels],
        "assignee": user(world, thread.assignees[0]) if thread.assignees else None,
        "assignees": [user(world, who) for who in thread.assignees],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": len(thread.comments),
        "created_at": iso(thread.created_at),
        "updated_at": iso(thread.updated_at),
        "closed_at": iso(thread.closed_at),
        "closed_by": user(world, thread.closed_by) if thread.closed_by is not None else None,
        "author_association": association(repo, thread.user),
        "performed_via_github_app": app(world, thread.app) if thread.app is not None else None,
        "reactions": rollup(f"{url}/reactions", thread.reactions),
        "sub_issues_summary": dict(_NO_SUB_ISSUES),
        "issue_dependencies_summary": dict(_NO_DEPENDENCIES),
        **(_pull_links(world, thread.pull) if thread.pull is not None else {}),
    }


def pull(world: "World", found: Pull) -> dict[str, Any]:
    """A pull request with everything; lists are cut to the shorter form by the description."""
    thread, repo = found.thread, found.repository
    url = f"{world.api_url}/repos/{repo.full_name}/pulls/{found.number}"
    same = issue(world, thread)
    page = same["html_url"]
    keys = (
        *("number", "state", "title", "body", "user", "labels", "assignee", "assignees", "milestone", "locked"),
        *("active_lock_reason", "comments", "created_at", "updated_at", "closed_at", "author_association"),
    )
    links = {
        "self": url,
        "html": page,
        "issue": same["url"],
        "comments": same["comments_url"],
        "review_comments": f"{url}/comments",
        "review_comment": f"{world.api_url}/repos/{repo.full_name}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{world.api_url}/repos/{repo.full_name}/statuses/{found.head_sha}",
    }
    return {
        **{key: same[key] for key in keys},
        "id": found.id,
        "node_id": node_id("PR", found.id),
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": same["url"],
        **{
            f"{name}_url": links[name]
            for name in ("comments", "review_comments", "review_comment", "commits", "statuses")
        },
        "_links": {name: {"href": href} for name, href in links.items()},
        "head": side(world, found.head_repository, found.head_ref, found.head_sha),
        "base": side(world, repo, found.base_ref, found.base_sha),
        "draft": found.draft,
        "auto_merge": None,
        "requested_reviewers": [],
        "requested_teams": [],
        "maintainer_can_modify": found.maintainer_can_modify,
        "merge_commit_sha": found.merge_commit_sha,
        "merged_at": iso(found.merged_at),
        "merged_by": user(world, found.merged_by) if found.merged_by is not None else None,
        "merged": found.merged_at is not None,
        "review_comments": len(found.review_comments),
        **_size(world, found),
    }


def pull_minimal(world: "World", found: Pull) -> dict[str, Any]:
    """As checks and workflow runs name a pull request."""

    def end(repo: Repository, ref: str, sha: str) -> dict[str, Any]:
        url = f"{world.api_url}/repos/{repo.full_name}"
        return {"ref": ref, "sha": sha, "repo": {"id": repo.id, "url": url, "name": repo.name}}

    return {
        "id": found.id,
        "number": found.number,
        "url": f"{world.api_url}/repos/{found.repository.full_name}/pulls/{found.number}",
        "head": end(found.head_repository, found.head_ref, found.head_sha),
        "base": end(found.repository, found.base_ref, found.base_sha),
    }


def comment(world: "World", found: Comment) -> dict[str, Any]:
    repo = found.thread.repository
    url = f"{world.api_url}/repos/{repo.full_name}/issues/comments/{found.id}"
    return {
        "id": found.id,
        "node_id": node_id("IC", found.id),
        "url": url,
        "html_url": f"{page_of(world, found.thread)}#issuecomment-{found.id}",
        "issue_url": f"{world.api_url}/repos/{repo.full_name}/issues/{found.thread.number}",
        "body": found.body,
        "user": user(world, found.user),
        "created_at": iso(found.created_at),
        "updated_at": iso(found.updated_at),
        "author_association": association(repo, found.user),
        "performed_via_github_app": app(world, found.app) if found.app is not None else None,
        "reactions": rollup(f"{url}/reactions", found.reactions),
        "minimized": None,
        "pin": None,
    }


def review(world: "World", found: Review, *, hook: bool = False) -> dict[str, Any]:
    """`state` is upper case in the API and lower case in webhooks."""
    page = f"{page_of(world, found.pull.thread)}#pullrequestreview-{found.id}"
    url = f"{world.api_url}/repos/{found.pull.repository.full_name}/pulls/{found.pull.number}"
    return {
        "id": found.id,
        "node_id": node_id("PRR", found.id),
        "user": user(world, found.user),
        "body": found.body,
        "state": found.state.lower() if hook else found.state.upper(),
        "html_url": page,
        "pull_request_url": url,
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "submitted_at": iso(found.submitted_at),
        "updated_at": iso(found.submitted_at),
        "commit_id": found.commit_id,
        "author_association": association(found.pull.repository, found.user),
    }


def review_comment(world: "World", found: ReviewComment) -> dict[str, Any]:
    repo = found.pull.repository
    url = f"{world.api_url}/repos/{repo.full_name}/pulls/comments/{found.id}"
    page = f"{page_of(world, found.pull.thread)}#discussion_r{found.id}"
    pull_url = f"{world.api_url}/repos/{repo.full_name}/pulls/{found.pull.number}"
    return {
        "id": found.id,
        "node_id": node_id("PRRC", found.id),
        "url": url,
        "html_url": page,
        "pull_request_url": pull_url,
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "pull_request_review_id": found.review.id,
        "diff_hunk": f"@@ -{found.line},1 +{found.line},1 @@",
        "path": found.path,
        "position": found.line,
        "original_position": found.line,
        "line": found.line,
        "original_line": found.line,
        "start_line": None,
        "original_start_line": None,
        "side": found.side,
        "start_side": None,
        "subject_type": "line",
        "commit_id": found.commit_id,
        "original_commit_id": found.commit_id,
        "user": user(world, found.user),
        "body": found.body,
        "created_at": iso(found.created_at),
        "updated_at": iso(found.updated_at),
        "author_association": association(repo, found.user),
        "reactions": rollup(f"{url}/reactions", found.reactions),
        **({"in_reply_to_id": found.reply_to} if found.reply_to is not None else {}),
    }


def reaction(world: "World", found: Reaction) -> dict[str, Any]:
    return {
        "id": found.id,
        "node_id": node_id("REA", found.id),
        "user": user(world, found.user),
        "content": found.content,
        "created_at": iso(found.created_at),
    }


def rollup(url: str, reactions: list[Reaction]) -> dict[str, Any]:
    counts = Counter(found.content for found in reactions)
    return {"url": url, "total_count": len(reactions), **{content: counts[content] for content in _CONTENTS}}


def page_of(world: "World", thread: Thread) -> str:
    kind = "pull" if thread.pull is not None else "issues"
    return f"{world.web_url}/{thread.repository.full_name}/{kind}/{thread.number}"


def association(repo: Repository, who: User) -> str:
    if who is repo.owner:
        return "OWNER"
    role = repo.collaborators.get(who.login)
    if role is None:
        return "NONE" if who.type == "Bot" else "CONTRIBUTOR"
    return "MEMBER" if repo.owner.type == "Organization" else "COLLABORATOR"


def side(world: "World", repo: Repository, ref: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{repo.owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(world, repo.owner),
        "repo": repository(world, repo, inner=True),
    }


def _pull_links(world: "World", found: Pull) -> dict[str, Any]:
    page = page_of(world, found.thread)
    links = {
        "url": f"{world.api_url}/repos/{found.repository.full_name}/pulls/{found.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": iso(found.merged_at),
    }
    return {"pull_request": links, "draft": found.draft}


def _size(world: "World", found: Pull) -> dict[str, Any]:
    """Counts of the diff, and whether it merges; a real GitHub works the latter out later and first says null."""
    git = found.repository.git
    start = git.merge_base(found.base_sha, found.head_sha) or found.base_sha
    changes = git.changes(start, found.head_sha)
    clean = found.state == "open" and git.merge_tree(found.base_sha, found.head_sha) is not None
    return {
        "commits": len(git.commits(f"{start}..{found.head_sha}")),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
        "mergeable": clean if found.state == "open" else None,
        "rebaseable": clean if found.state == "open" else None,
        "mergeable_state": ("clean" if clean else "dirty") if found.state == "open" else "unknown",
    }
