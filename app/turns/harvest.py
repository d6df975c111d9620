"""Take an agent's work out of its workspace as a patch, and make the host's own commit of it (PB-1, PF-1)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.briefs.case import Case
from app.render.publish import Commit, render_commit
from app.services import Services
from app.workspace.checkout import Mirror
from app.workspace.commits import Author, PatchRefused
from app.workspace.packs import packs_of
from app.workspace.patch import take_patch
from app.workspace.rooms import Room
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Workspace
from app.workspace.size import Size, size_of


@dataclass(frozen=True)
class Work:
    """What an agent turn left: a commit on `start`, or a `problem` that the proof will state."""

    commit: str
    tree: str
    diff: bytes
    size: Size
    problem: str = ""

    def as_json(self) -> Mapping[str, Any]:
        return {"commit": self.commit, "tree": self.tree, "problem": self.problem, "files": list(self.size.files)}


def harvest(s: Services, case: Case, mirror: Mirror, room: Room, start: tuple[str, str], summary: str) -> Work:
    """The work of the turn as a commit. `start` is (commit, tree that stood in the workspace)."""
    commit_sha, tree = start
    return committed(s, case, mirror, commit_sha, asyncio.run(_take(s, case, mirror, room, tree)), summary)


def committed(
    s: Services, case: Case, mirror: Mirror, commit_sha: str, patch: bytes | PatchRefused, summary: str
) -> Work:
    """A patch as Remedy's own commit on `commit_sha`, wherever the agent worked."""
    if isinstance(patch, PatchRefused):
        return _nothing(mirror, commit_sha, patch.reason)
    message = render_commit(
        Commit(
            summary=summary,
            run_id=case.run.id,
            round=case.step.attempts if case.step is not None else 1,
            tests=tuple(row.test_id for row in case.failures),
        ),
        s.redactor,
    )
    made = mirror.commit(commit_sha, patch, message, {}, Author(at_s=case.run.created_at // 1000))
    if isinstance(made, PatchRefused):
        return _nothing(mirror, commit_sha, made.reason)
    packs_of(s.settings.data, case.run.id).keep(mirror, made.sha, commit_sha)
    diff = mirror.diff(commit_sha, made.sha)
    return Work(made.sha, made.tree, diff, size_of(diff))


async def _take(s: Services, case: Case, mirror: Mirror, room: Room, tree: str) -> bytes | PatchRefused:
    sandbox = await choose(s.settings, case.repository.full_name, case.scope.is_fork)
    place = Workspace(room.path / "workspace", room.uid)
    return await take_patch(sandbox, mirror, place, tree)


def _nothing(mirror: Mirror, commit_sha: str, reason: str) -> Work:
    return Work("", mirror.tree_of(commit_sha), b"", Size((), 0, 0), reason)
