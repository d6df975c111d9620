"""Rooms: who is in one, whose it is, that it goes away."""

import os
import subprocess
from pathlib import Path

import pytest

from app.errors import TransientError, UserError
from app.settings import SandboxSettings, Settings
from app.workspace.rooms import Rooms
from app.workspace.sandbox.uids import Uids, tasks_of
from tests.unit.workspace.ordinary import reachable_folder

IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root has a pool of uids")


def test_a_room_is_kept_for_its_key_and_its_name_says_nothing(tmp_path: Path) -> None:
    """SB-44: the path is an opaque id."""
    rooms = Rooms(tmp_path, None)
    rooms.prepare()
    with rooms.enter("run/01J/acme/shop") as first:
        (first.folder("home") / "session").write_text("s")
    with rooms.enter("run/01J/acme/shop") as again:
        assert (again.folder("home") / "session").read_text() == "s"
    assert "acme" not in str(again.path)
    rooms.remove("run/01J/acme/shop")
    assert os.listdir(tmp_path / "workspaces") == []


def test_nobody_else_is_in_a_room(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path, None)
    rooms.prepare()
    with rooms.enter("a"):
        with pytest.raises(TransientError), rooms.enter("a"):
            pass
        with pytest.raises(TransientError):
            rooms.remove("a")
        assert rooms.sweep([]) == 0
        with rooms.enter("b"):
            pass
    assert rooms.sweep(["a"]) == 1
    assert rooms.sweep([]) == 1
    assert os.listdir(tmp_path / "workspaces") == []


def test_a_scratch_room_is_gone_after_an_error(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path, None)
    rooms.prepare()
    with pytest.raises(ZeroDivisionError), rooms.scratch() as room:
        room.folder("tree")
        raise ZeroDivisionError
    assert os.listdir(tmp_path / "workspaces") == []


@only_root
def test_each_room_of_a_root_app_has_a_uid_of_its_own() -> None:
    """SX-3, SX-16."""
    with reachable_folder() as data:
        low = 300_000 + 2 * os.getpid()
        rooms = Rooms.of(Settings(data=data, sandbox=SandboxSettings(uid_pool=f"{low}-{low + 1}")))
        with rooms.enter("a") as first, rooms.enter("b") as second:
            assert {first.uid, second.uid} == {low, low + 1}
            assert first.folder("tree").stat().st_uid == first.uid
            with pytest.raises(TransientError), rooms.enter("c"):
                pass
        with rooms.enter("a") as again:
            assert again.uid == first.uid
        rooms.remove("a")
        with rooms.enter("c") as third:
            assert third.uid == first.uid


@only_root
def test_processes_that_a_dead_worker_left_are_ended_on_entry() -> None:
    """LE-10, SB-30."""
    with reachable_folder() as data:
        rooms = Rooms.of(Settings(data=data))
        with rooms.enter("a") as room:
            uid = room.uid
        left = subprocess.Popen(["sleep", "600"], user=uid, group=uid, extra_groups=[], start_new_session=True)
        assert tasks_of(uid or 0) == 1
        with rooms.enter("a"):
            assert left.wait(5) == -9


@only_root
def test_a_data_folder_that_a_dropped_uid_cannot_reach_is_named(tmp_path: Path) -> None:
    """PN-11."""
    shut = tmp_path / "home"
    shut.mkdir(mode=0o700)
    with pytest.raises(UserError, match="keeps other users out"):
        Rooms.of(Settings(data=shut / "data"))


@pytest.mark.parametrize("pool", ["", "210000", "5-10", "210010-210000", "a-b", "1000-99999999999"])
def test_a_pool_that_is_no_range_is_refused(pool: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be a range"):
        Uids.of(tmp_path, pool)


def test_a_pool_that_meets_real_users_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="meets the user nobody"):
        Uids.of(tmp_path, "65000-66000")
