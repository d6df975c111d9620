"""Write trees of the bare store to folders: a clone for an agent, files for a proof, a pristine store for a patch."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.errors import UserError
from app.workspace.git import ENVIRONMENT, Git, GitFailed, GitTooMuch

HISTORY = 100
MAX_ENTRIES = 200_000
MAX_BYTES = 4 << 30
LIST_BYTES = 64 << 20

DIFF_OPTIONS = (
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)

# Names that steer an agent or a package tool, at any depth (S11, RN-48). A folder stands for all below it.
AGENT_NAMES = frozenset(
    (
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "copilot-instructions.md"),
        *(".claude", ".codex", ".gemini", ".cursor", ".cursorrules", ".windsurf", ".windsurfrules", ".clinerules"),
        *(".aider.conf.yml", ".mcp.json", "mcp.json", ".opencode", "opencode.json", "opencode.jsonc"),
        *(".gitmodules", ".husky", ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", "pip.conf"),
    )
)


def clone(git: Git, sha: str, tree: str, dest: Path) -> None:
    """A repository in `dest` at `sha` with the files of `tree`, short history, no remote; UserError if too big."""
    check_size(git, tree)
    dest.mkdir(mode=0o700)
    own = Git(dest / ".git", work_tree=dest, config={"protocol.file.allow": "always"})
    own.run("init", "--quiet", "--template=", str(dest))
    ref = "refs/heads/work"
    own.run(
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", f"--depth={HISTORY}",
        "--end-of-options", str(git.git_dir), f"{sha}:{ref}", wall_s=900,
    )  # fmt: skip
    own.run("symbolic-ref", "HEAD", ref)
    for key, value in (("user.name", "agent"), ("user.email", "agent@localhost"), ("gc.auto", "0")):
        own.run("config", key, value)
    with _index_of(git, tree) as index:
        replace(own, git_dir=git.git_dir, index=index).run("checkout-index", "--all", "--quiet", wall_s=900)
    own.run("read-tree", "--end-of-options", ref)
    own.ask("update-index", "--refresh", "-q")


def export(git: Git, tree: str, dest: Path) -> None:
    """The files of `tree` in `dest`, no `.git`; raises UserError if too big."""
    check_size(git, tree)
    dest.mkdir(mode=0o700)
    with _index_of(git, tree) as index:
        Git(git.git_dir, work_tree=dest, index=index).run("checkout-index", "--all", "--quiet", wall_s=900)


def pristine(git: Git, tree: str, dest: Path) -> None:
    """A bare repository with the objects of one tree in one pack: no ref, no remote, no alternates."""
    own = Git(dest)
    dest.mkdir(mode=0o755)
    own.run("init", "--bare", "--quiet", "--template=", str(dest))
    asked = git.run("rev-list", "--objects", "--no-object-names", "--end-of-options", tree, cap=LIST_BYTES)
    git.run("pack-objects", "--quiet", str(dest / "objects" / "pack" / "pack"), stdin=asked, wall_s=600)
    for folder, _, names in os.walk(dest):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o644)


def check_size(git: Git, tree: str) -> None:
    """Refuse a tree whose files would fill the disk (one blob may stand in it a million times); raises UserError."""
    try:
        listed = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", tree, cap=LIST_BYTES)
    except GitTooMuch as error:
        raise UserError(f"The commit has more than {MAX_ENTRIES} files; Remedy does not check it out.") from error
    columns = (row.partition(b"\t")[0].split() for row in listed.split(b"\0"))
    sizes = [int(column[3]) if column[3].isdigit() else 0 for column in columns if len(column) == 4]
    if len(sizes) > MAX_ENTRIES or sum(sizes) > MAX_BYTES:
        raise UserError(
            f"The commit has {len(sizes)} files of {sum(sizes) >> 20} MiB; Remedy checks out at most "
            f"{MAX_ENTRIES} files of {MAX_BYTES >> 20} MiB."
        )


def give(folder: Path, uid: int | None) -> None:
    """Make `uid` the owner of a tree that nobody else has touched; links themselves, never what they point to."""
    if uid is None:
        return
    subprocess.run(["/bin/chown", "-RhP", f"{uid}:{uid}", "--", str(folder)], env=dict(ENVIRONMENT), check=True)


def with_agent_files_of(git: Git, head: str, base: str) -> str:
    """Tree id of `head` with the agent files of `base`."""
    ours, theirs = _agent_entries(git, head), _agent_entries(git, base)
    if ours == theirs:
        return git.text("rev-parse", "--verify", "--end-of-options", f"{head}^{{tree}}")
    gone = "".join(f"0 {'0' * 40}\t{path}\0" for path in ours.keys() - theirs.keys())
    there = "".join(f"{entry}\t{path}\0" for path, entry in theirs.items())
    with _index_of(git, f"{head}^{{tree}}") as index:
        own = replace(git, index=index)
        own.run("update-index", "-z", "--index-info", stdin=(gone + there).encode("utf-8", "surrogateescape"))
        return own.text("write-tree")


def _agent_entries(git: Git, commit: str) -> dict[str, str]:
    """Path -> "mode id" of the files below an agent name."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit, cap=LIST_BYTES)
    found = {}
    for row in listed.decode("utf-8", "surrogateescape").split("\0"):
        entry, _, path = row.partition("\t")
        if AGENT_NAMES.intersection(path.casefold().split("/")):
            mode, _, blob = entry.split()
            found[path] = f"{mode} {blob}"
    return found


@contextmanager
def _index_of(git: Git, tree: str) -> Iterator[Path]:
    """A temporary index that holds `tree`; gone with the block."""
    with tempfile.TemporaryDirectory(prefix="remedy-index-") as folder:
        index = Path(folder) / "index"
        try:
            replace(git, index=index).run("read-tree", "--end-of-options", tree)
        except GitFailed as error:
            # git refuses names such as `.git/config` here, which no honest tool can write into a tree.
            raise UserError(f"The commit cannot be checked out: {error.text.strip()[-300:]}") from error
        yield index
