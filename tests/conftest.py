"""Settings of the whole suite: properties may take their time, and who shares something dear shares a process."""

import gc
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("remedy", deadline=None)
settings.load_profile("remedy")

TOGETHER = (
    "tests/contracts/sandbox/test_limits.py",  # counts the processes of a user
    "tests/journeys/pages/test_guarded.py",
    "tests/journeys/test_processes.py::TestOneTree",
    "tests/unit/test_floors.py",
)
"""Beginnings of ids whose tests run in one process, one after the other."""


class _Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """What `--dist loadgroup` is for; its marks are not seen since pytest 9.2 (xdist 3.8 writes `Item._nodeid`)."""

    def _split_scope(self, nodeid: str) -> str:
        return next((start for start in TOGETHER if nodeid.startswith(start)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Thousands of tests and models live to the end: the collector need not walk through them again and again."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
