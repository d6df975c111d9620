"""Turn patch bytes into a commit of the bare store, or refuse them by name; nothing is checked out."""

import re
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.workspace.git import Git, GitFailed, GitTimeout, GitTooMuch

PATCH_BYTES = 10 * 1024 * 1024
FILE_BYTES = 5_000_000
MAX_FILES = 300
PATH_BYTES = 1024
SYMLINK, GITLINK, EXECUTABLE = "120000", "160000", "100755"
_ABSENT = "000000"
# Code points that HFS+ leaves out of a name (git's utf8.c, next_hfs_char).
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


@dataclass(frozen=True)
class Author:
    """Who made the commit, and when: seconds since 1970, 0 for now."""

    name: str = "remedy[bot]"
    email: str = "remedy[bot]@users.noreply.github.com"
    at_s: int = 0


REMEDY = Author()


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str


@dataclass(frozen=True)
class PatchRefused:
    """Nothing was applied; `reason` is a sentence that names the path."""

    reason: str


@dataclass(frozen=True)
class Change:
    """One path that differs between two trees; modes as six octal digits, `000000` where it is absent."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    new_id: str


def apply_patch(git: Git, parent: str, patch: bytes) -> str | PatchRefused:
    """Tree id of `parent` with the patch, or why not (PT-6, S54, PF-11). `git` is a bare store without work tree."""
    if not patch.strip():
        return PatchRefused("no change was made")
    if len(patch) > PATCH_BYTES:
        return PatchRefused(f"the patch has {len(patch)} bytes, more than {PATCH_BYTES}")
    if re.search(rb"^(GIT binary patch|Binary files )", patch, re.MULTILINE):
        return PatchRefused(f"{_binary_path(patch)}: the patch changes a binary file")
    with tempfile.TemporaryDirectory(prefix="remedy-index-") as folder:
        own = replace(git, index=Path(folder) / "index")
        try:
            own.run("read-tree", "--end-of-options", f"{parent}^{{tree}}")
            own.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch, wall_s=120)
            tree = own.text("write-tree")
        except (GitTimeout, GitTooMuch):
            raise
        except GitFailed as error:
            return PatchRefused(f"the patch does not apply: {_first_line(error.text)}")
    changed = changes(git, f"{parent}^{{tree}}", tree)
    return refusal_of(git, changed) or tree


def write_commit(git: Git, tree: str, parent: str, message: str, author: Author) -> Commit:
    """A commit whose id depends on nothing but its arguments, so that doing it twice gives the same one."""
    identity = {"user.name": author.name, "user.email": author.email}
    own = replace(
        git,
        config={**git.config, **identity, "commit.gpgSign": "false"},
        dates=f"@{author.at_s or int(time.time())} +0000",
    )
    sha = own.run("commit-tree", "-p", parent, "-F", "-", tree, stdin=message.encode("utf-8", "replace"))
    return Commit(sha.decode().strip(), tree)


def with_trailers(message: str, trailers: Mapping[str, str]) -> str:
    """The message with a last block of `Key: value` lines; a line end inside a value becomes a space."""
    lines = [f"{key}: {' '.join(value.split())}" for key, value in trailers.items()]
    return message.replace("\0", "").rstrip() + ("\n\n" + "\n".join(lines) if lines else "") + "\n"


def changes(git: Git, old: str, new: str) -> list[Change]:
    """Paths that differ between two trees or commits, without renames, read from objects (PT-5)."""
    raw = git.run("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--end-of-options", old, new)
    parts = raw.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        old_mode, new_mode, _, new_id, status = head.removeprefix(":").split(" ")
        found.append(Change(path, status, old_mode, new_mode, new_id))
    return found


def refusal_of(git: Git, changed: list[Change]) -> PatchRefused | None:
    """The first thing that a fix may not do, by rule and path; None when all is fit to be tested."""
    if not changed:
        return PatchRefused("no change was made")
    if len(changed) > MAX_FILES:
        return PatchRefused(f"the patch changes {len(changed)} files, more than {MAX_FILES}")
    for change in changed:
        if why := path_refusal(change.path) or _mode_refusal(change):
            return PatchRefused(f"{printable(change.path)}: {why}")
    for path, size in _sizes(git, (change for change in changed if change.new_mode != _ABSENT)):
        if size > FILE_BYTES:
            return PatchRefused(f"{printable(path)}: the file has {size} bytes, more than {FILE_BYTES}")
    return None


def path_refusal(path: str) -> str | None:
    """Why a path may not be changed by a fix: how it is written, or that git itself reads it."""
    if any(0xDC80 <= ord(sign) <= 0xDCFF for sign in path):
        return "the name is not UTF-8"
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") for sign in path):
        return "the name has a control character"
    if len(path.encode()) > PATH_BYTES or path.startswith("/") or "\\" in path:
        return "the name is too long, absolute or has a backslash"
    for part in path.split("/"):
        if part in ("", ".", "..") or part.startswith("-") or len(part.encode()) > 255:
            return "a part of the name is empty, `.`, `..`, too long or starts with `-`"
        if _folded(part) in (".git", "git~1", ".gitmodules"):
            return "git reads this path"
    return None


def printable(path: str) -> str:
    """A path for a sentence: control characters and broken bytes as escapes."""
    return "".join(s if s.isprintable() else f"\\x{ord(s):02x}" for s in path)[:300]


def _folded(part: str) -> str:
    """The name as the most forgiving file system reads it: case, ignorable signs, streams, trailing dots and blanks."""
    plain = unicodedata.normalize("NFKC", part.translate(_IGNORED)).casefold()
    return plain.split(":")[0].rstrip(". ")


def _mode_refusal(change: Change) -> str | None:
    if change.new_mode == SYMLINK:
        return "the patch writes a symbolic link"
    if GITLINK in (change.old_mode, change.new_mode):
        return "the patch changes a submodule"
    if change.new_mode == EXECUTABLE != change.old_mode:
        return "the patch makes a file executable"
    return None


def _sizes(git: Git, changed: Iterable[Change]) -> list[tuple[str, int]]:
    rows = list(changed)
    asked = "".join(f"{row.new_id}\n" for row in rows).encode()
    said = git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked).split()
    return [(row.path, int(size)) for row, size in zip(rows, said, strict=True)]


def _binary_path(patch: bytes) -> str:
    before = re.split(rb"^(?:GIT binary patch|Binary files )", patch, maxsplit=1, flags=re.MULTILINE)[0]
    heads = re.findall(rb"^diff --git a/.* b/(.*)$", before, re.MULTILINE)
    return printable(heads[-1].decode("utf-8", "replace")) if heads else "a file"


def _first_line(text: str) -> str:
    return printable(text.strip().partition("\n")[0].removeprefix("error: "))
