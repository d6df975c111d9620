"""Refs and git objects."""

import base64
from typing import Any

from tests.github.acts import refs
from tests.github.bodies.commits import git_commit
from tests.github.bodies.people import node_id
from tests.github.call import Call
from tests.github.core.gitstore import NO_SHA, GitFailed
from tests.github.core.messages import Answer, Refused, not_found

GROUP = "git"


def get_ref(call: Call) -> Any:
    name = f"refs/{call.params['ref']}"
    found = call.repository.git.refs(name)
    if name not in found:
        raise not_found()
    return _body(call, name, found[name])


def list_matching_refs(call: Call) -> Any:
    wanted = f"refs/{call.params['ref']}"
    found = [(name, sha) for name, sha in call.repository.git.refs("refs/").items() if name.startswith(wanted)]
    return call.page(found, lambda ref: _body(call, *ref))


def create_ref(call: Call) -> Any:
    name, sha = call.body["ref"], call.body["sha"]
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refused(422, "Reference name must start with 'refs/' and contain at least two slashes")
    if call.repository.git.resolve(sha) != sha:
        raise Refused(422, "Object does not exist")
    if name in call.repository.git.refs(name):
        raise Refused(422, "Reference already exists")
    _move(call, name, NO_SHA, sha)
    return _body(call, name, sha)


def update_ref(call: Call) -> Any:
    name, sha = f"refs/{call.params['ref']}", call.body["sha"]
    old = call.repository.git.refs(name).get(name)
    if old is None or call.repository.git.resolve(sha) != sha:
        raise Refused(422, "Reference does not exist" if old is None else "Object does not exist")
    if not call.body.get("force") and not call.repository.git.is_ancestor(old, sha):
        raise Refused(422, "Update is not a fast forward")
    _move(call, name, old, sha)
    return _body(call, name, sha)


def delete_ref(call: Call) -> Any:
    name = f"refs/{call.params['ref']}"
    old = call.repository.git.refs(name).get(name)
    if old is None:
        raise Refused(422, "Reference does not exist")
    _move(call, name, old, NO_SHA)
    return Answer(204)


def get_commit(call: Call) -> Any:
    return git_commit(call.world, call.repository, call.repository.git.one(call.sha(call.params["commit_sha"])))


def get_tree(call: Call) -> Any:
    url = f"{call.world.api_url}/repos/{call.repository.full_name}/git"
    sha = call.params["tree_sha"]
    recursive = bool(call.query.get("recursive"))
    found = call.repository.git.entries(sha, recursive=recursive)
    if not found:
        raise not_found()
    tree = [
        {
            "path": entry.path,
            "mode": entry.mode,
            "type": entry.kind,
            "sha": entry.sha,
            "url": f"{url}/{entry.kind}s/{entry.sha}",
            **({"size": entry.size} if entry.kind == "blob" else {}),
        }
        for entry in found
    ]
    return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": tree, "truncated": False}


def get_blob(call: Call) -> Any:
    sha = call.params["file_sha"]
    try:
        content = call.repository.git.blob(sha)
    except GitFailed as error:
        raise not_found() from error
    return {
        "sha": sha,
        "node_id": node_id("B", int(sha[:10], 16)),
        "size": len(content),
        "url": f"{call.world.api_url}/repos/{call.repository.full_name}/git/blobs/{sha}",
        "content": base64.encodebytes(content).decode(),
        "encoding": "base64",
    }


def _move(call: Call, name: str, old: str, new: str) -> None:
    call.repository.git.set_ref(name, None if new == NO_SHA else new)
    moved = refs.Moved(call.repository, name, old, new, call.actor, starts_ci=call.caller.kind != "actions")
    refs.ref_moved(call.world, moved)


def _body(call: Call, name: str, sha: str) -> Any:
    url = f"{call.world.api_url}/repos/{call.repository.full_name}/git"
    return {
        "ref": name,
        "node_id": node_id("REF", int(sha[:10], 16)),
        "url": f"{url}/{name}",
        "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
    }
