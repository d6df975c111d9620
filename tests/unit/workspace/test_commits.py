"""What a patch may not do, and that nothing of a refused one is applied."""

from pathlib import Path

import pytest

from app.workspace.checkout import Mirror
from app.workspace.commits import FILE_BYTES, PATCH_BYTES, Commit, PatchRefused, path_refusal
from tests.unit.workspace.origin import Origin, git

pytestmark = pytest.mark.slow


@pytest.fixture
def head(origin: Origin, mirror: Mirror) -> str:
    (origin.work / "old-link").symlink_to("README.md")
    sha = origin.commit(
        {"logo.png": b"\x89PNG\x00\x01", ".gitmodules": b"\n", "tool.sh": b"#!/bin/sh\n"}, branch="head"
    )
    mirror.fetch(origin.url, "", [sha])
    return sha


def patch_of(origin: Origin, head: str) -> bytes:
    """What git makes of the person's work tree against `head`."""
    git(origin.work, "add", "-A", "-f")
    out = git(origin.work, "diff", "--cached", "--binary", "--full-index", "--no-renames", head)
    git(origin.work, "reset", "--quiet", "--hard", head)
    return out.encode("utf-8", "surrogateescape") + b"\n"


def refused(mirror: Mirror, head: str, patch: bytes) -> str:
    said = mirror.commit(head, patch, "fix: x", {})
    assert isinstance(said, PatchRefused), said
    return said.reason


def new_file(path: str, mode: str = "100644", line: str = "x") -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"
    ).encode()


def test_an_honest_patch_is_committed(origin: Origin, mirror: Mirror, head: str) -> None:
    (origin.work / "app.py").write_text("def total(x):\n    return 2 * x\n")
    (origin.work / "new file ünï.py").write_text("y = 1\n")
    (origin.work / "README.md").unlink()
    (origin.work / "old-link").unlink()
    made = mirror.commit(head, patch_of(origin, head), "fix: x", {})
    assert isinstance(made, Commit)
    assert {(change.path, change.status) for change in mirror.changes(head, made.sha)} == {
        ("app.py", "M"),
        ("new file ünï.py", "A"),
        ("README.md", "D"),
        ("old-link", "D"),
    }
    assert mirror.merge_base(head, made.sha) == head


@pytest.mark.parametrize("patch", [b"", b"\n \n"])
def test_no_change_is_no_commit(patch: bytes, mirror: Mirror, head: str) -> None:
    """PF-11."""
    assert refused(mirror, head, patch) == "no change was made"


def test_a_patch_without_effect_is_no_commit(mirror: Mirror, head: str) -> None:
    """PF-11: the tree is what counts, not the text."""
    patch = b"--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def total(x):\n-    return x\n+    return x\n"
    assert refused(mirror, head, patch) == "no change was made"


def test_a_new_or_changed_binary_is_refused_by_name(origin: Origin, mirror: Mirror, head: str) -> None:
    """S54."""
    (origin.work / "logo.png").write_bytes(b"\x89PNG\x00\x02" * 50)
    assert refused(mirror, head, patch_of(origin, head)) == "logo.png: the patch changes a binary file"
    (origin.work / "new.bin").write_bytes(bytes(range(256)))
    assert refused(mirror, head, patch_of(origin, head)) == "new.bin: the patch changes a binary file"


