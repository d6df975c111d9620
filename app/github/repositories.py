"""Read a repository: its facts, a branch, a commit, a file, how two commits stand to each other."""

import base64
import binascii
from dataclasses import dataclass

from app.errors import UserError
from app.events.payloads.parts import Part, Repository, Text, User
from app.github.client import Client
from app.github.paths import repo_path


class _Sha(Part):
    sha: str


class Signature(Part):
    """Who made a commit as git tells it; anybody can write anything there."""

    name: Text = ""
    email: Text = ""


class _GitCommit(Part):
    message: Text = ""
    tree: _Sha | None = None
    author: Signature | None = None


class Commit(Part):
    """`author` and `committer` are accounts that GitHub recognised, or None."""

    sha: str
    commit: _GitCommit = _GitCommit()
    author: User | None = None
    committer: User | None = None
    parents: tuple[_Sha, ...] = ()

    @property
    def message(self) -> str:
        return self.commit.message

    @property
    def tree(self) -> str:
        return self.commit.tree.sha if self.commit.tree else ""


class RepositoryFacts(Repository):
    archived: bool | None = None
    has_issues: bool | None = None


class ComparedFile(Part):
    """`patch` is None for a binary file, and for one whose diff is too long for GitHub to send."""

    filename: Text = ""
    patch: str | None = None


class Comparison(Part):
    """`status` is identical, ahead, behind or diverged, seen from `base`; of `files` GitHub names at most 300."""

    status: Text = ""
    ahead_by: int = 0
    behind_by: int = 0
    merge_base_commit: _Sha | None = None
    files: tuple[ComparedFile, ...] = ()

    @property
    def merge_base(self) -> str | None:
        return self.merge_base_commit.sha if self.merge_base_commit else None


@dataclass(frozen=True)
class BranchFacts:
    name: str
    sha: str
    protected: bool


class _Branch(Part):
    name: Text = ""
    commit: _Sha
    protected: bool | None = None


class _File(Part):
    type: Text = ""
    size: int = 0
    encoding: Text = ""
    content: Text = ""


def get_repository(client: Client, repo: str) -> RepositoryFacts:
    """The name in the answer is the current one: repositories move (GH-32)."""
    return RepositoryFacts.model_validate(client.get(repo_path(repo)))


def get_branch(client: Client, repo: str, branch: str) -> BranchFacts | None:
    """None when there is no such branch."""
    found = client.find(repo_path(repo, "branches", branch))
    if found is None:
        return None
    facts = _Branch.model_validate(found)
    return BranchFacts(facts.name, facts.commit.sha, bool(facts.protected))


def find_commit(client: Client, repo: str, sha: str) -> Commit | None:
    found = client.find(repo_path(repo, "commits", sha))
    return Commit.model_validate(found) if found is not None else None


def find_comparison(client: Client, repo: str, base: str, head: str) -> Comparison | None:
    """How `head` stands to `base`, both SHAs or branches; None when one of them is not there."""
    found = client.find(repo_path(repo, "compare", f"{base}...{head}"), per_page=1)
    return Comparison.model_validate(found) if found is not None else None


def read_file(client: Client, repo: str, path: str, ref: str) -> bytes | None:
    """The bytes of a file at `ref`; None when no file is there. UserError above 1 MB, which GitHub does not send."""
    found = client.find(repo_path(repo, "contents", path), ref=ref)
    if not isinstance(found, dict):
        return None
    file = _File.model_validate(found)
    if file.type != "file":
        return None
    if file.encoding != "base64":
        raise UserError(f"{path} has {file.size} bytes, which is more than GitHub sends.")
    try:
        return base64.b64decode(file.content)
    except binascii.Error as error:
        raise UserError(f"{path} could not be read: GitHub's answer is no base64.") from error
