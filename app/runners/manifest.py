"""`runner.yaml`: what a runner says about itself, read strictly (runners.md, 11)."""

from typing import Annotated, Literal, Self

import yaml
from jsonschema_rs import Draft202012Validator, ReferencingError
from jsonschema_rs import ValidationError as SchemaError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from app.runners.codes import Code, RunnerError
from app.runners.permissions import Grant, HostTool, ToolKind, grant

MANIFEST_BYTES = 64 * 1024

Usage = Literal["agent", "supervisor", "self_repair", "event"]
IdPart = Annotated[str, StringConstraints(pattern=r"^[a-z0-9._-]{1,40}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
Argument = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]{0,99}$")]
Protocol = Literal["acp/1", "opencode/1", "mcp/1"]
Structured = Literal["meta", "tool", "marker", "native", "poll"]
Folder = Annotated[str, StringConstraints(pattern=r"^/[^\x00\n]{1,500}$")]
"""A folder of this machine that is shown to the agent read-only, for programs that lie outside /usr."""
Address = Annotated[str, StringConstraints(pattern=r"^(https?://[!-~]{1,500}|\$[A-Z_][A-Z0-9_]{0,99})$")]
"""A server's address, or the name of the operator's variable that holds it: `$NAME`, which `env` must list."""

OWN_NAMES = ("REMEDY_", "GITHUB_", "DATABASE_URL", "REDIS_URL", "LD_")
"""Our own settings and the loader's switches: no manifest may ask for them."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Metadata(_Part):
    author: IdPart
    name: IdPart
    runner: IdPart
    version: Line
    label: Line
    description: Line

    @property
    def id(self) -> str:
        return f"{self.author}/{self.name}/{self.runner}"


class Requires(_Part):
    """`strong_sandbox`: the agent's own walls are off or cannot stand inside ours, so ours must be STRONG (RN-50)."""

    strong_sandbox: bool = False
    version: Annotated[str, StringConstraints(pattern=r"^((>=|<=|<|>|==)\d+(\.\d+)*(,|$))*$")] = ""


class Claims(_Part):
    """What the agent can do by its own word; checked against what `initialize` offers (RN-70)."""

    load_session: bool = False
    structured_output: Structured = "marker"
    cancel: bool = True


class Permissions(_Part):
    host_tools: list[HostTool] = Field(default_factory=list)
    agent_tools: dict[ToolKind, Literal["allow", "ask", "deny"]] = Field(default_factory=dict)

    def grant(self) -> Grant:
        return grant(self.host_tools, self.agent_tools.items())


class TurnLimits(_Part):
    """Each may only lower what the operator's settings allow."""

    turn_timeout_s: Annotated[int, Field(ge=1, le=86_400)] | None = None
    stdout_kib: Annotated[int, Field(ge=1, le=16_384)] = 16_384


class SessionTools(_Part):
    """Names of the three tools that make, find and move sessions of a remote agent."""

    create: Line = "devin_session_create"
    search: Line = "devin_session_search"
    interact: Line = "devin_session_interact"


class Gateway(_Part):
    """How a remote agent is reached at `url`; `key` names the variable that holds the key for it.

    `shared`: the URL serves other servers too, so that a bare tool name says nothing about its owner.
    """

    server: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
    transport: Literal["native", "litellm-rest"] = "native"
    key: EnvName | None = None
    headers: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,100}$")], EnvName] = Field(
        default_factory=dict
    )
    shared: bool = False
    tools: SessionTools = SessionTools()
    id_prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{0,20}$")] = "devin-"
    tags: Annotated[list[Line], Field(max_length=20)] = Field(default_factory=list)
    max_acu: Annotated[int, Field(ge=1, le=10_000)] | None = None
    timeout_s: Annotated[int, Field(ge=1, le=600)] = 70
    """Above the gateway's own 60 s, so that it is the gateway that gives up (G22)."""


class Spec(_Part):
    usages: Annotated[list[Usage], Field(min_length=1)]
    events: list[Line] = Field(default_factory=list)
    protocol: Protocol
    command: Annotated[list[Argument], Field(min_length=1, max_length=100)] | None = None
    url: Address | None = None
    gateway: Gateway | None = None
    folders: list[Folder] = Field(default_factory=list)
    env: list[EnvName] = Field(default_factory=list)
    env_fixed: dict[EnvName, Argument] = Field(default_factory=dict)
    requires: Requires = Requires()
    capabilities: Claims = Claims()
    permissions: Permissions = Permissions()
    config_schema: dict[str, object] = Field(default_factory=lambda: {"type": "object", "additionalProperties": False})
    limits: TurnLimits = TurnLimits()

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if bool(self.events) != ("event" in self.usages):
            raise ValueError("events: goes with the usage event, and only with it")
        self._check_reach()
        for name in (*self.env, *self.env_fixed):
            if name.startswith(OWN_NAMES):
                raise ValueError(f"env: {name} is a name of ours")
        try:
            self.config_validator()
        except (SchemaError, ReferencingError) as error:
            raise ValueError(f"config_schema: {error.message}") from error
        return self

    def _check_reach(self) -> None:
        """An agent is started by its `command` or runs already at its `url`, as its protocol can."""
        if (self.command is None) == (self.url is None):
            raise ValueError("command: needed, or url, and not both")
        if self.protocol == "acp/1" and self.command is None:
            raise ValueError("command: acp/1 starts a command")
        if self.protocol == "mcp/1" and self.url is None:
            raise ValueError("url: mcp/1 speaks to a server that runs already")
        if self.url is not None and self.url.startswith("$") and self.url[1:] not in self.env:
            raise ValueError(f"url: {self.url[1:]} is not listed in env")
        if (self.protocol == "mcp/1") != (self.gateway is not None):
            raise ValueError("gateway: goes with mcp/1, and only with it")
        if self.gateway is not None:
            self._check_gateway(self.gateway)

    def _check_gateway(self, gateway: Gateway) -> None:
        """A remote agent works in a clone of its own: it repairs, it judges nothing that lies here."""
        if self.usages != ["agent"]:
            raise ValueError("usages: mcp/1 works as agent only")
        names = {*gateway.headers.values(), *([gateway.key] if gateway.key else ())}
        if missing := sorted(names - {*self.env}):
            raise ValueError(f"gateway: {', '.join(missing)} is not listed in env")

    def config_validator(self) -> Draft202012Validator:
        """Checks a configuration; a `$ref` to elsewhere is refused, never fetched."""
        return Draft202012Validator(self.config_schema, offline=True)


class Manifest(_Part):
    """One runner: who made it, how it is started, what it may and can do."""

    apiVersion: Literal["remedy/v1"]
    kind: Literal["Runner"]
    metadata: Metadata
    spec: Spec

    @property
    def id(self) -> str:
        return self.metadata.id


def read_manifest(text: bytes) -> Manifest | RunnerError:
    """The manifest, or `runner.broken_manifest` with the field's name and what is wrong with it (D2, D24)."""
    if len(text) > MANIFEST_BYTES:
        return _broken(f"runner.yaml is larger than {MANIFEST_BYTES} bytes")
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        return _broken(f"runner.yaml is no YAML{f', line {mark.line + 1}' if mark is not None else ''}")
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return _broken("; ".join(f"{'.'.join(map(str, one['loc'])) or 'runner.yaml'}: {one['msg']}" for one in found))


def _broken(why: str) -> RunnerError:
    return RunnerError(Code.BROKEN_MANIFEST, why)
