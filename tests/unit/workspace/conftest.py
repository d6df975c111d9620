"""Real repositories for the tests of checkouts, and the mirror that Remedy makes of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.workspace.checkout import Mirror
from tests.unit.workspace.origin import GitServer, Origin, git

TOKEN = "ghs_" + "T0ken" * 12


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    found = Origin(tmp_path / "origin")
    found.commit({"app.py": b"def total(x):\n    return x\n", "README.md": b"# Shop\n"}, message="First")
    return found


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "data" / "repos" / "7.git")


@pytest.fixture
def server(origin: Origin) -> Iterator[GitServer]:
    git(origin.bare, "config", "http.receivepack", "true")
    running = GitServer(origin.bare.parents[1], TOKEN)
    yield running
    running.close()
