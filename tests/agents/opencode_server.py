"""A small OpenCode double: the routes that Remedy uses, every request kept, faults by scenario (runners.md, 12.4).

A scenario: `health`, `doc`, `provider`, `create`, `abort`: {"status", "json" or "text"} in place of the good answer;
`messages`: one dict for each prompt, the last is repeated. Keys of a message: `structured`, `text`, `error` (name and
data), `no_info`, `status` and `json`, `wait` (until it is aborted), `permission` (asked before the answer), `question`,
`retry` (a provider's retry is told every 50 ms), `raw_events`, `crash` (the process ends).
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

GOOD_RESULT = {"summary_markdown": "fixed", "tests": []}
MODEL = {"status": "active", "capabilities": {"toolcall": True}, "variants": {"high": {}}}
SURFACE = {
    "/global/health": "get",
    "/provider": "get",
    "/session": "post",
    "/session/{sessionID}/message": "post",
    "/session/{sessionID}/abort": "post",
}
GOOD: dict[str, Any] = {
    "health": {"healthy": True, "version": "1.18.4"},
    "doc": {"paths": {path: {verb: {}} for path, verb in SURFACE.items()}},
    "provider": {"all": [{"id": "remedy", "models": {"vendor/m": MODEL}}], "connected": ["remedy"]},
    "abort": True,
}


@dataclass
class OpenCodeServer:
    """`calls` are (method and path, headers, body) in order."""

    scenario: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompts: int = 0
    replies: list[dict[str, Any]] = field(default_factory=list)
    _streams: list[asyncio.Queue[dict[str, Any]]] = field(default_factory=list)
    _aborted: dict[str, asyncio.Event] = field(default_factory=dict)
    _replied: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def paths(self) -> list[str]:
        """The calls without the stream of events."""
        return [what for what, _, _ in self.calls if what != "GET /event"]

    def app(self) -> Starlette:
        routes = [
            Route("/global/health", self._told("health")),
            Route("/doc", self._told("doc")),
            Route("/provider", self._told("provider")),
            Route("/event", self._events),
            Route("/session", self._create, methods=["POST"]),
            Route("/session/{id}", self._session),
            Route("/session/{id}/message", self._message, methods=["POST"]),
            Route("/session/{id}/abort", self._abort, methods=["POST"]),
            Route("/permission/{id}/reply", self._reply, methods=["POST"]),
            Route("/question/{id}/reject", self._reply, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _note(self, request: Request) -> Any:
        text = await request.body()
        body = json.loads(text) if text else None
        self.calls.append((f"{request.method} {request.url.path}", dict(request.headers), body))
        return body

    def _given(self, name: str, good: Any) -> Response:
        fault = self.scenario.get(name)
        if fault is None:
            return JSONResponse(good)
        if "text" in fault:
            return Response(fault["text"], fault.get("status", 200))
        return JSONResponse(fault["json"], fault.get("status", 200))

    def _told(self, name: str) -> Any:
        async def tell(request: Request) -> Response:
            await self._note(request)
            return self._given(name, GOOD[name])

        return tell

    async def _create(self, request: Request) -> Response:
        await self._note(request)
        session = {"id": f"ses_{len(self.sessions) + 1}", "directory": request.headers.get("x-opencode-directory")}
        self.sessions[session["id"]] = {**session, "cost": 0, "tokens": {"input": 0, "output": 0}}
        return self._given("create", session)

    async def _session(self, request: Request) -> Response:
        await self._note(request)
        found = self.sessions.get(request.path_params["id"])
        return JSONResponse(found or {"name": "NotFoundError"}, 200 if found else 404)

    async def _abort(self, request: Request) -> Response:
        await self._note(request)
        answer = self._given("abort", GOOD["abort"])
        if answer.status_code == 200:
            self._aborted.setdefault(request.path_params["id"], asyncio.Event()).set()
        return answer

    async def _reply(self, request: Request) -> Response:
        self.replies.append({"path": request.url.path, **(await self._note(request) or {})})
        self._replied.set()
        return JSONResponse(True)

    async def _events(self, request: Request) -> Response:
        await self._note(request)
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._streams.append(queue)
        queue.put_nowait({"type": "server.connected", "properties": {}})

        async def stream() -> AsyncIterator[bytes]:
            while True:
                event = await queue.get()
                yield event["raw"].encode() if "raw" in event else f"data: {json.dumps(event)}\n\n".encode()

        return StreamingResponse(stream(), media_type="text/event-stream")

    def tell(self, kind: str, **properties: Any) -> None:
        for queue in self._streams:
            queue.put_nowait({"type": kind, "properties": properties})

    async def _message(self, request: Request) -> Response:
        await self._note(request)
        messages = self.scenario.get("messages") or [{"structured": GOOD_RESULT}]
        step = messages[min(self.prompts, len(messages) - 1)]
        self.prompts += 1
        session_id, number = request.path_params["id"], self.prompts
        self._aborted[session_id] = asyncio.Event()
        self.tell("message.updated", sessionID=session_id, info={"role": "user", "id": f"u{number}"})
        info = {"role": "assistant", "id": f"a{number}", "parentID": f"u{number}", "sessionID": session_id}
        self.tell("message.updated", sessionID=session_id, info=info)
        await self._act(step, session_id, number)
        answer = self._answer(step, info, session_id)
        self.tell("session.idle", sessionID=session_id)
        return answer

    async def _act(self, step: dict[str, Any], session_id: str, number: int) -> None:
        if step.get("crash"):
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        for raw in step.get("raw_events", ()):
            for queue in self._streams:
                queue.put_nowait({"raw": raw})
        for part in step.get("parts", ()):
            self.tell("message.part.updated", sessionID=session_id, part={"messageID": f"a{number}", **part})
        for kind in ("permission", "question"):
            if kind in step:
                self._replied.clear()
                self.tell(f"{kind}.asked", id=f"{kind[:3]}_1", sessionID=session_id, **step[kind])
                await self._replied.wait()
        while step.get("wait") and not self._aborted[session_id].is_set():
            if step.get("retry"):
                status = {"type": "retry", "attempt": 1, "message": "provider is down"}
                self.tell("session.status", sessionID=session_id, status=status)
            await asyncio.sleep(0.05)

    def _answer(self, step: dict[str, Any], info: dict[str, Any], session_id: str) -> Response:
        if "status" in step or "json" in step:
            return JSONResponse(step.get("json"), step.get("status", 200))
        if step.get("no_info"):
            return JSONResponse({"parts": []})
        session = self.sessions[session_id]
        session["cost"] += 0.25
        session["tokens"] = {"input": session["tokens"]["input"] + 100, "output": session["tokens"]["output"] + 20}
        error = step.get("error")
        if step.get("wait"):
            error = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
        info = {**info, "tokens": {"input": 1, "output": 1}, "cost": 0.01, "finish": "stop"}
        info |= {"error": error} if error else {}
        info |= {"structured": step["structured"]} if "structured" in step else {}
        parts = [{"type": "text", "text": step["text"]}] if "text" in step else []
        return JSONResponse({"info": info, "parts": parts})


def main() -> None:
    """As a command: `serve --hostname H --port P`, with the scenario in OPENCODE_DOUBLE; `hang_first` there makes the
    first connections go without an answer, as the real server's do."""
    scenario = json.loads(os.environ.get("OPENCODE_DOUBLE", "{}"))
    port = int(sys.argv[sys.argv.index("--port") + 1])
    inner, left = OpenCodeServer(scenario).app(), scenario.get("hang_first", 0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            await asyncio.sleep(3600)
        await inner(scope, receive, send)

    uvicorn.run(app, host="127.0.0.1", port=port, lifespan="off", log_level="critical")


if __name__ == "__main__":
    main()
