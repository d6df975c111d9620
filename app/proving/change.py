"""The change that a proof is about: the last agent turn's commit, or the whole fix on a head that moved (T39)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger import runs, transitions
from app.ledger.rows import Row
from app.render.publish import Commit, render_commit
from app.services import Services
from app.workspace.checkout import Mirror
from app.workspace.commits import Author, PatchRefused


@dataclass(frozen=True)
class Change:
    """A commit and its tree, or `problem`: why there is nothing to prove. `title` is the pull request's."""

    commit: str
    tree: str
    problem: str = ""
    title: str = ""


def change_of(s: Services, conn: Connection, mirror: Mirror, proof: Row, run: Row) -> Change:
    """What is proved. A whole fix is put on the new head in one commit, the same one however often it is asked for."""
    if proof.kind.value == "step":
        left = transitions.last_work(conn, run.id, proof.step_id)
        problem = str(left.get("problem") or ("" if proof.commit_sha else "no change was made"))
        return Change(proof.commit_sha, proof.tree, problem)
    accepted = transitions.accepted_proof(conn, run.id)
    if accepted is None:
        return Change("", "", "there is no proven fix")
    patch = mirror.diff(accepted.head_sha, accepted.commit_sha)
    tests = [row.title for row in runs.steps_of(conn, run.id)]
    message = render_commit(Commit("repair the failing tests", run.id, 1, tuple(tests)), s.redactor)
    made = mirror.commit(proof.head_sha, patch, message, {}, Author(at_s=run.created_at // 1000))
    if isinstance(made, PatchRefused):
        return Change("", "", f"the fix does not apply to the new commit: {made.reason}")
    return Change(made.sha, made.tree)
