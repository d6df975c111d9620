"""Copy a runner's folder to where a dropped user can read it and nobody can change it, named by its content."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

FOLDER_BYTES = 200 * 1024 * 1024
IGNORED = frozenset({"__pycache__", ".git"})
CHUNK = 1024 * 1024


class Refused(Exception):
    """The folder cannot be installed; the text says which part of it and why."""


def install_folder(source: Path, target: Path) -> tuple[str, Path]:
    """The content digest of `source` and its read-only copy `target`/<digest>; the same content is copied once (D6).

    The digest is sha256 over the sorted (path, executable or not, bytes). Raises Refused for links, special files and
    folders above 200 MB.
    """
    digest = _digest(source)
    copy = target / digest
    if copy.is_dir():
        return digest, copy
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o755)
    staging = Path(tempfile.mkdtemp(prefix=".new-", dir=target))
    try:
        _copy(source, staging)
        if _digest(staging) != digest:
            raise Refused("the folder changed while it was copied")
        staging.rename(copy)
    except OSError:
        if not copy.is_dir():  # another worker was first
            raise
    finally:
        discard_folder(staging)
    return digest, copy


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files with their paths relative to `folder`, sorted."""
    total = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - IGNORED)
        for name in sorted([*names, *(one for one in folders if Path(place, one).is_symlink())]):
            path = Path(place, name)
            relative = path.relative_to(folder)
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode):
                raise Refused(f"{relative} is a link or a special file")
            total += facts.st_size
            if total > FOLDER_BYTES:
                raise Refused(f"the folder is larger than {FOLDER_BYTES} bytes")
            yield relative, facts


def _digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for relative, facts in sorted(_files(folder)):
        content = hashlib.sha256()
        with (folder / relative).open("rb") as file:
            while chunk := file.read(CHUNK):
                content.update(chunk)
        kind = "x" if facts.st_mode & 0o100 else "-"
        whole.update(f"{relative.as_posix()}\0{kind}\0{content.hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _copy(source: Path, staging: Path) -> None:
    folders = {staging}
    for relative, facts in _files(source):
        place = staging / relative
        place.parent.mkdir(parents=True, exist_ok=True)
        folders.update(staging / parent for parent in relative.parents)
        shutil.copyfile(source / relative, place)
        place.chmod(0o555 if facts.st_mode & 0o100 else 0o444)
    for folder in sorted(folders, reverse=True):
        folder.chmod(0o555)


def discard_folder(staging: Path) -> None:
    """Delete a copy, although nobody may write in it; one that is not there is no error."""
    if not staging.exists():
        return
    for place, _, _ in os.walk(staging):
        Path(place).chmod(0o755)
    shutil.rmtree(staging)
