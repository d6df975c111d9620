"""Which checks of a commit are red and which are still running; and what the same checks said on the base."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.failures.blame import Colour
from app.github import checks
from app.github.checks import CheckRun
from app.github.client import Client

RED = frozenset({"failure", "timed_out", "startup_failure"})
GREEN = "success"


@dataclass(frozen=True)
class Collected:
    """The checks of one head, our own left out; `held` wait for a maintainer's approval in GitHub."""

    failed: Sequence[CheckRun]
    running: Sequence[CheckRun]
    held: bool = False


def collect(client: Client, repo: str, sha: str, app_id: int) -> Collected:
    """All checks at `sha`, the newest of each name."""
    runs = [run for run in checks.find_check_runs(client, repo, sha) if run.app is None or run.app.id != app_id]
    failed = [run for run in runs if run.status == "completed" and run.conclusion in RED]
    running = [run for run in runs if run.status != "completed"]
    held = not failed and not running and any(run.conclusion == "action_required" for run in runs)
    return Collected(sorted(failed, key=lambda run: run.id), running, held)


def colours(client: Client, repo: str, sha: str, names: Sequence[str], app_id: int) -> Mapping[str, Colour]:
    """What the checks of these names said at a commit of the base; `missing` where they did not run to an end.

    A red check there is `missing` too: that the same test failed is not known from its colour (BL-14).
    """
    if not sha:
        return dict.fromkeys(names, "missing")
    seen = {run.name: run for run in checks.find_check_runs(client, repo, sha) if not _ours(run, app_id)}
    return {name: "green" if name in seen and seen[name].conclusion == GREEN else "missing" for name in names}


def _ours(run: CheckRun, app_id: int) -> bool:
    return run.app is not None and run.app.id == app_id
