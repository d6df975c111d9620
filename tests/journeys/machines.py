"""Two machines of one installation, kept running: `python -m tests.journeys.machines PORT DATA` of the second."""

import asyncio
import signal
import sys

from app.cli.environment import child_environment, python
from app.cli.supervise import Child, Tree

GRACE_S = 10.0


async def _run(second_port: str, second_data: str) -> None:
    tree, ended = Tree(GRACE_S), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    first = child_environment()
    second = {**first, "REMEDY_PORT": second_port, "REMEDY_DATA": second_data}
    assert await tree.run(Child("database", python("app.cli", "migrate"), first)) == 0
    await tree.start(Child("sweep", python("jobs.worker", "sweep"), first))
    for env in (first, second):
        await tree.start(Child("web", python("app.cli", "web"), env))
        for part in ("quick", "long"):
            await tree.start(Child(part, python("jobs.worker", part), env))
    await ended.wait()
    await tree.end()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], sys.argv[2]))
