"""Trees of a bare store as the gate reads them: files by path, and what changed between two of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.integrity.model import GITLINK, Blob, Change
from app.workspace.git import Git

FILE_BYTES = 8 * 1024 * 1024
AT_ONCE_BYTES = 64 * 1024 * 1024
LIST_BYTES = 64 << 20


@dataclass(frozen=True)
class Entry:
    """One row of a tree: mode, object id, size in bytes."""

    mode: str
    id: str
    size: int


@dataclass
class TreeFiles(Mapping[str, Blob]):
    """A tree by path. Contents are read when first asked for: all of a small tree at once, else each on its own."""

    git: Git
    tree: str
    _entries: dict[str, Entry] | None = field(default=None, repr=False)
    _blobs: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def entries(self) -> dict[str, Entry]:
        if self._entries is None:
            self._entries = entries_of(self.git, self.tree)
        return self._entries

    def __getitem__(self, path: str) -> Blob:
        entry = self.entries[path]
        if entry.mode == GITLINK or entry.size > FILE_BYTES:
            return Blob(b"", entry.mode)
        if entry.id not in self._blobs:
            small = sum(one.size for one in self.entries.values() if one.mode != GITLINK) <= AT_ONCE_BYTES
            wanted = (
                [one for one in self.entries.values() if one.mode != GITLINK and one.size <= FILE_BYTES]
                if small
                else [entry]
            )
            self._blobs |= read_blobs(self.git, [one.id for one in wanted if one.id not in self._blobs])
        return Blob(self._blobs[entry.id], entry.mode)

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def entries_of(git: Git, tree: str) -> dict[str, Entry]:
    """All files of a tree by path."""
    listed = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", tree, cap=LIST_BYTES)
    found = {}
    for row in listed.decode("utf-8", "surrogateescape").split("\0"):
        columns, _, path = row.partition("\t")
        if path:
            mode, _, own, size = columns.split()
            found[path] = Entry(mode, own, int(size) if size.isdigit() else 0)
    return found


def read_blobs(git: Git, ids: list[str]) -> dict[str, bytes]:
    """Contents of blobs by id."""
    asked = "".join(f"{one}\n" for one in dict.fromkeys(ids)).encode()
    said = git.run("cat-file", "--batch", stdin=asked)
    found, at = {}, 0
    while at < len(said):
        end = said.index(b"\n", at)
        own, _, size = said[at:end].decode().split(" ")
        found[own] = said[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return found


def changes_between(git: Git, old: str, new: str) -> tuple[Change, ...]:
    """Changed paths with renames, from objects, never from the text of a diff (PT-5)."""
    raw = git.run("diff-tree", "-r", "--raw", "-z", "-M", "--no-abbrev", "--end-of-options", old, new)
    parts = raw.decode("utf-8", "surrogateescape").split("\0")
    found, n = [], 0
    while n < len(parts) - 1:
        status = parts[n].rsplit(" ", 1)[-1]
        if status[:1] in ("R", "C"):
            before, after = parts[n + 1], parts[n + 2]
            found.append(Change(before if status[0] == "R" else None, after))
            n += 3
            continue
        path = parts[n + 1]
        found.append(Change(None if status == "A" else path, None if status == "D" else path))
        n += 2
    return tuple(found)
