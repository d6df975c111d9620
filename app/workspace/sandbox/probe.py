"""Measure what a backend really holds by running hostile attempts inside it (SX-9)."""

import json
import os
import platform
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.workspace.sandbox import attempts
from app.workspace.sandbox.bubblewrap import Bubblewrap, Variant
from app.workspace.sandbox.interpreters import Interpreter
from app.workspace.sandbox.model import WORKSPACE, Limits, Spec, Tier, Workspace, run
from app.workspace.sandbox.seccomp import MACHINES, numbers
from app.workspace.sandbox.uids import tasks_of

ATTEMPTS = "/run/attempts.py"
PROMISED = frozenset(attempt.__name__ for attempt in attempts.ATTEMPTS)
TIERS = {Variant.STRICT: Tier.STRONG, Variant.HOST_PROC: Tier.DEGRADED}
# With the host's /proc, read-only, pids and command lines are seen; nothing else may be open (sandbox.md, 4.5).
EXCUSED = {Variant.STRICT: frozenset[str](), Variant.HOST_PROC: frozenset({"processes", "first_process"})}


@dataclass(frozen=True)
class Report:
    """What was measured: `tier` None means that the backend is not used, `problem` says why in one line."""

    backend: str
    program: str
    tier: Tier | None = None
    problem: str = ""
    answers: dict[str, str] = field(default_factory=dict)


async def probe(backend: Bubblewrap, room: Path, uid: int | None, python: Interpreter) -> Report:
    """Run the attempts in `room`, an empty folder that belongs to `uid`; never raises for a backend that fails."""
    report = Report(backend.name, str(backend.program))
    with _targets(room.parent) as asked:
        asked["names"] = ["PATH", "HOME", "LANG", "PWD", "LC_CTYPE", "SHLVL", "_"]
        asked["workspace"] = WORKSPACE
        script = Path(attempts.__file__).read_bytes()
        place = Workspace(room, uid, binds=python.binds(), files={ATTEMPTS: script})
        argv = (python.executable, "-I", "-S", ATTEMPTS, json.dumps(asked))
        result = await run(backend, Spec("probe", argv, place, Limits(wall_s=20, cpu_s=20)))
    said = dict(
        line.split(": ", 1) for line in result.stdout_tail.decode("utf-8", "replace").splitlines() if ": " in line
    )
    report = replace(report, answers=said)
    if result.rc != 0 or said.keys() != PROMISED:
        lines = result.stderr_tail.decode("utf-8", "replace").strip().splitlines()
        return replace(report, problem=_words(lines[-1] if lines else f"ended with {result.rc}, {result.reason}"))
    wrong = {name: answer for name, answer in said.items() if answer != "blocked"}
    if bad := {name: answer for name, answer in wrong.items() if name not in EXCUSED[backend.variant]}:
        return replace(report, problem="; ".join(f"{name}: {answer}" for name, answer in bad.items()))
    if uid is not None and tasks_of(uid):
        return replace(report, problem="a process outlived the run")
    return replace(report, tier=TIERS[backend.variant])


@contextmanager
def _targets(private: Path) -> Iterator[dict[str, Any]]:
    """Real things of the app that the attempts reach for."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="remedy-probe-"))
        os.chmod(folder, 0o755)
        key = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=private))) / "key.pem"
        key.parent.chmod(0o755)
        key.touch(mode=0o600)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = "remedy-" + secrets.token_hex(8)
        for address in ("\0" + abstract, f"{folder}/socket"):
            stack.enter_context(_listener(address))
        os.chmod(f"{folder}/socket", 0o666)
        yield {
            "pid": os.getpid(),
            "key": str(key),
            "port": port.getsockname()[1],
            "abstract": abstract,
            "socket": f"{folder}/socket",
            "numbers": numbers(platform.machine()) if platform.machine() in MACHINES else {},
        }


def _listener(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(1)
    return listener


# The start of a message of bwrap or the kernel -> what a person can do about it.
CURES = {
    "setting up uid map": "user namespaces are restricted (AppArmor: give bwrap a profile that allows userns)",
    "Creating new namespace failed": "user namespaces are switched off (sysctl user.max_user_namespaces)",
    "No permissions to creating new namespace": "user namespaces are not allowed here",
    "No permissions to create new namespace": "user namespaces are not allowed here",
    "Can't mount proc": "/proc is masked, as in a container (Docker: security_opt systempaths=unconfined)",
    "Unknown option": "this bubblewrap is too old; 0.8.0 is needed",
}


def _words(line: str) -> str:
    cure = next((cure for start, cure in CURES.items() if start in line), "")
    return f"{line[:300]}{': ' + cure if cure else ''}"
