"""A commit of ours crosses from one machine's store to another's, whole or not at all."""

from pathlib import Path

import pytest

from app.workspace.checkout import Mirror
from app.workspace.git import GitFailed
from app.workspace.packs import packs_of, sweep_packs
from tests.unit.workspace.origin import Origin
from tests.unit.workspace.test_checkout import a_fix

pytestmark = pytest.mark.slow


@pytest.fixture
def other(origin: Origin, tmp_path: Path) -> Mirror:
    """The store of a machine that knows what GitHub has, and nothing of us."""
    made = Mirror(tmp_path / "other.git")
    made.fetch(origin.url, "", [origin.sha("main")])
    return made


def test_a_commit_is_the_same_elsewhere(origin: Origin, mirror: Mirror, other: Mirror, tmp_path: Path) -> None:
    start = origin.sha("main")
    made = a_fix(mirror, origin, start)
    packs = packs_of(tmp_path, "R-1")
    packs.keep(mirror, made.sha, start)
    packs.bring(other)
    assert other.tree_of(made.sha) == made.tree
    assert other.diff(start, made.sha) == mirror.diff(start, made.sha)
    assert other.is_ancestor(start, made.sha)


def test_it_is_kept_once_and_brought_once(origin: Origin, mirror: Mirror, other: Mirror, tmp_path: Path) -> None:
    start, packs = origin.sha("main"), packs_of(tmp_path, "R-1")
    made = a_fix(mirror, origin, start)
    packs.keep(mirror, made.sha, start)
    (file,) = packs.folder.iterdir()
    packs.bring(other)
    file.write_bytes(b"")
    packs.keep(mirror, made.sha, start)
    packs.bring(other)
    assert file.read_bytes() == b"", "neither written nor read again"
    assert file.stat().st_mode & 0o077 == 0


def test_another_run_and_half_a_file_bring_nothing(
    origin: Origin, mirror: Mirror, other: Mirror, tmp_path: Path
) -> None:
    start, packs = origin.sha("main"), packs_of(tmp_path, "R-1")
    made = a_fix(mirror, origin, start)
    packs_of(tmp_path, "R-2").keep(mirror, made.sha, start)
    packs.bring(other)
    assert not other.has(made.sha)

    whole = mirror.pack(made.sha, start)
    packs.folder.mkdir()
    (packs.folder / f"{made.sha}.123").write_bytes(whole[:40])
    packs.bring(other)
    assert not other.has(made.sha), "a file that was not written to its end is not looked at"
    (packs.folder / f"{made.sha}.pack").write_bytes(whole[:-10])
    with pytest.raises(GitFailed):
        packs.bring(other)
    assert not other.has(made.sha)


def test_packs_of_ended_runs_are_removed_after_a_day(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    start = origin.sha("main")
    made = a_fix(mirror, origin, start)
    for run_id in ("open", "ended"):
        packs_of(tmp_path, run_id).keep(mirror, made.sha, start)
    assert sweep_packs(tmp_path, ["open"]) == 0
    assert sweep_packs(tmp_path, ["open"], -1) == 1
    assert [folder.name for folder in (tmp_path / "evidence" / "commits").iterdir()] == ["open"]
