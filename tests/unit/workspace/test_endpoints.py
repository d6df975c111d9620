"""What code inside a sandbox may hand out instead of sockets: refused, closed, and never waited for in vain."""

import array
import asyncio
import os
import socket
from collections.abc import Sequence

import pytest

from app.workspace.sandbox.endpoints import Channel


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def hand_out(inner: socket.socket, descriptors: Sequence[int]) -> None:
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    inner.sendmsg([b"x"], [rights] if descriptors else [])


@pytest.mark.parametrize("what", ["nothing", "a pipe", "a datagram socket", "not listening", "two", "end"])
def test_only_listening_sockets_are_taken_from_inside(what: str) -> None:
    """Sandbox.md, 7.1: count and type are checked; all else is closed."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.socket() as idle,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram,
    ):
        read_end, write_end = os.pipe()
        given = {
            "nothing": [],
            "a pipe": [read_end],
            "a datagram socket": [datagram.fileno()],
            "not listening": [idle.fileno()],
            "two": [listening.fileno(), listening.fileno()],
        }

        async def scenario() -> None:
            outer, inner = socket.socketpair()
            channel = Channel(outer, (8080,))
            with inner:
                if what in given:
                    hand_out(inner, given[what])
            before = open_descriptors()
            with pytest.raises(OSError):
                await channel.listeners()
            assert open_descriptors() == before
            channel.close()

        asyncio.run(scenario())
        os.close(read_end)
        os.close(write_end)


def test_an_answer_to_a_dial_is_one_connection_or_a_refusal() -> None:
    """Sandbox.md, 7.2: hostile code can fake the dialler; that is a failed turn, no more."""

    async def scenario() -> None:
        outer, inner = socket.socketpair()
        channel = Channel(outer, ())
        server = socket.create_server(("127.0.0.1", 0))
        good = socket.create_connection(server.getsockname())
        with inner, server, good:
            for given in ([server.fileno()], [inner.fileno()], []):
                hand_out(inner, given)
                with pytest.raises(ConnectionRefusedError):
                    await channel.dial()
            hand_out(inner, [good.fileno(), good.fileno()])
            with await channel.dial() as found:
                assert found.getpeername() == server.getsockname()
                assert not found.getblocking()
        channel.close()

    asyncio.run(scenario())
