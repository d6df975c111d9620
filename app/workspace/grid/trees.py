"""The six trees of the grid, put together path by path from three (proof.md, 3.2, PT-2)."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.integrity.classes import Class, class_of
from app.integrity.model import Change, Delta, Moved
from app.workspace.git import Git
from app.workspace.grid.files import Entry, TreeFiles, changes_between, entries_of

ABSENT = "0" * 40


@dataclass(frozen=True)
class Three:
    """Tree ids: merge base, head of the pull request, head with the fix."""

    base: str
    head: str
    fixed: str


def delta_of(git: Git, three: Three, named: tuple[str, ...], framework: str = "", title: str = "") -> Delta:
    """What the integrity gate reads, with contents that are loaded when a rule asks for them."""
    return Delta(
        base=TreeFiles(git, three.base),
        head=TreeFiles(git, three.head),
        fixed=TreeFiles(git, three.fixed),
        fix=changes_between(git, three.head, three.fixed),
        pull=changes_between(git, three.base, three.head),
        named=named,
        framework=framework,
        title=title,
    )


def six(git: Git, three: Three, moved: Moved | None = None) -> dict[str, str]:
    """Tree ids by cell name. Equal contents have equal ids, so a twin is seen by its id (PT-7)."""
    base, head, fixed = (entries_of(git, tree) for tree in (three.base, three.head, three.fixed))
    fix, pull = changes_between(git, three.head, three.fixed), changes_between(git, three.base, three.head)
    side = _sides((*fix, *pull), moved)

    def is_source(path: str) -> bool:
        return side(path) == "source"

    def is_tested(path: str) -> bool:
        return side(path) in ("test", "harness")

    return {
        "base": three.base,
        "head": three.head,
        "fixed": three.fixed,
        "fixed_without_source": _mixed(git, fixed, head, is_source),
        "base_source_with_fixed_tests": _mixed(git, fixed, base, is_source),
        "fixed_source_with_original_tests": _mixed(git, fixed, head, is_tested),
    }


def _sides(changes: tuple[Change, ...], moved: Moved | None) -> Callable[[str], Class]:
    """A file that was renamed between classes is test or harness under both names (PC-5)."""
    strict: dict[str, Class] = {}
    for change in changes:
        if change.renamed and change.old is not None and change.new is not None:
            found = {class_of(change.old, moved), class_of(change.new, moved)}
            if len(found) == 2 and "source" in found:
                told: Class = "harness" if "harness" in found else "test"
                strict[change.old] = strict[change.new] = told
    return lambda path: strict.get(path) or class_of(path, moved)


def _mixed(git: Git, ours: Mapping[str, Entry], theirs: Mapping[str, Entry], taken: Callable[[str], bool]) -> str:
    """Tree id of `ours` with every taken path as in `theirs`; absent there is absent here."""
    paths = {path for path in (*ours, *theirs) if taken(path) and ours.get(path) != theirs.get(path)}
    rows = {path: theirs.get(path) for path in paths}
    with tempfile.TemporaryDirectory(prefix="remedy-index-") as folder:
        own = replace(git, index=Path(folder) / "index")
        kept = {path: entry for path, entry in ours.items() if path not in rows} | {p: e for p, e in rows.items() if e}
        lines = "".join(f"{entry.mode} {entry.id}\t{path}\0" for path, entry in kept.items())
        own.run("update-index", "-z", "--index-info", stdin=lines.encode("utf-8", "surrogateescape"))
        return own.text("write-tree")
