"""Read a fix in a child process with limits before this process reads it: its text may be made to harm (PI-12)."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.integrity.gate import check
from app.integrity.model import Delta, Moved
from app.integrity.mutants import mutants_of
from app.integrity.rules.case import Case
from app.workspace.git import ENVIRONMENT, Git
from app.workspace.grid.trees import Three, delta_of

FILE_S, LEAST_S, MOST_S = 5, 30, 300
MEMORY_BYTES = 4 << 30
_ROOT = Path(__file__).parents[3]
_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from app.workspace.grid.apart import main; main()"


def problem_of(git: Git, three: Three, delta: Delta, cpu_s: int | None = None) -> str:
    """Why the change cannot be read, empty when it can. The child knows no secret and parses what we shall parse."""
    files = len(delta.fix) + len(delta.pull)
    limit = cpu_s if cpu_s is not None else min(MOST_S, max(LEAST_S, FILE_S * files))
    asked = {
        "git": str(git.git_dir),
        "three": [three.base, three.head, three.fixed],
        "named": list(delta.named),
        "framework": delta.framework,
        "title": delta.title,
        "moved": asdict(delta.moved),
        "cpu_s": limit,
    }
    argv, too_slow = [sys.executable, "-I", "-B", "-c", _CODE, str(_ROOT)], f"the change could not be read in {limit} s"
    try:
        done = subprocess.run(
            argv, input=json.dumps(asked).encode(), env=dict(ENVIRONMENT), capture_output=True, timeout=4 * limit
        )
    except subprocess.TimeoutExpired:
        return too_slow
    if done.returncode == 0:
        return ""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return too_slow
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"the change could not be read: {lines[-1][:200] if lines else f'status {done.returncode}'}"


def main() -> None:
    """The child: what is asked comes on stdin, the answer is the status."""
    asked = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (asked["cpu_s"], asked["cpu_s"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    _read(asked)
    sys.stdout.flush()
    os._exit(0)


def _read(asked: Mapping[str, Any]) -> None:
    moved = Moved(**{name: tuple(paths) for name, paths in asked["moved"].items()})
    git, three, named = Git(Path(asked["git"])), Three(*asked["three"]), tuple(asked["named"])
    delta = replace(delta_of(git, three, named, asked["framework"], asked["title"]), moved=moved)
    check(delta)
    Case(delta).moves  # noqa: B018
    list(mutants_of(delta))
