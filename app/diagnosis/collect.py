"""Which checks of a commit are red and which are still running."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.github import checks
from app.github.checks import CheckRun
from app.github.client import Client

RED = frozenset({"failure", "timed_out", "startup_failure"})
GREEN = "success"
HELD = "action_required"


@dataclass(frozen=True)
class Collected:
    """The checks of one head, our own left out; `held` wait for a maintainer's approval in GitHub."""

    failed: Sequence[CheckRun]
    running: Sequence[CheckRun]
    held: bool = False


def collect(client: Client, repo: str, sha: str, app_id: int) -> Collected:
    """All checks at `sha`, the newest of each name."""
    runs = [run for run in checks.find_check_runs(client, repo, sha) if not is_ours(run, app_id)]
    failed = [run for run in runs if run.status == "completed" and run.conclusion in RED]
    running = [run for run in runs if run.status != "completed"]
    held = any(run.conclusion == HELD for run in runs) if runs else _is_held(client, repo, sha)
    return Collected(sorted(failed, key=lambda run: run.id), running, held and not failed and not running)


def _is_held(client: Client, repo: str, sha: str) -> bool:
    """A workflow that waits for a person has a suite, and no check run yet (F-A11)."""
    return any(suite.conclusion == HELD for suite in checks.find_check_suites(client, repo, sha))


def is_ours(run: CheckRun, app_id: int) -> bool:
    """Whether our own app made this check (IT-7)."""
    return run.app is not None and run.app.id == app_id
