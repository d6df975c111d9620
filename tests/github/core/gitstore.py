"""One bare git repository: commits from plain files, merges, refs and diffs, all through the git command."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NO_SHA = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
Files = Mapping[str, str | bytes | None]

ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C.UTF-8",
}
_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x01"
_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


class GitFailed(Exception):
    """git ended with an error; the text is its own."""


@dataclass(frozen=True)
class Person:
    name: str
    email: str


@dataclass(frozen=True)
class NewCommit:
    """What a commit says about itself; `at_s` is UTC seconds."""

    message: str
    author: Person
    at_s: int


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    authored_at: int
    committer: Person
    committed_at: int
    message: str


@dataclass(frozen=True)
class FileChange:
    """One file of a diff; `status` is GitHub's word, `patch` holds the hunks only."""

    path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str


@dataclass(frozen=True)
class Entry:
    mode: str
    kind: str
    sha: str
    size: int
    path: str


class GitStore:
    """A bare repository at `path`; every method raises GitFailed when git does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, ...], Any] = {}

    def init(self, default_branch: str) -> None:
        self.path.mkdir(parents=True)
        self._git("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}", ".")
        with (self.path / "config").open("a") as config:
            config.write("[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n[gc]\n\tauto = 0\n")

    def commit(self, branch: str, parent: str | None, files: Files, new: NewCommit) -> str:
        """The SHA of a commit on `parent` with `files` written (None deletes); it becomes the tip of `branch`."""
        who = f"{new.author.name} <{new.author.email}> {new.at_s} +0000".encode()
        stream = [b"commit refs/heads/%s\nmark :1\nauthor %s\ncommitter %s\n" % (branch.encode(), who, who)]
        stream.append(_data(new.message.encode()))
        if parent is not None:
            stream.append(b"from %s\n" % parent.encode())
        for path, content in files.items():
            stream.append(_file(path, content))
        stream.append(b"\nget-mark :1\ndone\n")
        return self._git("fast-import", "--quiet", "--force", "--done", stdin=b"".join(stream)).decode().strip()

    def merge(self, base: str, head: str, new: NewCommit) -> str | None:
        """The SHA of a merge commit of both; None when they conflict."""
        tree = self.merge_tree(base, head)
        if tree is None:
            return None
        return self._commit_tree(tree, (base, head), new)

    def merge_tree(self, base: str, head: str) -> str | None:
        """The tree of a merge; None for a conflict."""
        found: bytes | None = self._once(
            ("merge", base, head), lambda: self._try("merge-tree", "--write-tree", base, head)
        )
        return found.decode().splitlines()[0] if found is not None else None

    def resolve(self, name: str) -> str | None:
        """The commit that a branch, a ref or a full or short SHA names; branches first."""
        for candidate in (f"refs/heads/{name}", name if name.startswith("refs/") else f"refs/{name}", name):
            found = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", candidate + "^{commit}")
            if found:
                return found.decode().strip()
        return None

    def refs(self, prefix: str = "refs/heads/") -> dict[str, str]:
        lines = self._git("for-each-ref", "--format=%(refname) %(objectname)", prefix).decode().splitlines()
        return {name: sha for name, _, sha in (line.rpartition(" ") for line in lines)}

    def set_ref(self, ref: str, sha: str | None) -> None:
        """Point `ref` at `sha`; None deletes it."""
        self._git("update-ref", *(("-d", ref) if sha is None else (ref, sha)))

    def fetch(self, other: "GitStore", spec: str) -> None:
        self._git("fetch", "--quiet", "--no-tags", str(other.path), spec)

    def is_ancestor(self, old: str, new: str) -> bool:
        return self._try("merge-base", "--is-ancestor", old, new) is not None

    def merge_base(self, one: str, other: str) -> str | None:
        found: bytes | None = self._once(("base", one, other), lambda: self._try("merge-base", one, other))
        return found.decode().strip() if found else None

    def commits(self, spec: str, limit: int = 250) -> list[Commit]:
        """Newest first; `spec` is a SHA or `old..new`."""
        return self._log("--max-count", str(limit), spec)

    def one(self, sha: str) -> Commit:
        found: Commit = self._once(("commit", sha), lambda: self._log("--max-count", "1", sha)[0])
        return found

    def read(self, sha: str, path: str) -> bytes | None:
        """A file's bytes at a commit, None if it is not there."""
        entry = self.entry(sha, path)
        return self.blob(entry.sha) if entry is not None and entry.kind == "blob" else None

    def blob(self, sha: str) -> bytes:
        return self._git("cat-file", "blob", sha)

    def entry(self, sha: str, path: str) -> Entry | None:
        return next(iter(self._entries("ls-tree", "-z", "-l", "--full-tree", sha, "--", path)), None)

    def entries(self, sha: str, path: str = "", recursive: bool = False) -> list[Entry]:
        """What a folder holds (a folder inside as one entry), or all files below it."""
        where = ("--", f"{path.strip('/')}/") if path.strip("/") else ()
        return self._entries("ls-tree", "-z", "-l", "--full-tree", *(("-r", "-t") if recursive else ()), sha, *where)

    def changes(self, old: str, new: str) -> list[FileChange]:
        """Files that differ, in git's order; `old` may be EMPTY_TREE."""
        found: list[FileChange] = self._once(("diff", old, new), lambda: self._changes(old, new))
        return found

    def changed_paths(self, old: str, new: str) -> list[str]:
        return self._git("diff", "--name-only", "-z", "--no-renames", old, new).decode().split("\0")[:-1]

    def diff(self, old: str, new: str) -> bytes:
        return self._git("diff", "--no-renames", old, new)

    def checkout(self, sha: str, to: Path) -> None:
        """A work tree of one commit, with a `.git` that borrows these objects."""
        self._git("clone", "--quiet", "--template=", "--shared", "--no-checkout", str(self.path), str(to))
        self._git("-C", str(to), "-c", "advice.detachedHead=false", "checkout", "--quiet", sha)

    def _once(self, key: tuple[str, ...], find: Callable[[], Any]) -> Any:
        """What full SHAs say never changes, so it is asked once."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def _changes(self, old: str, new: str) -> list[FileChange]:
        raw = self._git("diff", "--raw", "-z", "--no-abbrev", "--no-renames", old, new).decode().split("\0")
        patches = _patches(self.diff(old, new).decode("utf-8", "replace"))
        found = []
        for head, path, patch in zip(raw[::2], raw[1::2], patches, strict=False):
            _, _, _, sha, status = head.split(" ")
            lines = patch.splitlines()
            added, gone = (sum(line.startswith(sign) for line in lines) for sign in "+-")
            found.append(FileChange(path, _STATUS[status[0]], sha, added, gone, patch))
        return found

    def _commit_tree(self, tree: str, parents: Sequence[str], new: NewCommit) -> str:
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (
                ("NAME", new.author.name),
                ("EMAIL", new.author.email),
                ("DATE", f"{new.at_s} +0000"),
            )
        }
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self._git("commit-tree", tree, *flags, stdin=new.message.encode(), env=who).decode().strip()

    def _log(self, *args: str) -> list[Commit]:
        text = self._git("log", f"--format={_FORMAT}", *args, "--").decode("utf-8", "replace")
        return [_commit(record.lstrip("\n")) for record in text.split("\1") if record.strip()]

    def _entries(self, *args: str) -> list[Entry]:
        found = self._try(*args)
        return [_entry(record) for record in (found or b"").decode("utf-8", "replace").split("\0") if record]

    def _try(self, *args: str) -> bytes | None:
        try:
            return self._git(*args)
        except GitFailed:
            return None

    def _git(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=ENVIRONMENT | dict(env or {}),
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise GitFailed(f"git {args[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _file(path: str, content: str | bytes | None) -> bytes:
    quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if content is None:
        return f"D {quoted}\n".encode()
    held = content.encode() if isinstance(content, str) else content
    mode = "100755" if held.startswith(b"#!") else "100644"
    return f"M {mode} inline {quoted}\n".encode() + _data(held)


def _commit(record: str) -> Commit:
    sha, tree, parents, name, email, at, committer, committer_email, committed_at, message = record.split("\0")
    return Commit(
        sha=sha,
        tree=tree,
        parents=tuple(parents.split()),
        author=Person(name, email),
        authored_at=int(at) * 1000,
        committer=Person(committer, committer_email),
        committed_at=int(committed_at) * 1000,
        message=message.rstrip("\n"),
    )


def _entry(record: str) -> Entry:
    head, path = record.split("\t", 1)
    mode, kind, sha, size = head.split()
    return Entry(mode, kind, sha, 0 if size == "-" else int(size), path)


def _patches(diff: str) -> list[str]:
    """The hunks of each file in git's order; empty for a binary or an empty file."""
    parts = ("\n" + diff).split("\ndiff --git ")[1:]
    return [f"@@ {hunks}".rstrip("\n") if mark else "" for _, mark, hunks in (p.partition("\n@@ ") for p in parts)]
