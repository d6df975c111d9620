"""The real LiteLLM proxy as gateway, over native MCP and over its REST routes (runners.md, 10.4 and 14)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.runners.codes import Code
from app.runners.mcp.standing import opening
from tests.agents.devin import FINISHED, WORKING, Devin, Fault
from tests.agents.gateway.proxy import MASTER_KEY, NotHere, program, running
from tests.agents.remote import KEY, Place
from tests.agents.world import code

pytestmark = [pytest.mark.agents, pytest.mark.anyio, pytest.mark.timeout(900)]

WAYS = pytest.mark.parametrize("way", ["native", "rest"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True)
class Proxy:
    """One proxy in front of two vendors with the same tools: `devin`, and `other` that nobody means."""

    url: str
    devin: Devin
    other: Devin

    def place(self, folder: Path, way: str, key: str = MASTER_KEY, server: str = "devin", **more: Any) -> Place:
        rest = {"transport": "litellm-rest"} if way == "rest" else {}
        url = self.url if way == "rest" else f"{self.url}/{server}/mcp"
        return Place(folder, self.devin, None, url, key, {"server": server, "timeout_s": 8, **rest, **more})


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    cache = os.environ.get("REMEDY_TEST_AGENTS")
    if not cache:
        pytest.skip("REMEDY_TEST_AGENTS names no folder for the gateway: say `make test-agents`")
    try:
        litellm = program(Path(cache).expanduser().resolve())
    except NotHere as why:
        pytest.skip(str(why))
    with Devin(key=KEY) as devin, Devin("sessions", key=KEY) as other:
        reached = {"transport": "http", "auth_type": "bearer_token", "auth_value": KEY}
        servers = {
            "devin": {"url": devin.url, **reached},
            "other": {"url": other.url, **reached},
            "down": {"url": "http://127.0.0.1:9/mcp", **reached},
        }
        with running(litellm, tmp_path_factory.mktemp("litellm"), servers) as url:
            yield Proxy(url, devin, other)


@pytest.fixture(autouse=True)
def fresh(proxy: Proxy) -> None:
    for vendor in (proxy.devin, proxy.other):
        vendor.sessions.clear()
        vendor.faults.clear()
        vendor.calls.clear()


@WAYS
async def test_a_session_through_the_real_gateway_g12_g13(proxy: Proxy, tmp_path: Path, way: str) -> None:
    """The tools of two servers have the same names: the one that was named gets the call, and no other."""
    place = proxy.place(tmp_path, way)
    assert (await place.remote().ready()).ok
    result = await place.turn()
    assert result.value is not None, result.error
    assert proxy.devin.count("create") == 1 and proxy.other.calls == []
    assert proxy.devin.sessions[0].tags[-1] == "remedy-0123456789ab"


@WAYS
async def test_one_session_under_a_timeout_g17(proxy: Proxy, tmp_path: Path, way: str) -> None:
    """The gateway gives up after its own time; the session was made, and is found by its tag."""
    place = proxy.place(tmp_path, way)
    proxy.devin.faults.append(Fault("create", "slow", seconds=5))
    result = await place.turn()
    assert result.value is not None, result.error
    assert proxy.devin.count("create") == 1 and len(proxy.devin.sessions) == 1
    assert place.data("state.updated")[0]["recovered"] is True


@WAYS
async def test_a_correction_goes_into_the_same_session(proxy: Proxy, tmp_path: Path, way: str) -> None:
    place = proxy.place(tmp_path, way)
    first = await place.turn()
    assert first.ref is not None
    again = {"summary_markdown": f"Again by {way}", "tests": []}
    proxy.devin.after_message = [WORKING, {**FINISHED, "structured_output": again}]
    second = await place.turn(opening(first.ref.agent_session_id, ""), text="Not yet.")
    assert second.value is not None and second.ref == first.ref and len(proxy.devin.sessions) == 1


@WAYS
async def test_a_tool_that_says_no_is_no_success_g15(proxy: Proxy, tmp_path: Path, way: str) -> None:
    proxy.devin.faults.append(Fault("create", "error", text="out_of_credits"))
    result = await proxy.place(tmp_path, way).turn()
    assert code(result) is Code.REMOTE_REFUSED and result.error is not None and "out_of_credits" in result.error.message


@WAYS
async def test_a_wrong_key_is_refused_and_not_quoted_g16_g20(proxy: Proxy, tmp_path: Path, way: str) -> None:
    result = await proxy.place(tmp_path, way, key="sk-wrong-canary-9876").turn()
    assert code(result) is Code.AUTH_REQUIRED, result.error
    assert "sk-wrong-canary" not in str(result.error)
    assert proxy.devin.calls == []


@WAYS
async def test_a_server_that_is_down_is_unreachable_and_not_missing_g21(proxy: Proxy, tmp_path: Path, way: str) -> None:
    place = proxy.place(tmp_path, way, server="down")
    answer = await place.remote().ready()
    assert not answer.ok and proxy.devin.calls == [] and proxy.other.calls == []
    assert "gateway." in answer.problems[0]


@WAYS
async def test_a_server_that_nobody_configured(proxy: Proxy, tmp_path: Path, way: str) -> None:
    answer = await proxy.place(tmp_path, way, server="nobody").remote().ready()
    assert not answer.ok and proxy.devin.calls == [] and proxy.other.calls == []
