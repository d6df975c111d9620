"""What runs code: the sandbox as measured, the tools for tests, the agents."""

import asyncio
from contextlib import suppress
from typing import Literal

from sqlalchemy.exc import ArgumentError, DBAPIError

from app.doctor.model import Found
from app.integrity.selftest import problem_of_gate
from app.ledger.engine import open_engine, read
from app.ledger.plugins import usable
from app.plugins.listing import registry_of
from app.runners.codes import RunnerError
from app.settings import Settings
from app.workspace.sandbox.choose import measure
from app.workspace.sandbox.model import Tier
from app.workspace.sandbox.probe import PROMISED, Report
from app.workspace.warm import FRAMEWORK, warm

NAMESPACES = "let programs make user namespaces (docs/install.md, The sandbox)"


def sandbox(settings: Settings) -> Found:
    """SX-7: each promise was tried on this machine, and it is enough."""

    async def reports() -> list[Report]:
        return [report async for _, report in measure(settings)]

    minimum = Tier[settings.sandbox.minimum]
    measured = asyncio.run(reports())
    best = max(measured, key=lambda report: report.tier or Tier.NONE)
    if best.tier is not None and best.tier >= minimum:
        kept = f"{sum(answer == 'blocked' for answer in best.answers.values())} of {len(PROMISED)} attempts blocked"
        return Found("passed", f"{best.backend} {best.program}, {kept}, tier {best.tier.name} (minimum {minimum.name})")
    told = "; ".join(dict.fromkeys(f"{r.backend}: {_short(r.problem) or (r.tier or Tier.NONE).name}" for r in measured))
    cure = (
        NAMESPACES
        if "namespace" in told or "uid map" in told
        else "install bubblewrap (Debian: apt install bubblewrap)"
    )
    excepted = ", ".join(settings.sandbox.i_accept_no_isolation)
    if excepted:
        return Found("warning", f"{told}; without isolation: {excepted}", f"{cure}, then drop the exception")
    return Found("failed", f"{told}; nothing will be run", cure)


def _short(problem: str) -> str:
    """Without the program's own name, its links and its advice."""
    return problem.removeprefix("bwrap: ").split(". See <")[0].split(". On e.g.")[0][:200]


def test_tools(settings: Settings) -> Found:
    """A proof needs a Python with the tests' framework that the sandbox can run."""
    told = warm(settings)
    if f"with {FRAMEWORK}" in told and "no python3" not in told:
        return Found("passed", told.rpartition("; ")[2])
    if told.startswith("No sandbox"):
        return Found("not checked", "no sandbox to run them in")
    return Found("failed", told, f"set REMEDY_PROOF_TOOLS to an environment with {FRAMEWORK}")


def proof(settings: Settings) -> Found:
    """PV-7: the gate allows a known good fix and blocks a known bad one."""
    problem = problem_of_gate()
    if problem:
        return Found("failed", problem, "tell us of it; nothing is proven until then")
    return Found("passed", "a known good fix is allowed, a known bad one blocked")


def agent(settings: Settings) -> Found:
    """Who repairs."""
    return _runner(settings, "agent")


def supervisor(settings: Settings) -> Found:
    """Who judges."""
    return _runner(settings, "supervisor")


def _installed(settings: Settings) -> list[str]:
    """Digests from the ledger; none where there is no database: another row says that."""
    with suppress(DBAPIError, ArgumentError):
        engine = open_engine(settings.database)
        with read(engine) as conn:
            found = usable(conn)
        engine.dispose()
        return found
    return []


def _runner(settings: Settings, role: Literal["agent", "supervisor"]) -> Found:
    wanted = settings.agent if role == "agent" else settings.supervisor
    variable = f"REMEDY_{role.upper()}"
    if not wanted:
        return Found("failed", f"{variable} is not set", f"set {variable} to an id that `remedy runners` lists")
    found = registry_of(settings, _installed(settings)).find(wanted, role)
    if isinstance(found, RunnerError):
        cure = f"`remedy runners` lists what is there; install one (`remedy runners install`) or correct {variable}"
        return Found("failed", found.message, cure)
    told = f"{found.id} {found.manifest.metadata.version}"
    if role == "supervisor" and settings.self_repair and "self_repair" not in found.usages:
        cure = "add self_repair to `usages` of its runner.yaml, or set REMEDY_SELF_REPAIR=false"
        return Found("warning", f"{told} does not offer self_repair: runs that stop will not be looked at", cure)
    return Found("passed", told)
