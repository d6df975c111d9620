"""A running local GitHub, and the app's clients; leaving it verifies."""

from collections.abc import Iterator

import pytest

from tests.github import LocalGitHub
from tests.github.stage import Api


@pytest.fixture
def github() -> Iterator[LocalGitHub]:
    with LocalGitHub() as running:
        yield running


@pytest.fixture
def api(github: LocalGitHub) -> Iterator[Api]:
    with Api(github) as clients:
        yield clients
