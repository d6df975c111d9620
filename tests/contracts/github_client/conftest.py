"""The scene that every test of the client starts from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.github_client.scene import Scene, make
from tests.github import LocalGitHub


@pytest.fixture(params=["2022-11-28", "2026-03-10"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    """Under both versions of the API (D-12)."""
    with LocalGitHub() as hub:
        made = make(hub, tmp_path, request.param)
        with made.client:
            yield made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Scene]:
    """Under one version, for what does not differ."""
    with LocalGitHub() as hub:
        made = make(hub, tmp_path)
        with made.client:
            yield made
