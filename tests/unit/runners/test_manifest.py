"""`runner.yaml` is read strictly; a bad one fails with the field's name (D1 to D3, D24)."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from app.runners.codes import Code, RunnerError
from app.runners.manifest import Manifest, read_manifest
from app.runners.permissions import Level

GOOD = """
apiVersion: remedy/v1
kind: Runner
metadata: {author: acme, name: fixer, runner: default, version: 1.2.0, label: Acme Fixer, description: Fixes tests.}
spec:
  usages: [agent, supervisor]
  protocol: acp/1
  command: [acme-fixer, --acp]
  env: [ACME_TOKEN]
  env_fixed: {ACME_TELEMETRY: "0"}
  requires: {version: ">=1.2,<2"}
  capabilities: {load_session: true, structured_output: tool, cancel: true}
  permissions:
    host_tools: [submit_result, run_log, state_get, state_set, failure_detail, issue_comment]
    agent_tools: {read: allow, search: allow, edit: allow, execute: ask, fetch: deny}
  config_schema:
    type: object
    additionalProperties: false
    properties: {model: {type: string, default: acme/large}, effort: {enum: [low, high]}}
    required: [model]
  limits: {turn_timeout_s: 3600, stdout_kib: 16384}
"""


def changed(path: str, value: Any) -> bytes:
    data: dict[str, Any] = yaml.safe_load(GOOD)
    *parents, last = path.split(".")
    place = data
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return yaml.safe_dump(data).encode()


def test_the_documented_example_is_valid() -> None:
    """D1, D2."""
    manifest = read_manifest(GOOD.encode())
    assert isinstance(manifest, Manifest)
    assert manifest.id == "acme/fixer/default"
    assert manifest.metadata.label == "Acme Fixer" and manifest.metadata.description == "Fixes tests."
    granted = manifest.spec.permissions.grant()
    assert granted.level("execute") is Level.ASK and granted.level("fetch") is Level.DENY
    assert granted.level("delete") is Level.ALLOW and granted.level("other") is Level.DENY


def test_the_manifest_of_the_qa_agent_is_valid() -> None:
    manifest = read_manifest((Path(__file__).parents[2] / "agents/runner.yaml").read_bytes())
    assert isinstance(manifest, Manifest) and manifest.id == "remedy/agents/qa"


BROKEN: list[tuple[str, Any]] = [
    ("apiVersion", "remedy/v2"),
    ("kind", "Agent"),
    ("metadata.author", ""),
    ("metadata.name", "Fixer"),
    ("metadata.runner", "a/b"),
    ("metadata.runner", "x" * 41),
    ("metadata.version", 1.2),
    ("metadata.label", ""),
    ("metadata.description", "two\nlines"),
    ("metadata.colour", "red"),
    ("spec.usages", []),
    ("spec.usages", ...),
    ("spec.usages", ["agent", "boss"]),
    ("spec.protocol", "acp/2"),
    ("spec.command", "acme-fixer --acp"),
    ("spec.command", []),
    ("spec.command", ["a\x00b"]),
    ("spec.url", "ftp://agents.example"),
    ("spec.url", "https://agents.example/a b"),
    ("spec.env", ["acme token"]),
    ("spec.env_fixed", {"A": 1}),
    ("spec.requires", {"version": "~1.2"}),
    ("spec.capabilities", {"structured_output": "prose"}),
    ("spec.capabilities", {"load_session": "yes"}),
    ("spec.permissions", {"host_tools": ["merge"]}),
    ("spec.permissions", {"agent_tools": {"edit": "always"}}),
    ("spec.permissions", {"agent_tools": {"teleport": "allow"}}),
    ("spec.limits", {"turn_timeout_s": 0}),
    ("spec.shell", True),
]


@pytest.mark.parametrize("path, value", BROKEN, ids=[f"{path}={value!r:.30}" for path, value in BROKEN])
def test_a_broken_field_is_refused_by_name(path: str, value: Any) -> None:
    """D2, D3, D24."""
    found = read_manifest(changed(path, value))
    assert isinstance(found, RunnerError) and found.code is Code.BROKEN_MANIFEST
    assert path in found.message


@pytest.mark.parametrize(
    "path, value, says",
    [
        ("spec.events", ["failure.opened"], "events"),
        ("spec.usages", ["event"], "events"),
        ("spec.env", ["REMEDY_PRIVATE_KEY"], "REMEDY_PRIVATE_KEY"),
        ("spec.env_fixed", {"LD_PRELOAD": "x.so"}, "LD_PRELOAD"),
        ("spec.config_schema", {"type": "thing"}, "config_schema"),
        ("spec.command", ..., "command"),
        ("spec.url", "https://agents.example/mcp", "command"),
        ("spec.protocol", "mcp/1", "url"),
        ("spec.gateway", {"server": "devin"}, "gateway"),
    ],
)
def test_parts_that_do_not_fit_together_are_named(path: str, value: Any, says: str) -> None:
    """D2, RN-41: a manifest cannot ask for our own secrets."""
    found = read_manifest(changed(path, value))
    assert isinstance(found, RunnerError) and says in found.message


@pytest.mark.parametrize(
    "protocol, url, says",
    [
        ("acp/1", "https://agents.example", "acp/1 starts a command"),
        ("opencode/1", "https://agents.example", ""),
        ("mcp/1", "$ACME_TOKEN", ""),
        ("mcp/1", "$OTHER", "OTHER is not listed in env"),
    ],
)
def test_a_server_that_runs_already_is_named_by_its_address(protocol: str, url: str, says: str) -> None:
    """D2: `url` instead of `command`; an agent over stdio has none."""
    data = yaml.safe_load(GOOD)
    del data["spec"]["command"]
    data["spec"] |= {"protocol": protocol, "url": url}
    if protocol == "mcp/1":
        data["spec"] |= {"usages": ["agent"], "gateway": {"server": "devin"}}
    found = read_manifest(yaml.safe_dump(data).encode())
    assert isinstance(found, RunnerError) == bool(says)
    assert says in getattr(found, "message", "")


@pytest.mark.parametrize(
    "text", [b"", b"- a", b"a: [", b"\xff\xfe\x00", b"!!python/object/apply:os.system [id]", b"a: " + b"x" * 70_000]
)
def test_what_is_no_manifest_is_refused(text: bytes) -> None:
    found = read_manifest(text)
    assert isinstance(found, RunnerError) and "runner.yaml" in found.message


REMOTE = """
apiVersion: remedy/v1
kind: Runner
metadata: {author: acme, name: cloud, runner: devin, version: 1.0.0, label: Devin, description: Works elsewhere.}
spec:
  usages: [agent]
  protocol: mcp/1
  url: https://gateway.example/devin/mcp
  env: [GATEWAY_KEY]
  gateway: {server: devin, key: GATEWAY_KEY, max_acu: 5}
"""


@pytest.mark.parametrize(
    "change, says",
    [
        ({}, ""),
        ({"usages": ["agent", "supervisor"]}, "usages"),
        ({"gateway": {"server": "devin", "key": "OTHER_KEY"}}, "OTHER_KEY is not listed in env"),
        ({"gateway": {"server": "devin", "headers": {"X-Org-Id": "ORG"}}}, "ORG is not listed in env"),
        ({"gateway": {"server": "devin", "key": "sk-live-1234"}}, "gateway.key"),
        ({"gateway": {"key": "GATEWAY_KEY"}}, "gateway.server"),
        ({"gateway": {"server": "devin", "timeout_s": "soon"}}, "gateway.timeout_s"),
        ({"gateway": {"server": "devin", "wait": True}}, "gateway.wait"),
    ],
)
def test_a_gateway_is_refused_by_the_name_of_its_setting_g26(change: dict[str, Any], says: str) -> None:
    """G20, G26: keys are names of variables, and a remote agent is an agent only."""
    data = yaml.safe_load(REMOTE)
    data["spec"] |= change
    found = read_manifest(yaml.safe_dump(data).encode())
    assert isinstance(found, RunnerError) == bool(says)
    assert says in getattr(found, "message", "")
