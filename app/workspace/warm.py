"""Measure sandbox and test tools once in the parent of a worker, so that no forked job has to (ST-Q13, SX-9)."""

import asyncio

from app.errors import TransientError, UserError
from app.settings import Settings
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Workspace
from app.workspace.tests.toolchain import find_python

FRAMEWORK = "pytest"


def warm(settings: Settings) -> str:
    """What was found, in a few words for the log. A sandbox that does not work is met again, and said, by the job."""
    try:
        return asyncio.run(_warm(settings))
    except (UserError, TransientError) as error:
        return str(error)


async def _warm(settings: Settings) -> str:
    sandbox = await choose(settings, "")
    with Rooms.of(settings).scratch() as room:
        python = await find_python(sandbox, Workspace(room.folder("warm"), room.uid), settings.proof_tools, FRAMEWORK)
    tools = f"{python.python} with {FRAMEWORK} {python.module_version}" if python else f"no python3 with {FRAMEWORK}"
    return f"{sandbox.name}, {sandbox.tier.name.lower()}; {tools}"
