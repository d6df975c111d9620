"""The App was installed, suspended or removed: what it may reach changes, and work there ends (GH-8, T24)."""

from collections.abc import Sequence

from sqlalchemy import Connection

from app.events.handlers.outcome import Heard
from app.events.payloads import InstallationEvent, InstallationRepositoriesEvent
from app.events.payloads.parts import RepositoryRef
from app.ledger import onboarding, repos, runs, transitions
from app.runs.facts import Ended
from app.services import Services


def on_installation(s: Services, event: InstallationEvent, guid: str) -> Heard:
    """Keep its account and whether it may still be used."""
    now, installation = s.clock(), event.installation
    account = installation.account.login if installation.account is not None else ""
    with s.write() as conn:
        repos.upsert_installation(conn, installation.id, account)
        if event.action == "created":
            for repository in event.repositories:
                repos.restore_repository(conn, repository.id, installation.id)
            return _greet(s, conn, installation.id, event.repositories, now)
        if event.action == "deleted":
            for run in runs.active_of_installation(conn, installation.id):
                transitions.apply(conn, run.id, Ended("installation_gone", hard=True), s.settings, now)
            repos.remove_installation(conn, installation.id, now)
        elif event.action == "suspend":
            repos.suspend_installation(conn, installation.id, now)
        elif event.action == "unsuspend":
            repos.suspend_installation(conn, installation.id, None)
    return Heard()


def _greet(s: Services, conn: Connection, installation_id: int, found: Sequence[RepositoryRef], now: int) -> Heard:
    """Know what the App may reach now, and propose the policy file in the first few of them (onboarding)."""
    if not s.settings.onboarding:
        return Heard()
    present = [
        repos.upsert_repository(conn, one.id, installation_id, one.full_name or "", "", bool(one.private))
        for one in found
        if one.full_name and repos.get_repository(conn, one.id) is None
    ]
    asked = onboarding.propose_some(conn, installation_id, [row.id for row in present], now)
    return Heard(rings=(("deliver", str(installation_id)),)) if asked else Heard()


def on_installation_repositories(s: Services, event: InstallationRepositoriesEvent, guid: str) -> Heard:
    """Repositories came or went; a run of one that went ends."""
    now, installation = s.clock(), event.installation
    account = installation.account.login if installation.account is not None else ""
    with s.write() as conn:
        repos.upsert_installation(conn, installation.id, account)
        for repository in event.repositories_added:
            repos.restore_repository(conn, repository.id, event.installation.id)
        for repository in event.repositories_removed:
            _end_runs(s, conn, event.installation.id, repository.id, now)
            repos.remove_repository(conn, repository.id, event.installation.id, now)
        return _greet(s, conn, event.installation.id, event.repositories_added, now)


def _end_runs(s: Services, conn: Connection, installation_id: int, repository_id: int, now: int) -> None:
    for run in runs.active_of_installation(conn, installation_id):
        if run.repository_id == repository_id:
            transitions.apply(conn, run.id, Ended("installation_gone", hard=True), s.settings, now)
