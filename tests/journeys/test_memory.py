"""What the processes of `remedy up` hold in memory after the demo's repair (issue 8: web 120 MB, worker 160 MB)."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.demo.stage import Stage
from tests.demo.story import SCENARIO, Story
from tests.demo.tell import Teller
from tests.processes import children_of, command_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

MOST_MB = {"-m app.cli web": 120, "-m jobs.worker quick": 160, "-m jobs.worker long": 160, "-m jobs.worker sweep": 160}


class Patient(Stage):
    """A loaded machine is no fault of Remedy's."""

    def wait(self, what: str, look: Callable[[], object], seconds: float = 120) -> object:  # type: ignore[override]
        return super().wait(what, look, max(seconds, 300))


def resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kib,) = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(kib) / 1024


def test_memory_after_the_demo() -> None:
    stage = Patient(SCENARIO)
    try:
        stage.open()
        story = Story(stage, Teller())
        story.prepare()
        story.merge(*story.repair())
        held = {pid: (command_of(pid), resident_mb(pid)) for pid in children_of(stage.remedy.pid)}
    finally:
        stage.close()
        shutil.rmtree(stage.folder, ignore_errors=True)
    for part, most in MOST_MB.items():
        found = [mb for command, mb in held.values() if command.endswith(part) and "tether.py" not in command]
        assert found and max(found) <= most, f"{part}: {found} MB"
