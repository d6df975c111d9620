"""Bring a remote agent's work in: its branch, or its pull request, becomes a patch like any other agent's (RN-60)."""

import re

from app.briefs.case import Case
from app.github.tokens import Purpose
from app.runners.runner import TurnResult
from app.runs.verdicts import AgentResult
from app.services import Services
from app.turns import places
from app.turns.harvest import Work, committed
from app.workspace.checkout import Mirror
from app.workspace.commits import PatchRefused
from app.workspace.git import GitTooMuch


def bring(s: Services, case: Case, branch: str, result: TurnResult) -> Work:
    """The work as Remedy's own commit. Nothing of the agent's history is used, and nothing of it is ever merged.

    Raises TransientError when GitHub cannot be reached; the session is then looked at again.
    """
    refs = (f"refs/heads/{branch}", *_pull_refs(s, case, result.pulls))
    with s.connect(case.run.installation_id) as github:
        client = github.acting(Purpose.READ, case.repository.id)
        mirror = places.fetch(s, client, case.run, case.repository, (case.run.head_sha, case.run.base_sha))
        token = client.token(Purpose.CLONE, case.repository.id)
        found = mirror.fetch(places.address(s, case.repository.full_name), token, refs)
    sha = next((found[ref] for ref in refs if ref in found), "")
    patch = _patch(mirror, case.run.head_sha, sha) if sha else PatchRefused(_missing(branch, result))
    said = result.value.summary_markdown if isinstance(result.value, AgentResult) else ""
    return committed(s, case, mirror, places.start_of(case), patch, said.strip().partition("\n")[0])


def _pull_refs(s: Services, case: Case, pulls: tuple[str, ...]) -> list[str]:
    """Heads of the pull requests that the agent names, as far as they are of this very repository."""
    ours = re.escape(f"{s.settings.github.web_url.rstrip('/')}/{case.repository.full_name}/pull/")
    numbers = [re.fullmatch(rf"{ours}(\d{{1,9}})/?", address, re.IGNORECASE) for address in pulls]
    return [f"refs/pull/{number[1]}/head" for number in numbers if number is not None]


def _patch(mirror: Mirror, head: str, sha: str) -> bytes | PatchRefused:
    """What the agent changed since it left the run's head, whatever it committed, merged or rewrote on the way."""
    base = mirror.merge_base(head, sha)
    if base is None:
        return PatchRefused("the remote agent's branch has no history in common with this pull request")
    try:
        return mirror.diff(base, sha)
    except GitTooMuch:
        return PatchRefused("the remote agent's change is too large to be read")


def _missing(branch: str, result: TurnResult) -> str:
    elsewhere = ", and its pull request is in another repository" if result.pulls else ""
    return f"the remote agent left no branch {branch}{elsewhere}"
