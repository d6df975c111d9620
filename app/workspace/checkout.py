"""One bare mirror per repository: all that Remedy knows of it in git, and the clean checkouts made from it."""

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.errors import UserError
from app.workspace import commits, remote, trees
from app.workspace.commits import REMEDY, Author, Change, Commit, PatchRefused
from app.workspace.git import Git, GitFailed, is_sha
from app.workspace.remote import Pushed, Refused, Target


@dataclass(frozen=True)
class Mirror:
    """The bare store of one repository (SX-27): no work tree, remote or credential; never mounted into a sandbox."""

    path: Path
    ca_file: Path | None = None

    def fetch(self, url: str, token: str, wants: Sequence[str]) -> dict[str, str]:
        """Fetch full ref names (`refs/heads/main`, `refs/pull/7/head`) and SHAs; want -> SHA, absent ones left out.

        Nothing is asked when every want is a SHA that is here. Raises AccessRefused and TransientError.
        """
        with self._alone():
            if all(is_sha(want) and self.has(want) for want in wants):
                return {want: want for want in wants}
            return remote.fetch(remote.talking(self.path, url, token, self.ca_file), url, wants)

    def remote_sha(self, url: str, token: str, branch: str) -> str | None:
        """SHA of a branch at the remote or None; raises AccessRefused and TransientError."""
        with self._alone():
            return remote.remote_sha(remote.talking(self.path, url, token, self.ca_file), url, branch)

    def push(self, url: str, token: str, sha: str, target: Target) -> Pushed | Refused:
        """Push one commit, never by force (decisions.md, row 8); raises AccessRefused and TransientError(unknown).

        A commit of ours that changes a workflow file is refused before the remote is asked (F-P1, PB-6).
        """
        for change in self._new_changes(sha):
            if change.path.startswith(".github/workflows/"):
                return Refused("workflows", f"{commits.printable(change.path)}: Remedy does not push workflow files")
        return remote.push(remote.talking(self.path, url, token, self.ca_file), url, sha, target)

    def workspace(self, sha: str, dest: Path, uid: int | None, tree: str | None = None) -> None:
        """A fresh clone in `dest` (must not exist) for an agent: last 100 commits, no remote, no credential.

        The files are those of `tree`, else of `sha`; all of it belongs to `uid` (SX-16). Raises UserError if too big.
        """
        trees.clone(self._git(), sha, tree or f"{sha}^{{tree}}", dest)
        trees.give(dest, uid)

    def tree_files(self, tree: str, dest: Path, uid: int | None) -> None:
        """The files of one tree in `dest` (must not exist), no `.git`, owned by `uid`; raises UserError if too big."""
        trees.export(self._git(), tree, dest)
        trees.give(dest, uid)

    def pristine(self, tree: str, dest: Path) -> None:
        """A bare folder that holds one tree and nothing else: what a sandboxed git may read (SX-29)."""
        trees.pristine(self._git(), tree, dest)

    def agent_tree(self, head: str, base: str) -> str:
        """Tree of `head` in which every file that steers an agent is the one of `base` (S11, RN-48)."""
        return trees.with_agent_files_of(self._git(), head, base)

    def commit(
        self,
        parent: str,
        patch: bytes,
        message: str,
        trailers: Mapping[str, str],
        author: Author = REMEDY,
    ) -> Commit | PatchRefused:
        """Commit a patch on `parent`. Equal arguments, the author's time among them, give the equal commit."""
        tree = commits.apply_patch(self._git(), parent, patch)
        if isinstance(tree, PatchRefused):
            return tree
        text = commits.with_trailers(message, trailers)
        return commits.write_commit(self._git(), tree, parent, text, author)

    def pack(self, sha: str, parent: str) -> bytes:
        """The objects that `sha` has and `parent` has not, as a pack that needs no other object to be read."""
        return self._git().run("pack-objects", "--quiet", "--revs", "--stdout", stdin=f"{sha}\n^{parent}\n".encode())

    def unpack(self, pack: bytes) -> None:
        """Take the objects of a pack, all or none; raises GitFailed if it is none."""
        with self._alone():
            self._git().run("index-pack", "--stdin", stdin=pack)

    def has(self, sha: str) -> bool:
        """The commit is here with its whole history."""
        return (self.path / "HEAD").exists() and self._git().ask("cat-file", "-e", f"{sha}^{{commit}}").rc == 0

    def tree_of(self, sha: str) -> str:
        """Tree id of a commit; raises GitFailed for one that is not here."""
        return self._git().text("rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}")

    def subject(self, sha: str) -> str:
        """First line of a commit's message."""
        return self._git().text("log", "-1", "--no-show-signature", "--format=%s", "--end-of-options", sha)

    def merge_base(self, one: str, other: str) -> str | None:
        """Best common ancestor, None for unrelated histories."""
        done = self._git().ask("merge-base", "--end-of-options", one, other)
        return done.out.decode().strip() or None

    def merged(self, ours: str, theirs: str) -> str | None:
        """Tree id of two commits merged; None where a person has to merge them. No driver or filter of theirs runs."""
        asked = ("merge-tree", "--write-tree", "--no-messages", "--end-of-options", ours, theirs)
        done = self._git().ask(*asked)
        return done.out.decode().strip() if done.rc == 0 else None

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self._git().ask("merge-base", "--is-ancestor", "--end-of-options", older, newer).rc == 0

    def diff(self, old: str, new: str) -> bytes:
        """Unified diff between two commits or trees, binary-safe, without renames, attributes or drivers."""
        return self._git().run("diff-tree", "-r", "-p", *trees.DIFF_OPTIONS, "--end-of-options", old, new)

    def changes(self, old: str, new: str) -> list[Change]:
        """Changed paths between two commits or trees."""
        return commits.changes(self._git(), old, new)

    def file(self, commit: str, path: str, cap: int = 1 << 20) -> bytes | None:
        """Content of one regular file at a commit; None when it is absent, no regular file or larger than `cap`."""
        row = self._git().run("ls-tree", "-l", "-z", "--end-of-options", commit, path).decode("utf-8", "replace")
        mode, _, blob, size, *_ = [*row.partition("\t")[0].split(), "", "", "", ""]
        if not mode.startswith("100") or int(size) > cap:
            return None
        return self._git().run("cat-file", "blob", blob)

    def _new_changes(self, sha: str) -> Iterator[Change]:
        """Changes of the commits that were never fetched, so are ours."""
        git = self._git()
        for line in git.text("rev-list", "--parents", sha, "--not", f"--glob={remote.FETCHED}*").splitlines():
            own, *parents = line.split()
            if parents:
                yield from commits.changes(git, parents[0], own)

    def _git(self) -> Git:
        return Git(self.path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time in this store; makes it when it is new."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{self.path}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.path / "HEAD").exists():
                self.path.mkdir(mode=0o700, exist_ok=True)
                try:
                    self._git().run("init", "--bare", "--quiet", "--template=", str(self.path))
                except GitFailed as error:
                    raise UserError(f"The folder {self.path} cannot hold a git store: {error.text.strip()}") from error
                os.chmod(self.path, 0o700)
            yield
