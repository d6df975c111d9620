"""Who is surely dead: a holder of leases is a process, and its name says where pids mean the same (LE-10)."""

import os
import subprocess
import sys

import pytest

from app.services import is_dead, process_name


def named(pid: int) -> str:
    place, _, rest = process_name().partition(":")
    return f"{place}:{pid}:{rest.partition(':')[2]}"


def test_le_10_a_process_that_ended_is_dead_a_zombie_too() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.DEVNULL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(named(child.pid)), "nobody waited for it yet"
    child.wait()
    assert is_dead(named(child.pid))


def test_le_10_who_lives_or_is_elsewhere_is_not_known_to_be_dead() -> None:
    assert not is_dead(process_name())
    assert not is_dead("another-host/12345678/4026531836:1:aabbccdd")
    assert not is_dead("me")
    assert not is_dead("")


@pytest.mark.parametrize("owner", ["host:1:2", "host:x:2", "host/1/2"])
def test_le_10_a_name_of_another_kind_is_left_to_run_out(owner: str) -> None:
    assert not is_dead(owner)
