"""The web application of a turn's tools, for the holder of the turn's token alone (RN-35, RN-38)."""

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app.runners.registry import RunnerSpec
from app.turns.tools.box import Toolbox
from app.turns.tools.protocol import answer

BODY_BYTES = 512 * 1024


@dataclass(frozen=True)
class ToolServer:
    """`deadline` is a time of the monotonic clock; `lost` says that the turn was cancelled or its lease went away."""

    box: Toolbox
    turn_id: str
    deadline: float
    lost: Callable[[], bool]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def path(self) -> str:
        return f"/turns/{self.turn_id}/mcp"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as an ASGI application."""
        if scope["type"] == "http":
            await (await self._answer(Request(scope, receive)))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path != self.path:
            return Response(status_code=404)
        if not self._knows(request.headers.get("authorization", "")):
            return Response(status_code=401)
        if request.method != "POST":
            return Response(status_code=405)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                return Response(status_code=413)
        found = answer(bytes(body), self.box)
        return Response(status_code=202) if found is None else JSONResponse(found)

    def _knows(self, given: str) -> bool:
        """D22, D26: dead with the turn, with its lease and at its deadline."""
        if self.lost() or time.monotonic() >= self.deadline:
            return False
        return hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode())


def tool_server(
    box: Toolbox, spec: RunnerSpec, turn_id: str, wall_s: float, lost: Callable[[], bool]
) -> ToolServer | None:
    """The server of a turn; None where nothing is granted, and for an agent that works elsewhere."""
    if not box.names or spec.manifest.spec.protocol == "mcp/1":
        return None
    return ToolServer(box, turn_id, time.monotonic() + wall_s, lost)
