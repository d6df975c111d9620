"""The scripted model server: one port, four formats, a log of what was asked."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.agents.model import asked as read
from tests.agents.model import wire
from tests.agents.model.asked import Asked
from tests.agents.model.script import Place, Reply, Script, Step, place_of, reply_of
from tests.agents.serving import served

CREDENTIALS = {"authorization", "x-api-key", "x-goog-api-key", "cookie"}
HAND_IN: Script = [{"hand_in": {}}]
DONE: Step = {"text": "Done."}
SIDE = Reply(text="A short title")


@dataclass(frozen=True)
class Seen:
    """One request: path, headers without credentials, the credential's value, body, and where its script stood."""

    path: str
    headers: Mapping[str, str]
    credential: str
    body: Mapping[str, Any]
    place: Place | None


@dataclass
class ModelServer:
    """`scripts` by name: a marker `[[script:NAME]]` in the prompt, else the prompt's role, else "reask".

    A role without a script hands in its good result. `cwd` is where the agent's workspace is, as the agent sees it.
    """

    scripts: Mapping[str, Script] = field(default_factory=dict)
    cwd: str = "/workspace"
    seen: list[Seen] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _failed: Counter[tuple[str, int]] = field(default_factory=Counter)
    url: str = ""

    @contextmanager
    def running(self, port: int = 0) -> Iterator["ModelServer"]:
        """Serves from a thread until the end of the block; `url` is without `/v1`."""
        with served(self.app(), port) as self.url:
            yield self

    def app(self) -> Starlette:
        routes = [
            Route("/", self._alive, methods=["GET", "HEAD"]),
            Route("/v1/models", self._models),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/responses", self._responses, methods=["POST"]),
            Route("/v1/messages", self._messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
            Route("/v1beta/models/{call:path}", self._gemini, methods=["POST"]),
            Route("/{rest:path}", self._lost, methods=["GET", "POST", "PUT", "DELETE"]),
        ]
        return Starlette(routes=routes)

    async def _alive(self, request: Request) -> Response:
        return Response()

    async def _models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "tests"}]})

    async def _lost(self, request: Request) -> Response:
        self.unknown.append(f"{request.method} {request.url.path}")
        return JSONResponse({"error": {"type": "not_found_error", "message": "no such path"}}, 404)

    async def _count(self, request: Request) -> Response:
        return JSONResponse({"input_tokens": 100})

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, read.chat(await request.json()))

    async def _responses(self, request: Request) -> Response:
        return await self._answer(request, read.responses(await request.json()))

    async def _messages(self, request: Request) -> Response:
        return await self._answer(request, read.anthropic(await request.json()))

    async def _gemini(self, request: Request) -> Response:
        model, _, verb = request.path_params["call"].partition(":")
        if verb == "countTokens":
            return JSONResponse({"totalTokens": 100})
        if verb not in ("generateContent", "streamGenerateContent"):
            return await self._lost(request)
        return await self._answer(request, read.gemini(await request.json(), model, verb.startswith("stream")))

    async def _answer(self, request: Request, asked: Asked) -> Response:
        place = place_of(asked)
        headers = {name: value for name, value in request.headers.items() if name not in CREDENTIALS}
        credential = next((request.headers[name] for name in CREDENTIALS if name in request.headers), "")
        self.seen.append(Seen(request.url.path, headers, credential, asked.body, place))
        step = DONE if place is None else self._step(place)
        if failed := self._fault(step, place):
            return failed
        await asyncio.sleep(step.get("hang", 0))
        reply = SIDE if place is None else reply_of(step, place, asked, self.cwd)
        if not asked.stream:
            return JSONResponse(wire.BODIES[asked.family](reply, asked.model))
        return StreamingResponse(_stream(reply, asked, step), media_type="text/event-stream")

    def _step(self, place: Place) -> Step:
        """Steps that failed `times` times are over; behind the last step a model has nothing more to say."""
        script = self.scripts.get(place.script, HAND_IN)
        return script[place.number] if place.number < len(script) else DONE

    def _fault(self, step: Step, place: Place | None) -> Response | None:
        if place is None or "http" not in step:
            return None
        key = (place.script, place.number)
        if self._failed[key] >= step.get("times", 1_000_000):
            return None
        self._failed[key] += 1
        body = step.get("body", {"error": {"type": "server_error", "message": "scripted failure"}})
        return JSONResponse(body, step["http"], step.get("headers"))


async def _stream(reply: Reply, asked: Asked, step: Step) -> AsyncIterator[bytes]:
    events = [wire.encoded(event) for event in wire.STREAMS[asked.family](reply, asked.model)]
    if step.get("junk"):
        events = [b"data: {this is no JSON\n\n", b"\x00\xff not even text\n\n"]
    for event in events[: len(events) // 2] if step.get("cut") else events:
        yield event
        await asyncio.sleep(step.get("drip", 0))
    if step.get("cut"):
        raise ConnectionAbortedError("the script cuts the stream here")
    if asked.family == "chat":
        yield b"data: [DONE]\n\n"


def main() -> None:
    """`python -m tests.agents.model.server PORT [SCRIPTS.json [CWD]]`: serves until it is killed."""
    port, *given = sys.argv[1:]
    scripts = json.loads(Path(given[0]).read_text()) if given else {}
    server = ModelServer(scripts, *given[1:])
    uvicorn.run(server.app(), host="127.0.0.1", port=int(port), log_level="error")


if __name__ == "__main__":
    main()
