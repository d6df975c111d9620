"""A sandbox, rooms, and a Python with pytest that is where the test wants it to be."""

import asyncio
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace.rooms import Rooms
from app.workspace.sandbox.choose import choose
from app.workspace.sandbox.model import Sandbox, SandboxUnavailable
from tests.unit.workspace.ordinary import reachable_folder

IS_ROOT = os.geteuid() == 0
PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


@contextmanager
def a_sandbox() -> Iterator[tuple[Sandbox, Rooms]]:
    """What `choose` gives on this machine, with rooms in a folder of their own; skips where there is none (SX-34)."""
    with reachable_folder() as data:
        settings = Settings(data=data)
        try:
            sandbox = asyncio.run(choose(settings, "acme/shop"))
        except SandboxUnavailable as error:
            if os.environ.get("REMEDY_TEST_TIER") == "strong":
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield sandbox, Rooms.of(settings)


def make_venv(folder: Path, base: str = "/usr/bin/python3") -> Path:
    """A virtual environment of another Python with our pytest in it, made by hand: no network, no pip."""
    ask = "import sys; print('python%d.%d' % sys.version_info[:2])"
    version = subprocess.run([base, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    site = folder / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(base)
    (folder / "pyvenv.cfg").write_text(f"home = {os.path.dirname(base)}\ninclude-system-site-packages = false\n")
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        if places := found.submodule_search_locations:
            shutil.copytree(next(iter(places)), site / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(found.origin, site)
    return folder
