"""Reading, measuring and deleting trees that hostile code wrote."""

import os
import socket
from pathlib import Path

import pytest

from app.workspace.sandbox.cleanup import MAX_DEPTH, measure, read_file, remove_tree
from tests.unit.workspace.ordinary import reachable_folder

UIDS = (None, 210_009) if os.geteuid() == 0 else (None,)


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    """SB-6, SB-7: links, FIFOs, sockets, devices, folders and ways out."""
    folder = tmp_path / "report"
    (folder / "sub").mkdir(parents=True)
    (folder / "good").write_bytes(b"x" * 10)
    (folder / "sub" / "deep").write_bytes(b"y")
    (tmp_path / "secret").write_text("private")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "socket"))
    assert read_file(folder, "good", 10) == b"x" * 10
    assert read_file(folder, "good", 4) == b"x" * 5
    assert read_file(folder, "sub/deep", 10) == b"y"
    hostile = (
        "link",
        "linked/secret",
        "fifo",
        "socket",
        "sub",
        "../secret",
        "/etc/passwd",
        "",
        "sub//deep",
        "./good",
        "absent",
        "a\0b",
    )
    assert [read_file(folder, name, 10) for name in hostile] == [None] * len(hostile)


def test_a_sparse_terabyte_is_read_to_the_cap(tmp_path: Path) -> None:
    """SB-7."""
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    assert read_file(tmp_path, "sparse", 1000) == bytes(1001)
    assert measure(tmp_path, 10).bytes < 1 << 20


def test_a_tree_is_measured_with_caps_and_without_links(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "loop").symlink_to(tmp_path)
    size = measure(tmp_path, 100)
    assert (size.files, size.over) == (3, False)
    assert size.bytes >= 100_000
    assert measure(tmp_path, 2).over
    assert measure(tmp_path / "absent", 2).files == 0


def deep(folder: Path, levels: int) -> None:
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def test_a_tree_that_is_too_deep_counts_as_too_big(tmp_path: Path) -> None:
    deep(tmp_path, MAX_DEPTH + 10)
    assert measure(tmp_path, 100_000).over


@pytest.mark.slow
@pytest.mark.parametrize("uid", UIDS)
def test_any_tree_is_deleted_and_nothing_beside_it(uid: int | None) -> None:
    """SB-48: 1500 levels, mode 000, odd names, links out of the tree."""
    with reachable_folder() as base:
        outside = base / "outside"
        outside.write_text("mine")
        tree = base / "tree"
        tree.mkdir()
        deep(tree, 1500)
        for name in (b"-rf", b"new\nline", b"caf\xe9", b" ", b"*"):
            os.mkdir(os.path.join(os.fsencode(tree), name))
        (tree / "link").symlink_to(outside)
        (tree / "folder-link").symlink_to(base)
        (tree / "shut").mkdir()
        (tree / "shut" / "file").write_text("x")
        if uid is not None:
            for path in (tree, *(p for p in tree.iterdir()), tree / "shut" / "file"):
                os.lchown(path, uid, uid)
        (tree / "shut").chmod(0)
        remove_tree(tree, uid)
        assert sorted(os.listdir(base)) == ["outside"]
        assert outside.read_text() == "mine"


def test_a_link_in_place_of_the_tree_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    (tmp_path / "tree").symlink_to(tmp_path / "mine")
    remove_tree(tmp_path / "tree", None)
    remove_tree(tmp_path / "absent", None)
    assert os.listdir(tmp_path) == ["mine"]
    assert (tmp_path / "mine" / "file").exists()
