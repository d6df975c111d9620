"""The change of a run as it was kept and handed over: its diff, the suggestions that say it, what people see of it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from app.ledger import diagnoses, evidence, turns
from app.ledger.evidence import Store
from app.ledger.rows import Row
from app.ledger.words import EvidenceKind
from app.runs.model import ItemStatus, Role
from app.runs.view import FixView, PublicationView


def last_diff(conn: Connection, run_id: str) -> Row | None:
    """The evidence of the newest diff whose file is still there."""
    rows = [row for row in evidence.of_run(conn, run_id) if row.kind is EvidenceKind.DIFF and row.path]
    return rows[-1] if rows else None


def suggestions_in(diff: Row | None) -> Sequence[dict[str, Any]]:
    """What the review of mode `suggestions` holds: path, start, line, text."""
    found: Sequence[dict[str, Any]] = () if diff is None else (diff.meta_json or {}).get("suggestions", ())
    return found


def fix_view(conn: Connection, store: Store, run: Row) -> FixView | None:
    """The newest change: its diff in readable form, its size, and what the supervisor said of it."""
    newest = last_diff(conn, run.id)
    if newest is None:
        return None
    meta: dict[str, Any] = newest.meta_json or {}
    approvals = [v for v in turns.verdicts_of_run(conn, run.id) if v.decision == "approve" and v.step_id]
    work = [t for t in turns.of_run(conn, run.id) if t.role is Role.AGENT and t.status is ItemStatus.DONE]
    return FixView(
        diff=_readable(store.read(newest).decode("utf-8", "replace")),
        files=meta.get("files", 0),
        added=meta.get("added", 0),
        removed=meta.get("removed", 0),
        what_was_wrong=approvals[-1].feedback.partition("\n")[0] if approvals else "",
        approved_in_round=len(work) if approvals else 0,
        subject=meta.get("subject", ""),
        test_added=meta.get("test_added", 0),
        test_removed=meta.get("test_removed", 0),
    )


def _readable(diff: str) -> str:
    """The diff without the lines that only git reads."""
    return "".join(line for line in diff.splitlines(keepends=True) if not line.startswith(("index ", "diff --git ")))


def publication_view(conn: Connection, row: Row, run: Row, base: str) -> PublicationView:
    """How the fix was handed over, and what CI said about it."""
    red = set(row.red_jobs or ())
    before = {check["name"] for check in diagnoses.get(conn, run.diagnosis_id).check_runs or ()}
    return PublicationView(
        mode=row.mode.value,
        branch=row.branch,
        pushed_sha=row.pushed_sha or "",
        pull_number=row.pr_number,
        pull_url=None if row.pr_number is None else f"{base}/pull/{row.pr_number}",
        ci=None if row.ci is None else row.ci.value,
        places=tuple((one["path"], one["line"]) for one in suggestions_in(last_diff(conn, run.id))),
        red_jobs=tuple(row.red_jobs or ()),
        red_before=True if red <= before else None if red & before else False,
    )
