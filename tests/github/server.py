"""Two origins on two ports and one thread: the API with pages, git and control; the store of logs (github.md C5)."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import uvicorn

from tests.github import control, githttp, pages, pipeline, store
from tests.github.core.messages import Answer, FileBody, Refused, Request
from tests.github.faults import Fault

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
CHUNK = 64 * 1024


class _Uvicorn(uvicorn.Server):
    """Ends when it is told to, not at its next tick: a suite starts and stops hundreds of these."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended: Future[None] = Future()

    async def main_loop(self) -> None:
        await asyncio.wrap_future(self.ended)


class Server:
    """Listens as soon as it is made; `start` serves from a thread, `stop` ends it."""

    def __init__(self, github: "LocalGitHub", port: int = 0, store_port: int = 0) -> None:
        self._github = github
        self._sockets = [_listen(port), _listen(store_port)]
        self._servers = [self._make(self._main), self._make(self._store)]
        self._thread = threading.Thread(target=self._serve, name="local-github", daemon=True)

    @property
    def urls(self) -> tuple[str, str]:
        main, store_url = (f"http://127.0.0.1:{found.getsockname()[1]}" for found in self._sockets)
        return main, store_url

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        for server in self._servers:
            server.should_exit = server.force_exit = True
            server.ended.set_result(None)
        self._thread.join(timeout=15)
        for found in self._sockets:
            found.close()

    def _serve(self) -> None:
        async def both() -> None:
            pairs = zip(self._servers, self._sockets, strict=True)
            await asyncio.gather(*(server.serve(sockets=[found]) for server, found in pairs))

        asyncio.run(both())

    def _make(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> "_Uvicorn":
        config = uvicorn.Config(
            app,
            interface="asgi3",
            loop="asyncio",
            http="httptools",
            ws="none",
            lifespan="off",
            proxy_headers=False,
            log_level="error",
            access_log=False,
            date_header=False,
        )
        return _Uvicorn(config)

    async def _main(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _request(scope)
        if githttp.is_git(request.path):
            await self._git(request, receive, send)
            return
        request = _request(scope, await _read(receive))
        if request.path.startswith("/_double"):
            await _answer(send, await asyncio.to_thread(control.handle, self._github, request))
        elif pages.is_page(request):
            await _answer(send, await asyncio.to_thread(pages.handle, self._github, request))
        else:
            await self._api(request, send)

    async def _api(self, request: Request, send: Send) -> None:
        world = self._github.world
        match = pipeline.route(world, request)
        operation = match.operation.id if match is not None else ""
        fault = world.faults.pick("rest", {"op": operation, "method": request.method, "path": request.path})
        if fault is not None and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        lost = fault is not None and (fault.drop or fault.truncate is not None)
        if fault is not None and fault.drop and not fault.after_effect:
            _reset(send)
            return
        world.limits.at_once += 1
        try:
            acts = fault if fault is not None and (fault.status is not None or fault.limit is not None) else None
            answer = await asyncio.to_thread(pipeline.handle, world, request, acts)
        finally:
            world.limits.at_once -= 1
        if lost and fault is not None:
            await _lose(send, answer, fault)
        else:
            await _answer(send, answer, head_only=request.method == "HEAD")

    async def _git(self, request: Request, receive: Receive, send: Send) -> None:
        world = self._github.world
        fault = world.faults.pick("git", {"method": request.method, "path": request.path, "op": _service(request)})
        if fault is not None and not fault.after_effect:
            await asyncio.sleep(fault.delay_s)
            if fault.drop:
                _reset(send)
                return
            if fault.status is not None:
                await _answer(send, Answer(fault.status, str(fault.body or "").encode(), dict(fault.headers)))
                return
        try:
            visit = await asyncio.to_thread(githttp.admit, world, request)
        except Refused as refused:
            headers = {"Content-Type": "text/plain", **refused.headers}
            await _answer(send, Answer(refused.status, refused.message.encode(), headers))
            return
        if fault is not None and fault.drop:
            await githttp.serve(world, visit, request, _chunks(receive), _swallow())
            _reset(send)
            return
        await githttp.serve(world, visit, request, _chunks(receive), _streaming(send))
        await send({"type": "http.response.body", "body": b""})

    async def _store(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _request(scope)
        world = self._github.world
        fault = world.faults.pick("store", {"method": request.method, "path": request.path})
        answer = await asyncio.to_thread(store.handle, world, request)
        if fault is not None:
            await asyncio.sleep(fault.delay_s)
            if fault.drop or fault.truncate is not None:
                await _lose(send, answer, fault)
                return
            if fault.status is not None:
                answer = Answer(fault.status, str(fault.body or "").encode(), dict(fault.headers))
        await _answer(send, answer)


def _listen(port: int) -> socket.socket:
    # Named on purpose: asyncio sets TCP_NODELAY only on sockets that say they are TCP; without it answers take 40 ms.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    found.listen(128)
    return found


def _request(scope: Scope, body: bytes = b"") -> Request:
    return Request(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1").partition("?")[0],
        query=tuple(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
        body=body,
    )


def _service(request: Request) -> str:
    return dict(request.query).get("service", request.path.rsplit("/", 1)[-1])


async def _read(receive: Receive) -> bytes:
    return b"".join([chunk async for chunk in _chunks(receive)])


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


async def _answer(send: Send, answer: Answer, *, head_only: bool = False) -> None:
    body, headers = answer.body, dict(answer.headers)
    if isinstance(body, FileBody):
        headers["Content-Length"] = str(body.path.stat().st_size)
    else:
        assert body is None or isinstance(body, bytes)
        headers["Content-Length"] = str(len(body or b""))
    await send({"type": "http.response.start", "status": answer.status, "headers": _raw(headers)})
    if isinstance(body, FileBody) and not head_only:
        with body.path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        body = b""
    assert body is None or isinstance(body, bytes | FileBody)
    await send({"type": "http.response.body", "body": b"" if head_only or not isinstance(body, bytes) else body})


async def _lose(send: Send, answer: Answer, fault: Fault) -> None:
    """The operation ran, the answer is lost: nothing arrives, or only its first bytes (D-35)."""
    if fault.truncate is not None:
        body = answer.body.path.read_bytes() if isinstance(answer.body, FileBody) else answer.body
        assert body is None or isinstance(body, bytes)
        headers = {**answer.headers, "Content-Length": str(len(body or b""))}
        await send({"type": "http.response.start", "status": answer.status, "headers": _raw(headers)})
        await send({"type": "http.response.body", "body": (body or b"")[: fault.truncate], "more_body": True})
    _reset(send)


def _reset(send: Send) -> None:
    """Cut the connection: ASGI's `send` is bound to uvicorn's request cycle, which holds the transport (D-36)."""
    send.__self__.transport.abort()  # type: ignore[attr-defined]


def _streaming(send: Send) -> tuple[githttp.Start, githttp.Send]:
    async def start(status: int, headers: list[tuple[bytes, bytes]]) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})

    async def chunk(data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})

    return start, chunk


def _swallow() -> tuple[githttp.Start, githttp.Send]:
    async def start(status: int, headers: list[tuple[bytes, bytes]]) -> None:
        return

    async def chunk(data: bytes) -> None:
        return

    return start, chunk


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
