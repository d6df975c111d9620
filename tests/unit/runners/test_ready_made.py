"""The manifests that come with Remedy: sound, without rights to go out, and with every switch that they need."""

import json
from pathlib import Path

import pytest
import yaml

from app.plugins.sources import READY_MADE, ready_made
from app.runners.manifest import Manifest, read_manifest
from app.runners.opencode.process import CONFIG, PERMISSION, SWITCHES
from app.runners.permissions import Level
from app.turns.reach import MODEL_KEY, MODEL_URL


def manifest(name: str) -> Manifest:
    found = read_manifest((READY_MADE / f"{name}.yaml").read_bytes())
    assert isinstance(found, Manifest), found
    return found


def test_there_is_one_for_each_agent_that_people_have() -> None:
    assert {"opencode", "opencode-acp", "codex", "claude", "gemini"} <= set(ready_made())


@pytest.mark.parametrize("name", ready_made())
def test_a_ready_made_runner_reaches_its_model_through_the_gateway_and_nothing_else(name: str) -> None:
    """RN-42: no key of the operator is asked for, and the agent may not fetch."""
    spec = manifest(name).spec
    text = yaml.safe_dump(spec.model_dump(mode="json"))
    assert MODEL_URL in text and MODEL_KEY in text
    assert spec.env == []
    assert spec.permissions.grant().level("fetch") is Level.DENY
    assert "submit_result" in spec.permissions.host_tools
    assert {"agent", "supervisor"} <= set(spec.usages)


def test_opencode_has_the_same_switches_and_rules_over_acp_as_over_http() -> None:
    """RN-48."""
    env = manifest("opencode-acp").spec.env_fixed
    assert SWITCHES.items() <= env.items()
    over_acp, over_http = (json.loads(manifest(name).spec.env_fixed[CONFIG]) for name in ("opencode-acp", "opencode"))
    assert over_acp["permission"] == PERMISSION
    assert over_acp["provider"] == over_http["provider"]


@pytest.mark.parametrize("name, agent", [("codex", "danger-full-access"), ("claude", "IS_SANDBOX")])
def test_an_agent_without_walls_of_its_own_needs_the_strong_sandbox(name: str, agent: str) -> None:
    """RN-50."""
    assert agent in (READY_MADE / f"{name}.yaml").read_text()
    assert manifest(name).spec.requires.strong_sandbox


def test_they_are_part_of_the_package() -> None:
    """Data files that are not named in pyproject.toml are in no wheel."""
    root = Path(__file__).parents[3]
    assert "ready_made/*.yaml" in (root / "pyproject.toml").read_text()


def test_the_real_agents_of_the_heavy_lanes_are_pinned() -> None:
    """RN-81: exact versions, no range."""
    package = json.loads((Path(__file__).parents[2] / "agents" / "real" / "package.json").read_text())
    assert package["dependencies"]
    assert all(version[:1].isdigit() and " " not in version for version in package["dependencies"].values())
