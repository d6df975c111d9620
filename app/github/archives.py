"""Unpack a zip file that strangers made: capped in size, entries and names, never outside its folder (GH-27, S21)."""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

_CHUNK = 256 * 1024
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_DIRECTORY_BYTES_PER_ENTRY = 1024


@dataclass(frozen=True)
class Caps:
    unpacked_bytes: int = 2 * 1024**3
    entries: int = 10_000


@dataclass(frozen=True)
class Unpacked:
    """`files` are paths below the folder, in the archive's order; `refused` says why an entry is not among them."""

    files: tuple[Path, ...]
    refused: tuple[str, ...] = ()


def unpack(archive: Path, folder: Path, caps: Caps | None = None) -> Unpacked:
    """Write the plain files of `archive` below `folder`, as far as the caps go; never raises for what is inside."""
    caps = caps or Caps()
    files: list[Path] = []
    refused: list[str] = []
    left = caps.unpacked_bytes
    try:
        if _directory_bytes(archive) > caps.entries * _DIRECTORY_BYTES_PER_ENTRY:
            return Unpacked((), ("the list of entries is too long",))
        with zipfile.ZipFile(archive) as source:
            for number, entry in enumerate(source.infolist()):
                if number >= caps.entries:
                    refused.append(f"more than {caps.entries} entries")
                    break
                if entry.is_dir():
                    continue
                if reason := _reason_against(entry):
                    refused.append(f"entry {number}: {reason}")
                    continue
                target = folder / PurePosixPath(entry.filename)
                outcome = _write(source, entry, target, left)
                if isinstance(outcome, str):
                    refused.append(f"entry {number}: {outcome}")
                    continue
                left -= outcome
                files.append(target)
    except (zipfile.BadZipFile, struct.error, ValueError, OSError) as error:
        refused.append(f"not a readable zip file: {type(error).__name__}")
    return Unpacked(tuple(files), tuple(refused))


def _reason_against(entry: zipfile.ZipInfo) -> str:
    """Why an entry must not be written, or nothing."""
    name = PurePosixPath(entry.filename)
    mode = entry.external_attr >> 16
    if "\\" in entry.filename or ":" in entry.filename or any(ord(char) < 32 for char in entry.filename):
        return "a name with signs that do not belong there"
    if name.is_absolute() or ".." in name.parts or not name.parts:
        return "a name that leads elsewhere"
    if len(entry.filename) > 1000 or any(len(part.encode()) > 255 for part in name.parts):
        return "a name that is too long"
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "a link or a special file"
    return "an encrypted entry" if entry.flag_bits & 1 else ""


def _write(source: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int | str:
    """The bytes written, counted while they come: an archive may lie about them. Or why nothing was written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open(entry) as packed, target.open("xb") as file:
            written = 0
            for chunk in _chunks(packed):
                written += len(chunk)
                if written > left:
                    break
                file.write(chunk)
    except FileExistsError:
        return "a name that is there already"
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        target.unlink(missing_ok=True)
        return f"not readable ({type(error).__name__})"
    if written > left:
        target.unlink()
        return "the archive unpacks to too many bytes"
    return written


def _chunks(packed: IO[bytes]) -> Iterator[bytes]:
    while chunk := packed.read(_CHUNK):
        yield chunk


def _directory_bytes(archive: Path) -> int:
    """The size of the list of entries, which `zipfile` would read into memory whole."""
    with archive.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 70_000, 0))
        tail = file.read()
    end = len(tail) - 22 if tail[-22:-18] == _END else tail.rfind(_END)
    if end < 0 or end + 22 > len(tail):
        return 0
    (directory,) = struct.unpack_from("<L", tail, end + 12)
    end64 = tail.rfind(_END64, 0, end)
    if end64 >= 0:
        (directory,) = struct.unpack_from("<Q", tail, end64 + 40)
    return int(directory)
