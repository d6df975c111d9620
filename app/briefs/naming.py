"""How the work of a step is called outside: title, tags, and for a remote agent the tag and branch that are its own."""

import hashlib
from typing import Any

from app.briefs.case import Case
from app.ledger.rows import Row
from app.ledger.rules import policy_of


def title_of(total: int, tag: str) -> str:
    """A14."""
    return f"Fix {total} failing test(s) [{tag}]"


def tags_of(repository: Row | None, tag: str) -> tuple[str, ...]:
    """The policy's tags, and last the one of the failing tests (A15)."""
    policy: dict[str, Any] = {} if repository is None else policy_of(repository)
    return (*(str(one) for one in policy.get("tags") or ()), tag)


def key_of(case: Case) -> str:
    """The tag of a remote conversation: of this repository, failing tests, run and step, and of nothing else (G7)."""
    parts = "\n".join((case.repository.full_name, case.run.dedup_tag, case.run.id, case.turn.step_id or ""))
    return f"remedy-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def branch_of(case: Case) -> str:
    """Where a remote agent puts its work; it is a proposal, and nothing is published from it (RN-60)."""
    return f"remedy-agent/{key_of(case).removeprefix('remedy-')}"
