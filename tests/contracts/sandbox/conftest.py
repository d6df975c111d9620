"""The sandbox contract: hostile attempts against every backend that works here, for root and for an ordinary user.

Rows SB-n and rules SX-n are those of sandbox.md. With REMEDY_TEST_TIER=strong a machine without STRONG fails (SX-34).
"""

from collections.abc import Iterator

import pytest

from tests.contracts.sandbox.app import APPS, PROGRAMS, App, an_app, any_program, missing
from tests.unit.workspace.ordinary import user_reads_us


@pytest.fixture(params=APPS)
def who(request: pytest.FixtureRequest) -> str:
    if request.param == "user" and not user_reads_us():
        missing("this checkout lies where an ordinary user cannot read it")
    return str(request.param)


@pytest.fixture(params=PROGRAMS)
def app(request: pytest.FixtureRequest, who: str) -> Iterator[App]:
    yield from an_app(who, request.param)


@pytest.fixture
def one_app(who: str) -> Iterator[App]:
    yield from an_app(who, any_program())
