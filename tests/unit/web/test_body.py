"""Bodies that are too long, too slow or too many, sent to a real server by hand (S35, F-W9)."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest
import uvicorn
from sqlalchemy import Engine, func, select

from app.ledger.engine import read
from app.ledger.schema import deliveries
from app.main import create_app
from app.settings import Settings
from app.web import body as bodies

from .conftest import check_run, sign

MIB = 1024 * 1024


@contextmanager
def serving(settings: Settings) -> Iterator[int]:
    """The web process in a thread; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(settings), http="httptools", log_config=None, lifespan="on"))
    started = threading.Event()
    startup = server.startup

    async def start_up(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = start_up  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    assert started.wait(10)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def head(length: int | None, signature: str = "sha256=" + "0" * 64) -> bytes:
    lines = [
        "POST /webhook HTTP/1.1",
        "Host: remedy",
        "Content-Type: application/json",
        "X-GitHub-Event: check_run",
        "X-GitHub-Delivery: g-1",
        f"X-Hub-Signature-256: {signature}",
        "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def answer_of(connection: socket.socket) -> tuple[int, bytes]:
    """Status and everything until the server closes the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while block := connection.recv(65536):
            received += block
    return int(received.split(b" ", 2)[1]), received


def connect(port: int) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", port), timeout=20))


def kept(engine: Engine) -> int:
    with read(engine) as conn:
        return conn.execute(select(func.count()).select_from(deliveries)).scalar_one()


def test_s35_26_mb_are_refused_without_being_read(settings: Settings, engine: Engine) -> None:
    """Only the head is sent: an answer means that nobody waited for the body."""
    with serving(settings) as port, connect(port) as connection:
        connection.sendall(head(26 * MIB))
        status, text = answer_of(connection)
    assert status == 413
    assert b"connection: close" in text.lower()
    assert kept(engine) == 0


def test_s35_a_body_without_a_length_is_cut_off_at_the_cap(settings: Settings, engine: Engine) -> None:
    block = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
    sent = 0
    with serving(settings) as port, connect(port) as connection:
        connection.sendall(head(None))
        with suppress(ConnectionResetError, BrokenPipeError):
            while sent < 200:
                connection.sendall(block)
                sent += 1
        with suppress(ConnectionResetError, BrokenPipeError, IndexError):
            assert answer_of(connection)[0] == 413
    # 25 MiB are the cap, the rest stood in the socket buffers of both sides.
    assert 25 <= sent < 60
    assert kept(engine) == 0


@pytest.mark.slow
def test_a_body_of_25_mb_is_taken(settings: Settings, engine: Engine) -> None:
    """F-W9: up to here GitHub sends."""
    body = json.dumps(check_run(shoes="x" * 24 * MIB)).encode()
    with serving(settings) as port, connect(port) as connection:
        connection.sendall(head(len(body), sign(body)).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + body)
        assert answer_of(connection)[0] == 202
    assert kept(engine) == 1


def test_s35_a_body_that_never_ends_is_given_up(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limit is 30 s; a test does not wait that long.
    monkeypatch.setattr(bodies, "READ_WITHIN_S", 0.2)
    with serving(settings) as port, connect(port) as connection:
        connection.sendall(head(1000) + b"{")
        assert answer_of(connection)[0] == 408
    assert kept(engine) == 0


def test_s35_only_a_few_large_bodies_are_read_at_once(settings: Settings, engine: Engine) -> None:
    """Memory stays flat: unsigned senders cannot make the process hold more than a few large bodies."""
    small = json.dumps(check_run()).encode()
    with serving(settings) as port:
        held = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(bodies.LARGE_AT_ONCE)]
        for connection in held:
            connection.sendall(head(10 * MIB) + b" " * MIB)
        statuses = set()
        for _ in range(200):
            with connect(port) as connection:
                with suppress(ConnectionResetError, BrokenPipeError):
                    connection.sendall(head(MIB) + b" " * MIB)
                with suppress(IndexError):
                    statuses.add(answer_of(connection)[0])
            if 503 in statuses:
                break
        assert 503 in statuses
        with connect(port) as connection:
            connection.sendall(
                head(len(small), sign(small)).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + small
            )
            assert answer_of(connection)[0] == 202
        for connection in held:
            connection.close()
    assert kept(engine) == 1
