"""Run the tests of a job for as long as its lease is ours."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

LOOK_S = 0.2
T = TypeVar("T")


class Stopped(Exception):
    """It was cancelled or its lease was lost; nothing of it is written."""


def watched(work: Coroutine[Any, Any, T], lost: Callable[[], bool]) -> T:
    """What `work` returns; raises Stopped as soon as `lost` says so (LE-5), and then leaves no process behind."""
    return asyncio.run(_watch(work, lost))


async def _watch(work: Coroutine[Any, Any, T], lost: Callable[[], bool]) -> T:
    task = asyncio.create_task(work)
    while not task.done():
        await asyncio.wait({task}, timeout=LOOK_S)
        if lost() and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise Stopped
    return task.result()
