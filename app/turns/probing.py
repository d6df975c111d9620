"""Try a runner without a turn: in an empty room of the sandbox, greeted and ended; or one prompt for its operator."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from app.errors import TransientError, UserError
from app.runners.codes import RunnerFailure, text_of
from app.runners.kinds import is_followed, runner_for
from app.runners.mcp.remote import Remote
from app.runners.permissions import ROLE_GRANTS, Bounds, intersect
from app.runners.registry import RunnerSpec
from app.runners.runner import Ask, Readiness, RunnerEvent, SessionSpec, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.settings import Settings
from app.turns.reach import shown_to, with_models, with_tools
from app.turns.tools.doing import rehearsal
from app.turns.tools.serve import tool_server
from app.workspace.launcher import Launcher
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Limits, Tier, Workspace

PROBE_S = 90
REHEARSAL = "rehearsal"


def probe(settings: Settings, spec: RunnerSpec, wall_s: float = PROBE_S) -> Readiness:
    """Is it usable here and now; never raises for what a runner or a sandbox does (D5: bounded)."""
    try:
        if is_followed(spec):
            return asyncio.run(asyncio.wait_for(Remote(spec).ready(), wall_s))
        with empty_room(settings) as room:
            return asyncio.run(_probe(settings, spec, room, wall_s))
    except (UserError, TransientError, OSError) as error:  # TimeoutError is one
        return Readiness(False, problems=(text_of(error),))


async def _probe(settings: Settings, spec: RunnerSpec, room: Room, wall_s: float) -> Readiness:
    launcher, ready_spec = await launcher_in(settings, spec, room, wall_s)
    if spec.manifest.spec.requires.strong_sandbox and launcher.tier < Tier.STRONG:
        return Readiness(False, problems=(f"{spec.id} is run only where the sandbox is STRONG",))
    try:
        runner = runner_for(ready_spec, launcher)
    except RunnerFailure as stopped:
        return Readiness(False, problems=(stopped.error.message,))
    try:
        return await asyncio.wait_for(runner.ready(), wall_s)
    except TimeoutError:
        return Readiness(False, problems=(f"{spec.id}: no answer within {wall_s:g} seconds",))
    finally:
        await runner.close()


def rehearse(settings: Settings, spec: RunnerSpec, text: str, wall_s: float) -> tuple[TurnResult, list[RunnerEvent]]:
    """One prompt in an empty room, with tools that have no effect (D11, D18). Raises UserError without a sandbox."""
    events: list[RunnerEvent] = []
    with empty_room(settings) as room:
        return asyncio.run(
            _rehearse(settings, spec, room, Ask(REHEARSAL, text, "", monotonic() + wall_s), events)
        ), events


async def _rehearse(
    settings: Settings, spec: RunnerSpec, room: Room, ask: Ask, events: list[RunnerEvent]
) -> TurnResult:
    wall_s = ask.deadline - monotonic()
    launcher, spec = await launcher_in(settings, spec, room, wall_s)
    bounds = Bounds(intersect(spec.manifest.spec.permissions.grant(), ROLE_GRANTS[Role.AGENT]), Role.AGENT)
    box = rehearsal(bounds.grant.host_tools, events.append)
    launcher, tools = with_tools(launcher, tool_server(box, spec, REHEARSAL, wall_s, lambda: False))
    session = SessionSpec(room.path / "workspace", launcher.cwd, bounds, config=spec.config, tools=tools)
    try:
        runner = runner_for(spec, launcher)
    except RunnerFailure as stopped:
        return TurnResult(error=stopped.error)
    return await drive_turn(runner, session, None, ask, None, events.append)


async def launcher_in(settings: Settings, spec: RunnerSpec, room: Room, wall_s: float) -> tuple[Launcher, RunnerSpec]:
    """A launcher for a room that holds nothing of anybody; raises UserError when no sandbox may be used.

    Where the operator runs a repository without isolation, runners are tried so, too.
    """
    accepted = next(iter(settings.sandbox.i_accept_no_isolation), "")
    sandbox = await choose(settings, accepted)
    place = Workspace(room.path / "workspace", room.uid, binds=shown_to(spec), home=room.folder("home"))
    return with_models(Launcher(sandbox, place, Limits.for_agents(wall_s), "probe"), spec, settings.models)


@contextmanager
def empty_room(settings: Settings) -> Iterator[Room]:
    """A room with an empty workspace that is gone afterwards."""
    with Rooms.of(settings).scratch() as room:
        room.folder("workspace")
        yield room