def test_a_large_file_and_a_large_patch_are_refused(origin: Origin, mirror: Mirror, head: str) -> None:
    """S54."""
    (origin.work / "big.txt").write_text("y" * 79 + "\n")
    assert isinstance(mirror.commit(head, patch_of(origin, head), "x", {}), Commit)
    (origin.work / "big.txt").write_text(("y" * 79 + "\n") * (FILE_BYTES // 80 + 1))
    assert refused(mirror, head, patch_of(origin, head)).startswith("big.txt: the file has ")
    assert refused(mirror, head, b"x" * (PATCH_BYTES + 1)).startswith("the patch has ")


def test_too_many_files_are_refused(origin: Origin, mirror: Mirror, head: str) -> None:
    patch = b"".join(new_file(f"f{n}.txt") for n in range(301))
    assert refused(mirror, head, patch) == "the patch changes 301 files, more than 300"


def test_modes_that_are_refused(origin: Origin, mirror: Mirror, head: str) -> None:
    """S54, PT-6: link, submodule, executable bit."""
    assert refused(mirror, head, new_file("l", "120000", "/etc/passwd")) == "l: the patch writes a symbolic link"
    assert refused(mirror, head, new_file("run.sh", "100755")) == "run.sh: the patch makes a file executable"
    flip = b"diff --git a/tool.sh b/tool.sh\nold mode 100644\nnew mode 100755\n"
    assert refused(mirror, head, flip) == "tool.sh: the patch makes a file executable"
    git(origin.work, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    out = git(origin.work, "diff", "--cached", "--binary", "--full-index", head).encode() + b"\n"
    assert refused(mirror, head, out) == "sub: the patch changes a submodule"


@pytest.mark.parametrize(
    "path",
    [
        ".gitmodules",
        "-x",
        "a/-rf",
        "a/.GIT/hooks/pre-commit",
        ".git/config",
        "../outside",
        "a/../../outside",
        "/etc/passwd",
        "git~1/config",
        "sub/.git",
        "b/.git./x",
        "b/.git::$INDEX_ALLOCATION/x",
        "b/.g\u200cit/x",
        "c/\u202eyp.txt",
        "n" * 300,
    ],
)
def test_paths_that_are_refused(path: str, mirror: Mirror, head: str) -> None:
    """S14, S54, SB-41, PT-6."""
    assert refused(mirror, head, new_file(path))
    assert path_refusal(path)


@pytest.mark.parametrize("path", ["a\nb", "tab\tname", "bell\x07"])
def test_quoted_names_with_control_characters_are_refused(path: str, origin: Origin, mirror: Mirror, head: str) -> None:
    """S54: git quotes such names in a patch, so they arrive."""
    (origin.work / path).write_text("x\n")
    assert "the name has a control character" in refused(mirror, head, patch_of(origin, head))


def test_a_name_that_is_not_utf8_is_refused(origin: Origin, mirror: Mirror, head: str) -> None:
    Path(str(origin.work) + "/caf\udce9.txt").write_text("x\n")
    assert "the name is not UTF-8" in refused(mirror, head, patch_of(origin, head))


@pytest.mark.parametrize(
    "path", ["a.py", "ünï/Ø.py", "a b.txt", ".github/x.yml", ".gitignore", "x/.gitkeep", "日本.py"]
)
def test_paths_that_are_fine(path: str) -> None:
    assert path_refusal(path) is None


def test_a_patch_through_a_symlink_is_refused(origin: Origin, mirror: Mirror) -> None:
    """SB-6: a link in the tree is no way out of it."""
    (origin.work / "out").symlink_to("/tmp")
    sha = origin.commit({}, branch="links")
    mirror.fetch(origin.url, "", [sha])
    assert refused(mirror, sha, new_file("out/planted")).startswith("the patch does not apply")
    assert not Path("/tmp/planted").exists()


def test_a_patch_that_does_not_apply_says_so(mirror: Mirror, head: str) -> None:
    """PK-9."""
    patch = b"--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def sum(x):\n-    return x\n+    return y\n"
    assert refused(mirror, head, patch).startswith("the patch does not apply: patch failed: app.py:1")


@pytest.mark.parametrize("patch", [b"not a patch\n", b"\x00\xff" * 50, b"diff --git a/x b/x\n@@ -1 +1 @@\n"])
def test_noise_is_refused(patch: bytes, mirror: Mirror, head: str) -> None:
    assert refused(mirror, head, patch)
