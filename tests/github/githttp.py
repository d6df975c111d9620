"""git over HTTP: `git http-backend` behind tokens, rules before a push, events after it (github.md C6)."""

import asyncio
import base64
import binascii
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.github import auth
from tests.github.acts.refs import Moved, ref_moved
from tests.github.auth import Caller
from tests.github.core.gitstore import ENVIRONMENT, NO_SHA
from tests.github.core.messages import Refused, Request
from tests.github.core.permissions import covers
from tests.github.core.record import Asked
from tests.github.core.state import Repository

if TYPE_CHECKING:
    from tests.github.world import World

CHUNK = 64 * 1024
_HOOK = Path(__file__).parent / "pre-receive"
_SERVICES = ("git-upload-pack", "git-receive-pack")

Start = Callable[[int, list[tuple[bytes, bytes]]], Awaitable[None]]
Send = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True)
class Visit:
    """One permitted git request; `service` is what it wants, `inner` the path below the repository."""

    repository: Repository
    caller: Caller
    service: str
    inner: str

    @property
    def pushes(self) -> bool:
        return self.service == "git-receive-pack"


def is_git(path: str) -> bool:
    return path.endswith(("/info/refs", "/git-upload-pack", "/git-receive-pack"))


def admit(world: "World", request: Request) -> Visit:
    """Who comes for what; raises Refused as GitHub does (D-23)."""
    with world.transaction():
        visit, status = None, 200
        try:
            visit = _admit(world, request)
        except Refused as refused:
            status = refused.status
            raise
        finally:
            who = visit.caller.who if visit is not None else "nobody"
            world.record.asked.append(
                Asked(world.clock.now_ms(), request.method, request.path, "git", who, status, None, request.query)
            )
        return visit


def _admit(world: "World", request: Request) -> Visit:
    name, _, inner = request.path.strip("/").partition(".git/")
    if not inner:
        owner, repo, inner = [*request.path.strip("/").split("/", 2), "", ""][:3]
        name = f"{owner}/{repo}"
    service = dict(request.query).get("service", inner)
    if service not in _SERVICES:
        raise Refused(403, "Please upgrade your git client.")
    caller = _caller(world, request)
    repository = world.state.find_repository(name)
    if repository is None:
        raise Refused(401 if caller.kind == "nobody" else 404, "Repository not found.")
    if caller.kind == "nobody":
        if repository.private or service == "git-receive-pack":
            raise Refused(401, "Authentication required.", headers={"WWW-Authenticate": 'Basic realm="GitHub"'})
    elif not caller.sees(repository):
        raise Refused(404, "Repository not found.")
    visit = Visit(repository, caller, service, inner)
    level = "write" if visit.pushes else "read"
    if caller.kind != "nobody" and not covers(caller.permissions, "contents", level):
        raise Refused(403, "Write access to repository not granted." if visit.pushes else "Forbidden")
    if visit.pushes and repository.archived:
        raise Refused(403, "This repository was archived so it is read-only.")
    return visit


def _caller(world: "World", request: Request) -> Caller:
    given = [value for name, value in request.headers if name == "authorization"]
    if not given:
        return auth.NOBODY
    if len(given) > 1:
        raise Refused(400, 'Duplicate header: "Authorization"')
    scheme, _, value = given[0].partition(" ")
    if scheme.lower() != "basic":
        raise Refused(401, "Authentication required.", headers={"WWW-Authenticate": 'Basic realm="GitHub"'})
    try:
        _, _, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Refused(401, "Invalid credentials") from error
    try:
        return auth.by_token(world, password)
    except Refused as refused:
        headers = {"WWW-Authenticate": 'Basic realm="GitHub"'}
        raise Refused(refused.status, "Invalid username or token.", headers=headers) from refused


async def serve(
    world: "World", visit: Visit, request: Request, body: AsyncIterator[bytes], out: tuple[Start, Send]
) -> None:
    """Stream both ways through the backend; after a push compare the refs and let the events out (D-25)."""
    start, send = out
    before = await asyncio.to_thread(visit.repository.git.refs, "refs/") if visit.pushes else {}
    process = await asyncio.create_subprocess_exec(
        "git",
        "http-backend",
        env=_environment(world, visit, request),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None and process.stdout is not None
    feeder = asyncio.create_task(_feed(process.stdin, body))
    try:
        status, headers = await _head(process.stdout)
        held = []
        await start(status, headers)
        while chunk := await process.stdout.read(CHUNK):
            if visit.pushes:
                held.append(chunk)
            else:
                await send(chunk)
        await process.wait()
        if visit.pushes and visit.inner == "git-receive-pack":
            await asyncio.to_thread(_after_push, world, visit, before)
        for chunk in held:
            await send(chunk)
    finally:
        feeder.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _feed(stdin: asyncio.StreamWriter, body: AsyncIterator[bytes]) -> None:
    """The backend may exit without reading its input; then what is left is dropped (D-22)."""
    try:
        async for chunk in body:
            stdin.write(chunk)
            await stdin.drain()
        stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        return


async def _head(stdout: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
    """The CGI head: a status, 200 without one, and the headers."""
    status, headers = 200, []
    while line := (await stdout.readline()).strip():
        name, _, value = line.partition(b": ")
        if name.lower() == b"status":
            status = int(value.split()[0])
        else:
            headers.append((name.lower(), value))
    return status, headers


def _environment(world: "World", visit: Visit, request: Request) -> dict[str, str]:
    hooks = visit.repository.git.path / "hooks"
    hooks.mkdir(exist_ok=True)
    if not (hooks / "pre-receive").exists():
        (hooks / "pre-receive").symlink_to(_HOOK)
    may_workflows = visit.caller.kind == "user" or covers(visit.caller.permissions, "workflows", "write")
    return {
        **ENVIRONMENT,
        "GIT_PROJECT_ROOT": str(visit.repository.git.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{visit.inner}",
        "QUERY_STRING": "&".join(f"{name}={value}" for name, value in request.query),
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.header("content-type") or "",
        "HTTP_CONTENT_ENCODING": request.header("content-encoding") or "",
        "GIT_PROTOCOL": request.header("git-protocol") or "",
        "REMOTE_USER": visit.caller.who,
        "REMOTE_ADDR": "127.0.0.1",
        "DOUBLE_MAY_WORKFLOWS": "1" if may_workflows else "",
        "DOUBLE_PROTECTED": " ".join(f"refs/heads/{name}" for name in sorted(visit.repository.protected)),
        "PATH": os.environ.get("PATH", os.defpath),
    }


def _after_push(world: "World", visit: Visit, before: dict[str, str]) -> None:
    with world.transaction():
        after = visit.repository.git.refs("refs/")
        for ref in sorted(before.keys() | after.keys()):
            old, new = before.get(ref, NO_SHA), after.get(ref, NO_SHA)
            if old != new and not ref.startswith("refs/pull/"):
                starts_ci = visit.caller.kind != "actions"
                ref_moved(world, Moved(visit.repository, ref, old, new, visit.caller.actor, starts_ci))
