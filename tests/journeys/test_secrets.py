"""An agent sees nothing of ours, and nothing of ours is written down (A20, S-5; issue 2)."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.ledger.schema import deliveries
from tests.journeys.outcome import assert_repaired
from tests.journeys.steps import a_red_pull
from tests.journeys.world import GOOD, World

SCENARIO = {
    "plan": [{"do": "dump", "path": "~/seen-plan.txt"}],
    "agent": [[{"do": "dump", "path": "~/seen-work.txt"}, *GOOD["agent"]]],
    "review": [{"do": "dump", "path": "~/seen-review.txt"}],
}
"""Each role leaves all that it can see in its HOME, which we read from outside, before anything is redacted."""

OF_THE_OPERATOR = {
    "GITHUB_TOKEN": "canary-github-token-4c1f",
    "OPENAI_API_KEY": "canary-upstream-key-91ab",
    "AWS_SECRET_ACCESS_KEY": "canary-cloud-key-77e0",
    "DATABASE_URL": "postgresql://canary-user:canary-database-password@db.internal/remedy",
    "REMEDY_SECRET_KEY": "canary-secret-in-the-environment",
    "HTTPS_PROXY": "",
}


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's own environment holds what operators put there."""
    for name, value in OF_THE_OPERATOR.items():
        if value:
            monkeypatch.setenv(name, value)


def secrets_of(world: World) -> dict[str, str]:
    """Everything that only Remedy may know, with a name for the failure text."""
    settings, state = world.settings, world.github.world.state
    pem = [line for line in world.github.app.pem.splitlines() if len(line) == 64]
    found = {
        "webhook secret": settings.webhook_secret.get_secret_value(),
        "secret key": settings.secret_key.get_secret_value(),
        "address of Redis": str(settings.redis_url),
        "password of Redis": "canary-redis-password",
        "private key, a line of it": pem[len(pem) // 2],
    }
    found |= {f"environment {name}": value for name, value in OF_THE_OPERATOR.items() if value}
    found |= {f"token {n}": token for n, token in enumerate(state.tokens) if token.startswith("ghs_")}
    return found


def places_of(world: World) -> Iterator[tuple[str, bytes]]:
    """Every file of the data folder: database, evidence, workspaces, mirrors, copied runners; payloads unpacked."""
    for path in sorted(world.settings.data.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(world.settings.data)), _unpacked(path)
    with world.services.read() as conn:
        for guid, payload in conn.execute(
            deliveries.select().with_only_columns(deliveries.c.guid, deliveries.c.payload)
        ):
            yield f"delivery {guid}", zlib.decompress(payload) if payload else b""


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if path.parent.parent.name == "objects" and data[:1] == b"\x78":
        return zlib.decompress(data)
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


@pytest.mark.usefixtures("crowded")
def test_no_secret_reaches_an_agent_or_a_file_A20(
    a_world: Callable[..., World], capfd: pytest.CaptureFixture[str]
) -> None:
    world = a_world(SCENARIO, secret_key="canary-secret-key-of-the-settings", REDIS_URL=REDIS)
    number = a_red_pull(world)

    world.step_until_quiet()

    assert_repaired(world, number)
    looked_at = {**dict(places_of(world)), "log": "".join(capfd.readouterr()).encode()}
    seen = {place: data for place, data in looked_at.items() if "/seen-" in place}
    assert len(seen) == 3, "an agent saw nothing"
    assert all(b"env PATH=" in data and b"cmdline" in data for data in seen.values())
    hits = [
        f"{name} in {place}"
        for name, secret in secrets_of(world).items()
        for place, data in looked_at.items()
        if secret.encode() in data
    ]
    assert hits == []


def test_the_workspace_knows_no_remote_and_no_credential_A20(a_world: Callable[..., World]) -> None:
    """What `git` could tell an agent: no address, no helper, no header."""
    world = a_world(SCENARIO)
    a_red_pull(world)
    world.step_to("prove")

    configs = [path.read_text().lower() for path in world.settings.data.rglob("workspace/.git/config")]
    assert configs
    for word in ("remote", "url", "credential", "extraheader", world.github.web_url):
        assert not any(word in text for text in configs)
    for dump in world.settings.data.rglob("seen-*.txt"):
        for ours in (world.github.web_url, "remedy.db"):
            assert ours not in dump.read_text(), f"{ours} in {dump.name}"


REDIS = "redis://:canary-redis-password@127.0.0.1:9/0"
