"""Pull requests. Merging is not served: Remedy never merges (PB-12), so a call of it must be seen as a bug."""

from typing import Any

from tests.github import bodies
from tests.github.acts import pulls, refs, threads
from tests.github.call import Call
from tests.github.core.gitstore import FileChange
from tests.github.core.messages import Answer, invalid, not_found
from tests.github.core.state import Pull

GROUP = "pulls"


def list(call: Call) -> Any:
    query = call.query
    state = query.get("state", "open")
    found = [
        pull
        for pull in call.repository.pulls
        if state in ("all", pull.state)
        and query.get("head") in (None, f"{pull.head_repository.owner.login}:{pull.head_ref}")
        and query.get("base") in (None, pull.base_ref)
    ]
    found.sort(key=lambda pull: pull.number, reverse=query.get("direction") != "asc")
    return call.page(found, lambda pull: bodies.pull(call.world, pull))


def get(call: Call) -> Any:
    return bodies.pull(call.world, call.pull)


def create(call: Call) -> Any:
    body = call.body
    proposal = pulls.Proposal(
        title=body.get("title") or body["head"],
        head=body["head"],
        base=body["base"],
        body=body.get("body"),
        draft=body.get("draft", False),
        maintainer_can_modify=body.get("maintainer_can_modify", False),
    )
    return bodies.pull(call.world, pulls.open_pull(call.world, call.repository, proposal, call.author))


def update(call: Call) -> Any:
    pull, body = call.pull, call.body
    changes = {key: body[key] for key in ("title", "body") if key in body}
    threads.edit(call.world, pull.thread, call.actor, **changes)
    if "base" in body:
        if call.repository.git.resolve(f"refs/heads/{body['base']}") is None:
            raise invalid("PullRequest", "base")
        refs.set_base(call.world, pull, body["base"], call.actor)
    if body.get("state") == "closed":
        threads.set_state(call.world, pull.thread, "closed", call.actor)
    elif body.get("state") == "open" and pull.state == "closed":
        pulls.reopen(call.world, pull, call.actor)
    return bodies.pull(call.world, pull)


def update_branch(call: Call) -> Any:
    expected = call.body.get("expected_head_sha")
    if expected not in (None, call.pull.head_sha):
        raise invalid("PullRequest", "expected_head_sha", message="expected_head_sha does not match current head")
    pulls.update_branch(call.world, call.pull, call.actor)
    url = bodies.pull(call.world, call.pull)["html_url"]
    return Answer(202, {"message": "Updating pull request branch.", "url": url})


def list_commits(call: Call) -> Any:
    git = call.repository.git
    found = git.commits(f"{_start(call.pull)}..{call.pull.head_sha}")[::-1]
    return call.page(found, lambda commit: bodies.commit(call.world, call.repository, commit))


def list_files(call: Call) -> Any:
    def body(change: FileChange) -> Any:
        return bodies.diff_entry(call.world, call.repository, change, call.pull.head_sha)

    return call.page(call.repository.git.changes(_start(call.pull), call.pull.head_sha), body)


def check_if_merged(call: Call) -> Any:
    if call.pull.merged_at is None:
        raise not_found()
    return Answer(204)


def _start(pull: Pull) -> str:
    return pull.repository.git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
