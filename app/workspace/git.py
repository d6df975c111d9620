"""Run the host's git with an environment built from nothing: no hook, filter, helper or configuration of anybody."""

import base64
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Literal
from urllib.parse import urlsplit

from app.errors import UserError

OUT_BYTES = 256 * 1024 * 1024
ERR_BYTES = 64 * 1024
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"refs/(?!.*(?:\.\.|@\{|//|/\.|\.lock(?:/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![./])")

# sandbox.md, section 10. `core.bare` is set by each caller, because it decides whether attributes are read.
FLAGS: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.untrackedCache": "false",
    "core.protectNTFS": "true",
    "core.protectHFS": "true",
    "core.quotePath": "true",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "advice.addEmbeddedRepo": "false",
    "init.defaultBranch": "main",
}

ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}


class GitFailed(Exception):
    """git ended with another status than 0; `text` is the end of its stderr."""

    def __init__(self, args: Sequence[str], rc: int, text: str) -> None:
        super().__init__(f"git {args[0] if args else ''} ended with {rc}: {text.strip()[-2000:]}")
        self.rc = rc
        self.text = text


class GitTimeout(GitFailed):
    """git was ended by us because it passed its time."""


class GitTooMuch(GitFailed):
    """git was ended by us because it printed more than the caller wants to read."""


@dataclass(frozen=True)
class Done:
    rc: int
    out: bytes
    err: str
    ended: Literal["", "time", "size"] = ""


@dataclass(frozen=True)
class Git:
    """One way of calling git: `git_dir` is ours, `work_tree` (if any) holds nothing that untrusted code has touched.

    `config` joins FLAGS on the command line and must hold no secret; `secret_config` goes through the environment.
    `dates` is the time of a commit that is made, as `@<seconds> +0000`.
    """

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    secret_config: tuple[tuple[str, str], ...] = ()
    dates: str = ""

    def run(self, *args: str, stdin: bytes = b"", wall_s: float = 300, cap: int = OUT_BYTES) -> bytes:
        """Standard output; raises GitFailed, GitTimeout or GitTooMuch."""
        done = self.ask(*args, stdin=stdin, wall_s=wall_s, cap=cap)
        if done.rc != 0:
            raise GitFailed(args, done.rc, done.err)
        return done.out

    def text(self, *args: str, wall_s: float = 300) -> str:
        """Standard output without the final newline; raises as `run`."""
        return self.run(*args, wall_s=wall_s).decode("utf-8", "replace").rstrip("\n")

    def ask(self, *args: str, stdin: bytes = b"", wall_s: float = 300, cap: int = OUT_BYTES) -> Done:
        """The same for commands whose status is an answer; raises GitTimeout or GitTooMuch only."""
        done = _call([*self._prefix(), *args], self._environment(), stdin, wall_s, cap)
        if done.ended == "time":
            raise GitTimeout(args, done.rc, f"no end after {wall_s:.0f} s")
        if done.ended == "size":
            raise GitTooMuch(args, done.rc, f"more than {cap} bytes")
        return done

    def _prefix(self) -> list[str]:
        bare = "true" if self.work_tree is None else "false"
        flags = {**FLAGS, "core.bare": bare, **self.config}
        options = [part for key, value in flags.items() for part in ("-c", f"{key}={value}")]
        tree = [] if self.work_tree is None else [f"--work-tree={self.work_tree}"]
        return [git_program(), "--no-pager", f"--git-dir={self.git_dir}", *tree, *options]

    def _environment(self) -> dict[str, str]:
        env = dict(ENVIRONMENT)
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index)
        if self.dates:
            env["GIT_AUTHOR_DATE"] = env["GIT_COMMITTER_DATE"] = self.dates
        if self.secret_config:
            env["GIT_CONFIG_COUNT"] = str(len(self.secret_config))
        for n, (key, value) in enumerate(self.secret_config):
            env[f"GIT_CONFIG_KEY_{n}"] = key
            env[f"GIT_CONFIG_VALUE_{n}"] = value
        return env


@cache
def git_program() -> str:
    """Absolute path of git; raises UserError when there is none."""
    found = shutil.which("git", path="/usr/bin:/bin") or shutil.which("git")
    if found is None:
        raise UserError("git is not installed; Remedy needs the git command (for example: apt-get install git).")
    return os.path.abspath(found)


def is_sha(text: str) -> bool:
    """A full object id in lower case."""
    return _SHA.fullmatch(text) is not None


def is_ref(text: str) -> bool:
    """A full ref name (`refs/...`) by git's own rules, so it is never read as an option or a refspec."""
    return _REF.fullmatch(text) is not None


def credentials(url: str, token: str) -> tuple[tuple[str, str], ...]:
    """Configuration that sends `token` to the host of `url` only; empty without a token or for a path (GH-21).

    The empty header first removes every other one: GitHub refuses two `Authorization` headers (F-P6).
    """
    parts = urlsplit(url)
    if not token or parts.scheme not in ("http", "https"):
        return ()
    key = f"http.{parts.scheme}://{parts.netloc.rpartition('@')[2]}/.extraheader"
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return ((key, ""), (key, f"Authorization: Basic {basic}"))


def _call(argv: list[str], env: dict[str, str], stdin: bytes, wall_s: float, cap: int) -> Done:
    process = subprocess.Popen(
        argv,
        env=env,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    timer = _Ending(process, wall_s)
    with process, timer:
        out, err = _Reader(process.stdout, cap, process), _Reader(process.stderr, ERR_BYTES, None)
        _feed(process.stdin, stdin)
        out.join()
        err.join()
        rc = process.wait()
    ended: Literal["", "time", "size"] = "time" if timer.fired else "size" if out.overflowed else ""
    return Done(rc, bytes(out.data), err.data.decode("utf-8", "replace"), ended)


def _feed(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole process group: git has children (remote helpers, index-pack)."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


class _Ending:
    """Ends the process group when its time is up, or when the block is left by an exception."""

    def __init__(self, process: subprocess.Popen[bytes], wall_s: float) -> None:
        self._process = process
        self._timer = threading.Timer(wall_s, self._fire)
        self._timer.daemon = True
        self.fired = False

    def _fire(self) -> None:
        self.fired = True
        _end(self._process)

    def __enter__(self) -> "_Ending":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        _end(self._process)


class _Reader(threading.Thread):
    """Reads a pipe to its end and keeps `cap` bytes; past the cap it ends `victim`, if there is one."""

    def __init__(self, pipe: IO[bytes] | None, cap: int, victim: subprocess.Popen[bytes] | None) -> None:
        super().__init__(daemon=True)
        assert pipe is not None
        self._pipe, self._cap, self._victim = pipe, cap, victim
        self.data = bytearray()
        self.overflowed = False
        self.start()

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 65536):
            room = self._cap - len(self.data)
            self.data += chunk[:room]
            if len(chunk) > room:
                self.overflowed = True
                if self._victim is not None:
                    _end(self._victim)
