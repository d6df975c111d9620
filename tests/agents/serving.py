"""Serve an ASGI application from a thread, for the test doubles."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import uvicorn


@contextmanager
def served(app: Any, port: int = 0, lifespan: Literal["on", "off"] = "off") -> Iterator[str]:
    """The address of `app` while the block runs; open connections are cut at its end."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = uvicorn.Server(
            uvicorn.Config(app, interface="asgi3", lifespan=lifespan, log_level="critical", ws="none")
        )
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            thread.join(timeout=15)
