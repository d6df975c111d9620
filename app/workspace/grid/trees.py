"""The six trees of the grid, put together path by path from three (proof.md, 3.2, PT-2)."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.integrity.classes import Class, class_of
from app.integrity.infile import holds_tests, mixed
from app.integrity.model import Change, Delta, Moved
from app.workspace.git import Git
from app.workspace.grid.files import Entry, TreeFiles, changes_between, entries_of, read_blobs

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

    inside = _Inside(git)
    return {
        "base": three.base,
        "head": three.head,
        "fixed": three.fixed,
        "fixed_without_source": _mixed(git, fixed, inside.tests_of(fixed, head, is_source), is_source),
        "base_source_with_fixed_tests": _mixed(git, fixed, inside.tests_of(fixed, base, is_source), is_source),
        "fixed_source_with_original_tests": _mixed(git, inside.tests_of(head, fixed, is_source), head, is_tested),
    }


@dataclass(frozen=True)
class _Inside:
    """Files that hold source and tests, put together by node (PT-4)."""

    git: Git

    def tests_of(
        self, tests: Mapping[str, Entry], source: Mapping[str, Entry], is_source: Callable[[str], bool]
    ) -> dict[str, Entry]:
        """`source` in which each source file that differs has the in-file tests of `tests`."""
        paths = [p for p in source if p.endswith(".rs") and is_source(p) and p in tests and tests[p] != source[p]]
        if not paths:
            return dict(source)
        blobs = read_blobs(self.git, [tree[path].id for path in paths for tree in (tests, source)])
        found = dict(source)
        for path in paths:
            ours, theirs = blobs[source[path].id], blobs[tests[path].id]
            if holds_tests(path, ours) or holds_tests(path, theirs):
                data = mixed(path, ours, theirs)
                own = self.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=data).decode().strip()
                found[path] = Entry(source[path].mode, own, len(data))
        return found


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


def _row(entry: Entry | None) -> tuple[str, str] | None:
    return (entry.mode, entry.id) if entry is not None else None


def _mixed(git: Git, ours: Mapping[str, Entry], theirs: Mapping[str, Entry], taken: Callable[[str], bool]) -> str:
    """Tree id of `ours` with every taken path as in `theirs`; absent there is absent here."""
    paths = {path for path in (*ours, *theirs) if taken(path) and _row(ours.get(path)) != _row(theirs.get(path))}
    rows = {path: theirs.get(path) for path in paths}
    kept = {path: entry for path, entry in ours.items() if path not in rows} | {p: e for p, e in rows.items() if e}
    return write_tree(git, kept)


def write_tree(git: Git, entries: Mapping[str, Entry]) -> str:
    """Tree id of files that are in the store."""
    with tempfile.TemporaryDirectory(prefix="remedy-index-") as folder:
        own = replace(git, index=Path(folder) / "index")
        lines = "".join(f"{entry.mode} {entry.id}\t{path}\0" for path, entry in entries.items())
        own.run("update-index", "-z", "--index-info", stdin=lines.encode("utf-8", "surrogateescape"))
        return own.text("write-tree")
