"""Start one test command in the sandbox and fetch its report from outside the tree (PX-2)."""

import json
import os
import pwd
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.workspace.sandbox.cleanup import read_file, remove_tree
from app.workspace.sandbox.model import Result, Sandbox, Spec, Workspace, run
from app.workspace.tests.model import TestJob
from app.workspace.trees import give

REPORT = "/report"
LAYER = "/layer"
REPORT_BYTES = 32 * 1024 * 1024
PLUGINS = "/run/remedy"


@dataclass(frozen=True)
class Command:
    """One start: `{report}` in `argv` and `env` becomes the report's place.

    `folders` are put first on PATH, `files` on disk.
    """

    argv: tuple[str, ...]
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    binds: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    folders: tuple[str, ...] = ()


async def execute(sandbox: Sandbox, job: TestJob, command: Command) -> tuple[Result, bytes | None]:
    """The end of the command, and its report, None if it wrote none. Report and folder have names of this run alone."""
    folder = Path(f"{job.files}.report")
    remove_tree(folder, job.uid)
    folder.mkdir(mode=0o700)
    give(folder, job.uid)
    folder.chmod(0o300)  # It can be written into, but the name of the report cannot be looked up (PX-2).
    binds = {**command.binds, **({LAYER: job.layer} if job.layer is not None else {})}
    place = Workspace(job.files, job.uid, binds=binds, writable={REPORT: folder}, files=command.files)
    name = secrets.token_hex(12)
    report = f"{sandbox.seen(place, REPORT)}/{name}"
    layer = sandbox.seen(place, LAYER) if job.layer is not None else ""
    argv = tuple(placed(word, report, layer) for word in command.argv)
    env = {key: placed(value, report, layer) for key, value in with_layer(environment(job, command), layer).items()}
    try:
        result = await run(sandbox, Spec("tests", argv, place, job.limits, env, command.cwd))
        with suppress(OSError):
            folder.chmod(0o700)
        return result, read_file(folder, name, REPORT_BYTES)
    finally:
        remove_tree(folder, job.uid)


def placed(word: str, report: str, layer: str) -> str:
    """A word of a command with the places that it asks for."""
    return word.replace("{report}", report).replace("{layer}", layer or "{layer}")


def with_layer(env: Mapping[str, str], layer: str) -> dict[str, str]:
    """What the set-up left comes before what the tree holds (PT-10): programs, Python and Node packages."""
    if not layer:
        return dict(env)
    python = ":".join(part for part in (env.get("PYTHONPATH", ""), f"{layer}/python") if part)
    path = f"{layer}/bin:{env['PATH']}"
    return {**env, "REMEDY_LAYER": layer, "PATH": path, "PYTHONPATH": python, "NODE_PATH": f"{layer}/node_modules"}


def environment(job: TestJob, command: Command) -> dict[str, str]:
    """The environment of PX-7, built from nothing."""
    return {
        "PATH": ":".join([*command.folders, "/usr/local/bin:/usr/bin:/bin"]),
        "CI": "1",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(job.seed),
        "GOFLAGS": "-count=1",
        "GOPROXY": "off",
        "CARGO_NET_OFFLINE": "true",
        "CARGO_INCREMENTAL": "0",
        **command.env,
    }


def tool_folders(tools: str) -> dict[str, Path]:
    """The operator's `proof_tools` as binds at their true places; a home folder is never one of them (SX-36)."""
    homes = {user.pw_dir for user in pwd.getpwall()} | {os.path.expanduser("~"), "/"}
    folders = (folder for folder in tools.split(":") if os.path.isabs(folder) and os.path.isdir(folder))
    return {folder: Path(folder) for folder in folders if os.path.realpath(folder) not in homes}


def on_path(folder: str) -> str:
    """Where the programs of a tool folder are."""
    return f"{folder}/bin" if os.path.isdir(f"{folder}/bin") else folder


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()
