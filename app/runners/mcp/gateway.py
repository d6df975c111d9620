"""What both ways to a gateway have in common: list tools, call one, and say in our codes what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from app.runners import manifest
from app.runners.codes import Code, failure
from app.runners.mcp.tools import Tool
from app.runners.registry import RunnerSpec


class Gateway(Protocol):
    """Both methods raise RunnerFailure; `call` gives the whole tool result of a call that did not fail."""

    async def tools(self) -> tuple[Tool, ...]: ...
    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]: ...


@dataclass
class Shelf:
    """The tools of a gateway, kept for the life of this object; an empty list is asked for once more (G21).

    `empty` says what it means that there are none. Each way to a gateway brings its own `_list`.
    """

    empty: ClassVar[str]
    _listed: tuple[Tool, ...] = field(default=(), init=False)

    async def tools(self) -> tuple[Tool, ...]:
        """All tools, each as the gateway lists it."""
        for _ in range(2):
            if not self._listed:
                self._listed = await self._list()
        if not self._listed:
            raise failure(Code.GATEWAY_UNREACHABLE, self.empty)
        return self._listed

    async def _list(self) -> tuple[Tool, ...]:
        raise NotImplementedError


@dataclass(frozen=True)
class Access:
    """Address and credentials of a gateway; the values never leave this process but to that address (G20)."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    timeout_s: float

    def scrubbed(self, text: str) -> str:
        """Without our own credentials: gateways like to quote the key that they refuse."""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            text = text.replace(secret, "***") if len(secret) >= 4 else text
        return text


def access_of(spec: RunnerSpec) -> tuple[Access, manifest.Gateway]:
    """How the server of a manifest is reached; the registry has seen to it that every value is set."""
    gateway = spec.manifest.spec.gateway
    if gateway is None or spec.url is None:
        raise ValueError(f"{spec.id}: no gateway")
    headers = {header: spec.env[name] for header, name in gateway.headers.items()}
    if gateway.key is not None:
        headers["Authorization"] = f"Bearer {spec.env[gateway.key]}"
    return Access(spec.url, headers, float(gateway.timeout_s)), gateway
