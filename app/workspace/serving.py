"""Serve a small web application on one listening socket, inside a loop that is already running."""

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn
from starlette.types import ASGIApp

from app.workspace.launcher import Serve


class _Quiet(uvicorn.Server):
    """Leaves the worker's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def serving(app: ASGIApp) -> Serve:
    """An endpoint of a turn: `app` on the socket that came out of the sandbox, until the turn ends (RN-38)."""

    async def serve(listener: socket.socket) -> None:
        server = _Quiet(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(running)
        finally:
            server.should_exit = server.force_exit = True
            await running

    return serve
