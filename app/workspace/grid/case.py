"""Read a case of `remedy gate`: a folder and two diffs become three trees of a temporary bare store (PK-1, PK-2)."""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.workspace.commits import path_refusal
from app.workspace.git import Git, GitFailed
from app.workspace.grid.trees import Three

READABLE = ("id", "language", "framework", "pr_title", "failing_tests")


class Unreadable(Exception):
    """The folder is no case; the text says why."""


@dataclass(frozen=True)
class CaseFile:
    """The fields of case.json that a gate may see."""

    id: str
    framework: str
    title: str
    failing: tuple[str, ...]


@dataclass(frozen=True)
class Loaded:
    """The trees of a case; `refused` is why the patch could not be applied, then `fixed` is `head`."""

    case: CaseFile
    three: Three
    refused: str = ""


def read_case(folder: Path) -> CaseFile:
    """Only the readable fields, each checked for its kind; raises Unreadable."""
    try:
        said = json.loads((folder / "case.json").read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"{folder / 'case.json'}: {error}") from error
    if not isinstance(said, Mapping):
        raise Unreadable(f"{folder / 'case.json'}: no object")
    seen = {key: said.get(key) for key in READABLE}
    failing = seen["failing_tests"]
    if not isinstance(failing, list) or not all(isinstance(test, str) for test in failing):
        raise Unreadable(f"{folder / 'case.json'}: failing_tests is no list of names")
    return CaseFile(
        str(seen["id"] or folder.name), str(seen["framework"] or ""), str(seen["pr_title"] or ""), tuple(failing)
    )


def load(git: Git, folder: Path) -> Loaded:
    """Write the three trees into the empty bare store of `git`; raises Unreadable."""
    case = read_case(folder)
    own = replace(git, index=git.git_dir / "case-index")
    head = _tree_of(own, folder / "before")
    try:
        base = _applied(own, head, (folder / "pr.diff").read_bytes(), reverse=True)
    except (OSError, GitFailed) as error:
        raise Unreadable(f"{folder / 'pr.diff'}: {error}") from error
    try:
        patch = (folder / "patch.diff").read_bytes()
    except OSError as error:
        raise Unreadable(f"{folder / 'patch.diff'}: {error}") from error
    try:
        fixed = _applied(own, head, patch)
    except GitFailed as error:
        return Loaded(case, Three(base, head, head), f"does not apply: {error.text.strip().splitlines()[0][:200]}")
    return Loaded(case, Three(base, head, fixed), "no change was made" if fixed == head else "")


def _tree_of(git: Git, folder: Path) -> str:
    """Tree id of a folder on disk. Contents are written by us, so no filter or attribute is asked."""
    if not folder.is_dir():
        raise Unreadable(f"{folder} is no folder")
    rows = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not (Path(place) == folder and name == ".git"))
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in sorted([*names, *links]):
            path = Path(place) / name
            inside = os.path.relpath(path, folder)
            if path_refusal(inside) is None:
                rows.append((inside, *_blob(git, path)))
    git.run("read-tree", "--empty")
    lines = "".join(f"{mode} {own}\t{path}\0" for path, mode, own in rows)
    git.run("update-index", "-z", "--index-info", stdin=lines.encode("utf-8", "surrogateescape"))
    return git.text("write-tree")


def _blob(git: Git, path: Path) -> tuple[str, str]:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return "120000", git.run("hash-object", "-w", "--stdin", stdin=os.readlink(path).encode()).decode().strip()
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(f"{path} is neither a file nor a link")
    mode = "100755" if found.st_mode & stat.S_IXUSR else "100644"
    return mode, git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=path.read_bytes()).decode().strip()


def _applied(git: Git, tree: str, patch: bytes, reverse: bool = False) -> str:
    """Tree id of `tree` with a patch; an empty patch changes nothing."""
    if not patch.strip():
        return tree
    git.run("read-tree", "--end-of-options", tree)
    way = ["--reverse"] if reverse else []
    git.run("apply", "--cached", "--whitespace=nowarn", *way, "-", stdin=patch, wall_s=120)
    return git.text("write-tree")
