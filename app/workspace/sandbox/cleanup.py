"""Read, measure and delete trees that hostile code has written: by descriptor, with caps, never through a link."""

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.programs import CHAIN_ENV, dropped_to, program

MAX_DEPTH = 256


@dataclass(frozen=True)
class Size:
    """What a tree holds; `over` when the walk was ended by a cap, so that the true figures are higher."""

    bytes: int
    files: int
    over: bool = False


def read_file(folder: Path, relative: str, cap: int) -> bytes | None:
    """At most `cap` + 1 bytes of a regular file below `folder`; None when it is absent or anything else.

    No part of `relative` may be a link, `..` or empty; a FIFO or a device is never opened for longer than a look.
    """
    parts = relative.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        return None
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return _read_at(at, parts[-1], cap)
    except OSError:
        return None
    finally:
        os.close(at)


def _read_at(folder: int, name: str, cap: int) -> bytes | None:
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return None
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return opened.read(cap + 1)


def measure(folder: Path, max_files: int) -> Size:
    """Blocks and entries of a tree, links not followed; ends at `max_files` entries or 256 levels."""
    total, count = 0, 0
    try:
        stack = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
    except OSError:
        return Size(0, 0)
    waiting: list[list[bytes]] = [_names(stack[0])]
    try:
        while stack:
            if not waiting[-1]:
                os.close(stack.pop())
                waiting.pop()
                continue
            name = waiting[-1].pop()
            try:
                found = os.stat(name, dir_fd=stack[-1], follow_symlinks=False)
            except OSError:
                continue
            total += found.st_blocks * 512
            count += 1
            if count > max_files or len(stack) > MAX_DEPTH:
                return Size(total, count, over=True)
            if stat.S_ISDIR(found.st_mode) and (below := _enter(stack[-1], name)) is not None:
                stack.append(below)
                waiting.append(_names(below))
        return Size(total, count)
    finally:
        for descriptor in stack:
            os.close(descriptor)


def _enter(folder: int, name: bytes) -> int | None:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None


def _names(folder: int) -> list[bytes]:
    try:
        return [os.fsencode(name) for name in os.listdir(folder)]
    except OSError:
        return []


def open_tree(folder: Path, uid: int | None) -> None:
    """Let everybody read a tree, as the uid that owns it; links are not followed."""
    drop = dropped_to(uid) if uid is not None else []
    argv = [*drop, program("chmod"), "-R", "a+rX", "--", str(folder)]
    subprocess.run(argv, env=CHAIN_ENV, cwd="/", capture_output=True, check=False)


def remove_tree(folder: Path, uid: int | None) -> None:
    """Delete a tree as the uid that owns it (a root app), so that no trick in it is played on root.

    Only `folder` itself is removed by the caller's uid; an absent one is no error. Raises OSError when it stays.
    """
    if folder.is_symlink():
        folder.unlink()
    if not os.path.lexists(folder):
        return
    drop = dropped_to(uid) if uid is not None else []
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf", "--one-file-system"]):
        argv = [*drop, program(command[0]), *command[1:], "--", str(folder)]
        subprocess.run(argv, env=CHAIN_ENV, cwd="/", capture_output=True, check=False)
    if os.path.lexists(folder):
        # What is left is the folder, which stands in one of ours, or things that the app itself put into it.
        rm = [program("rm"), "-rf", "--one-file-system", "--", str(folder)]
        done = subprocess.run(rm, env=CHAIN_ENV, cwd="/", capture_output=True, check=False)
        if os.path.lexists(folder):
            raise OSError(f"{folder} cannot be removed: {done.stderr.decode('utf-8', 'replace').strip()[:300]}")
