"""The app's side of a sandbox's loopback: listening sockets that came out of it, and connections into it (7.1, 7.2)."""

import array
import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.workspace.sandbox import shim
from app.workspace.sandbox.interpreters import NotBindable, system_python
from app.workspace.sandbox.model import SandboxUnavailable, Spec

ANSWER_S = 10.0
MOST = 8


def wrap(spec: Spec, descriptors: list[int]) -> "tuple[Spec, Channel | None]":
    """`spec` with the shim in front of its command, and the channel to it; as it is when it asks for no network.

    The end that goes inside is added to `descriptors`, which the caller hands on and closes. Raises SandboxUnavailable
    without a Python to run the shim with.
    """
    network = spec.network
    if not network.listen and network.dial is None:
        return spec, None
    python = system_python()
    if python is None:
        raise SandboxUnavailable("No python3 was found, and a run with a network needs one inside.")
    try:
        binds = {**python.binds(), **spec.workspace.binds}
    except NotBindable as why:
        raise SandboxUnavailable(f"{python.executable} cannot be shown inside: {why}.") from why
    outer, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    descriptors.append(inner.detach())
    begin = (python.executable, "-I", "-S", "-c", Path(shim.__file__).read_text(), str(descriptors[-1]))
    argv = (*begin, ",".join(map(str, network.listen)), str(network.dial or 0), *spec.argv)
    wrapped = replace(spec, argv=argv, workspace=replace(spec.workspace, binds=binds))
    return wrapped, Channel(outer, network.listen)


class Channel:
    """What comes from inside is hostile: descriptors are counted and looked at, everything else is closed."""

    def __init__(self, outer: socket.socket, listen: Sequence[int]) -> None:
        outer.setblocking(False)
        self._outer = outer
        self._listen = tuple(listen)
        self._dialling = asyncio.Lock()

    async def listeners(self) -> Mapping[int, socket.socket]:
        """The listening sockets by port, once, soon after the start. Raises OSError when they do not come."""
        found = await self._receive()
        if len(found) != len(self._listen) or not all(_is_listening(one) for one in found):
            for one in found:
                one.close()
            raise ConnectionError("the sandbox handed out something else than its listening sockets")
        return dict(zip(self._listen, found, strict=True))

    async def dial(self) -> socket.socket:
        """A connection to the one port that may be dialled; raises OSError when nothing answers there."""
        async with self._dialling:
            await asyncio.get_running_loop().sock_sendall(self._outer, b"d")
            found = await self._receive()
        good = found[:1] if found and found[0].family == socket.AF_INET and not _is_listening(found[0]) else []
        for one in found[len(good) :]:
            one.close()
        if not good:
            raise ConnectionRefusedError("nothing answers on the port inside the sandbox")
        return good[0]

    def close(self) -> None:
        self._outer.close()

    async def _receive(self) -> list[socket.socket]:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._outer, ready.set)
        try:
            await asyncio.wait_for(ready.wait(), ANSWER_S)
        except TimeoutError:
            raise ConnectionError("the sandbox did not answer on its channel") from None
        finally:
            loop.remove_reader(self._outer)
        data, rights, _, _ = self._outer.recvmsg(1, socket.CMSG_SPACE(4 * MOST))
        if not data:
            raise ConnectionError("the sandbox closed its channel")
        return [_non_blocking(descriptor) for descriptor in _descriptors(rights)]


def _descriptors(rights: Sequence[tuple[int, int, bytes]]) -> list[int]:
    found = array.array("i")
    for level, kind, data in rights:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)


def _non_blocking(descriptor: int) -> socket.socket:
    try:
        one = socket.socket(fileno=descriptor)
    except OSError:
        os.close(descriptor)
        raise ConnectionError("the sandbox handed out something that is no socket") from None
    one.setblocking(False)
    return one


def _is_listening(one: socket.socket) -> bool:
    return one.family == socket.AF_INET and bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
