"""Drive one agent process through one turn, and stop it at once when the turn is cancelled or its lease is lost."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from app.errors import UserError
from app.redact import Redactor
from app.runners.codes import Code, RunnerError, RunnerFailure
from app.runners.kinds import runner_for
from app.runners.permissions import Bounds
from app.runners.registry import RunnerSpec
from app.runners.runner import Ask, SessionRef, SessionSpec, Sink, TurnResult
from app.runners.turn import drive_turn
from app.runs.model import Role
from app.settings import Settings
from app.telemetry import known_secrets
from app.turns.reach import shown_to, with_models, with_tools
from app.turns.tools.serve import ToolServer
from app.turns.turn_log import TurnLog
from app.watched import Stopped, while_ours
from app.workspace.launcher import Launcher
from app.workspace.rooms import Room
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Limits, Tier, Workspace


@dataclass(frozen=True)
class Seat:
    """Where a turn works: the repository's name, its room, whether the files are frozen, and for how long."""

    repository: str
    is_fork: bool
    room: Room
    wall_s: float
    turn_id: str
    bounds: Bounds

    @property
    def frozen(self) -> bool:
        return self.bounds.role is not Role.AGENT


@dataclass(frozen=True)
class Driven:
    """The end of a turn, with the strength of the sandbox it ran in."""

    result: TurnResult
    tier: int


def drive(
    settings: Settings,
    spec: RunnerSpec,
    seat: Seat,
    talk: tuple[Ask, SessionRef | None, type[BaseModel] | None],
    watch: tuple[Sink, Callable[[], bool]],
    tools: ToolServer | None = None,
) -> Driven | None:
    """Run the turn to its end; None when we stopped it. `talk` is what is said, `watch` who listens and who stops.

    `tools` are served inside the sandbox alone, as long as the agent's process lives.
    """
    return asyncio.run(_drive(settings, spec, seat, talk, watch, tools))


async def _drive(
    settings: Settings,
    spec: RunnerSpec,
    seat: Seat,
    talk: tuple[Ask, SessionRef | None, type[BaseModel] | None],
    watch: tuple[Sink, Callable[[], bool]],
    tools: ToolServer | None,
) -> Driven | None:
    ask, ref, model = talk
    sink, lost = watch
    try:
        sandbox = await choose(settings, seat.repository, seat.is_fork)
        shown = shown_to(spec)
    except UserError as error:
        return Driven(TurnResult(error=RunnerError(Code.SANDBOX_UNAVAILABLE, str(error))), 0)
    place = Workspace(
        seat.room.path / "workspace",
        seat.room.uid,
        frozen=seat.frozen,
        binds=shown,
        home=seat.room.folder("home"),
    )
    log = TurnLog(seat.room.path / f"{seat.turn_id}.log", Redactor(known_secrets(settings)))
    limits = Limits.for_agents(seat.wall_s)
    launcher, spec = with_models(Launcher(sandbox, place, limits, seat.turn_id, tap=log), spec, settings.models)
    if spec.manifest.spec.requires.strong_sandbox and launcher.tier < Tier.STRONG:
        text = f"{spec.id} is run only where the sandbox is STRONG; it is {sandbox.tier.name} here"
        return Driven(TurnResult(error=RunnerError(Code.SANDBOX_UNAVAILABLE, text)), launcher.tier)
    launcher, reach = with_tools(launcher, tools)
    session = SessionSpec(place.path, launcher.cwd, seat.bounds, config=spec.config, tools=reach)
    try:
        runner = runner_for(spec, launcher)
    except RunnerFailure as stopped:
        return Driven(TurnResult(error=stopped.error), launcher.tier)
    try:
        return Driven(await while_ours(drive_turn(runner, session, ref, ask, model, sink), lost), launcher.tier)
    except Stopped:
        return None
    finally:
        log.close()
