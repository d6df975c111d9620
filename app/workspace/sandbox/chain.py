"""The argv in front of a run: mounts of toolchains, another uid, limits; each step execs the next."""

import os
import resource
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.model import Limits
from app.workspace.sandbox.programs import dropped_to, program
from app.workspace.sandbox.uids import tasks_of

RUNS_AT_ONCE = 8
NOFILE = 4096

# Positional arguments only: pairs of source and target up to `--`, then the argv to become.
_MOUNTS = 'while [ "$1" != -- ]; do mount --bind -- "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'


@dataclass(frozen=True)
class Staged:
    """Binds whose sources a dropped uid can reach: `binds` are inside path -> host path, `mounts` source -> folder."""

    binds: Mapping[str, Path]
    mounts: Mapping[Path, Path]


def limited(uid: int | None, limits: Limits) -> list[str]:
    """Steps that drop the uid and set limits before the first untrusted instruction (sandbox.md, 4.1)."""
    drop = dropped_to(uid) if uid is not None else []
    wanted = {
        "--nproc": limits.procs if uid is not None else tasks_of(os.getuid()) + RUNS_AT_ONCE * limits.procs,
        "--fsize": limits.file_bytes,
        "--core": 0,
        "--nofile": NOFILE,
        "--cpu": limits.cpu_s,
        "--data": limits.data_bytes,
        "--as": limits.address_bytes,
    }
    options = [f"{name}={_at_most(name, value)}" for name, value in wanted.items() if value is not None]
    return [*drop, program("prlimit"), *options, program("choom"), "-n", "1000", "--"]


_KINDS = {
    "--nproc": resource.RLIMIT_NPROC,
    "--fsize": resource.RLIMIT_FSIZE,
    "--core": resource.RLIMIT_CORE,
    "--nofile": resource.RLIMIT_NOFILE,
    "--cpu": resource.RLIMIT_CPU,
    "--data": resource.RLIMIT_DATA,
    "--as": resource.RLIMIT_AS,
}


def _at_most(name: str, value: int) -> int:
    """Nobody but root may raise a hard limit, so ours is never above the one we were given."""
    hard = resource.getrlimit(_KINDS[name])[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def in_own_mounts(staged: Staged) -> list[str]:
    """Steps that bind toolchains in a private mount namespace while we are still root (SX-35); empty without mounts."""
    if not staged.mounts:
        return []
    pairs = [str(path) for pair in staged.mounts.items() for path in pair]
    unshare = [program("unshare"), "--mount", "--propagation", "private", "--"]
    return [*unshare, program("sh"), "-c", _MOUNTS, "sh", *pairs, "--"]


def stage(binds: Mapping[str, Path], uid: int | None, folder: Path) -> Staged:
    """Give each source that `uid` cannot reach an empty place in `folder` where it will be bound."""
    if uid is None:
        return Staged(binds, {})
    reached: dict[str, Path] = {}
    mounts: dict[Path, Path] = {}
    for inside, named in binds.items():
        source = Path(os.path.realpath(named))
        if shut_folder(source, uid) is None:
            reached[inside] = source
            continue
        place = mounts.get(source) or _empty_place(folder, len(mounts), source.is_dir())
        mounts[source] = reached[inside] = place
    return Staged(reached, mounts)


def _empty_place(folder: Path, n: int, is_dir: bool) -> Path:
    folder.mkdir(mode=0o755, exist_ok=True)
    place = folder / f"{'d' if is_dir else 'f'}{n}"
    if is_dir:
        place.mkdir(mode=0o755, exist_ok=True)
    else:
        place.touch(mode=0o644, exist_ok=True)
    return place


def shut_folder(path: Path, uid: int) -> Path | None:
    """The first folder above `path`, from the root down, that `uid` may not search; None when it can get there."""
    for folder in reversed(Path(os.path.realpath(path)).parents):
        if not _may(folder, uid, stat.S_IXUSR):
            return folder
    return None


def readable(path: Path, uid: int | None) -> bool:
    """`uid` may read the file or list and search the folder, if it gets there at all."""
    return uid is None or _may(path, uid, stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))


def _may(path: Path, uid: int, bits: int) -> bool:
    found = path.stat()
    shift = 0 if found.st_uid == uid else 3 if found.st_gid == uid else 6
    return (found.st_mode << shift) & bits == bits


def first_shut(paths: Iterable[Path], uid: int) -> Path | None:
    """The first shut folder above any of `paths`."""
    return next((shut for path in paths if (shut := shut_folder(path, uid)) is not None), None)
