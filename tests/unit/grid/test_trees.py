"""The six trees from three, and a case read from a folder (proof.md, 3.2, PT-2, PT-5, PT-7, PK-1)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.integrity.model import Change, Moved
from app.workspace.git import Git
from app.workspace.grid.case import Unreadable, load
from app.workspace.grid.files import TreeFiles, changes_between
from app.workspace.grid.trees import Three, delta_of, six


@pytest.fixture
def git(tmp_path: Path) -> Git:
    store = tmp_path / "store.git"
    store.mkdir()
    own = Git(store, index=store / "own-index")
    own.run("init", "--bare", "--quiet", "--template=", str(store))
    return own


def tree(git: Git, files: Mapping[str, str]) -> str:
    git.run("read-tree", "--empty")
    rows = ""
    for path, text in files.items():
        own = git.run("hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()
        rows += f"100644 {own}\t{path}\0"
    git.run("update-index", "-z", "--index-info", stdin=rows.encode())
    return git.text("write-tree")


def read(git: Git, tree_id: str) -> dict[str, str]:
    return {path: blob.data.decode() for path, blob in TreeFiles(git, tree_id).items()}


def three(git: Git) -> Three:
    base = {"a.py": "good", "tests/test_a.py": "old test", "README.md": "old"}
    head = {"a.py": "bad", "tests/test_a.py": "old test", "README.md": "old"}
    fixed = {"a.py": "good again", "tests/test_a.py": "new test", "tests/conftest.py": "hook", "README.md": "new"}
    return Three(tree(git, base), tree(git, head), tree(git, fixed))


def test_each_cell_takes_whole_files_by_class(git: Git) -> None:
    """PT-2, PT-3."""
    trees = six(git, three(git))
    side = {"tests/test_a.py": "new test", "tests/conftest.py": "hook", "README.md": "new"}
    assert read(git, trees["fixed_without_source"]) == {"a.py": "bad", **side}
    assert read(git, trees["base_source_with_fixed_tests"]) == {"a.py": "good", **side}
    original = {"a.py": "good again", "tests/test_a.py": "old test", "README.md": "new"}
    assert read(git, trees["fixed_source_with_original_tests"]) == original


def test_equal_trees_have_equal_ids(git: Git) -> None:
    """PT-7: without a test part, S is H and O is F."""
    head = tree(git, {"a.py": "bad", "tests/test_a.py": "t"})
    fixed = tree(git, {"a.py": "good", "tests/test_a.py": "t"})
    trees = six(git, Three(head, head, fixed))
    assert trees["fixed_without_source"] == head
    assert trees["fixed_source_with_original_tests"] == fixed


def test_the_base_policy_may_move_paths(git: Git) -> None:
    """PC-8."""
    head, fixed = tree(git, {"cases/a.x": "1"}), tree(git, {"cases/a.x": "2"})
    trees = six(git, Three(head, head, fixed), Moved(test=("cases/**",)))
    assert read(git, trees["fixed_without_source"]) == {"cases/a.x": "2"}


RUST = "pub fn total(n: u32) -> u32 {{\n    {body}\n}}\n\n#[cfg(test)]\nmod tests {{\n    {test}\n}}\n"


def test_tests_inside_a_source_file_are_split_off(git: Git) -> None:
    """PC-7, PT-4."""
    head = tree(git, {"src/lib.rs": RUST.format(body="n", test="fn old() {}")})
    fixed = tree(git, {"src/lib.rs": RUST.format(body="2 * n", test="fn new() {}")})
    trees = six(git, Three(head, head, fixed))
    without_source = read(git, trees["fixed_without_source"])["src/lib.rs"]
    original = read(git, trees["fixed_source_with_original_tests"])["src/lib.rs"]
    assert ("    n\n" in without_source, "new" in without_source, "old" in without_source) == (True, True, False)
    assert ("2 * n" in original, "old" in original, "new" in original) == (True, True, False)


def test_a_rename_is_one_change(git: Git) -> None:
    """PT-5."""
    old, new = tree(git, {"a.py": "x\n" * 20}), tree(git, {"b.py": "x\n" * 20})
    assert changes_between(git, old, new) == (Change("a.py", "b.py"),)


def test_what_the_gate_reads(git: Git) -> None:
    """PI-1: the fix is head against fixed, the pull request base against head."""
    delta = delta_of(git, three(git), ("t",), "pytest", "title")
    assert {change.path for change in delta.pull} == {"a.py"}
    assert {change.path for change in delta.fix} == {"README.md", "a.py", "tests/conftest.py", "tests/test_a.py"}
    assert delta.fixed["a.py"].data == b"good again"


def test_a_case_with_links_and_modes_is_read_as_it_is(git: Git, tmp_path: Path) -> None:
    """PK-1: no filter, no attribute, and nothing of a .git folder."""
    before = tmp_path / "case" / "before"
    (before / ".git").mkdir(parents=True)
    (before / ".git" / "config").write_text("[core]\n")
    (before / ".gitattributes").write_text("* text eol=crlf filter=x\n")
    (before / "run.sh").write_text("#!/bin/sh\n")
    (before / "run.sh").chmod(0o755)
    (before / "link").symlink_to("run.sh")
    for name in ("pr.diff", "patch.diff"):
        (tmp_path / "case" / name).write_text("")
    (tmp_path / "case" / "case.json").write_text('{"failing_tests": ["a"]}')
    loaded = load(git, tmp_path / "case")
    files = TreeFiles(git, loaded.three.head)
    assert {path: blob.mode for path, blob in files.items()} == {
        ".gitattributes": "100644",
        "link": "120000",
        "run.sh": "100755",
    }
    assert (loaded.case.id, loaded.refused) == ("case", "no change was made")


def test_a_pull_request_that_does_not_fit_is_unreadable(git: Git, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    (folder / "before").mkdir(parents=True)
    (folder / "case.json").write_text('{"failing_tests": ["a"]}')
    (folder / "pr.diff").write_text("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n")
    with pytest.raises(Unreadable, match=r"pr\.diff"):
        load(git, folder)
