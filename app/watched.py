"""Work that ends at once when it is not ours any more: its lease was lost, or nobody wants it (LE-5)."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

LOOK_S = 0.2
T = TypeVar("T")


class Stopped(Exception):
    """It was stopped before its end; nothing of it is written."""


async def while_ours(work: Coroutine[Any, Any, T], lost: Callable[[], bool]) -> T:
    """What `work` returns; once `lost` says so it is cancelled, leaves no process behind, and Stopped is raised."""
    task = asyncio.create_task(work)
    while not task.done():
        await asyncio.wait({task}, timeout=LOOK_S)
        if lost() and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise Stopped
    return task.result()
