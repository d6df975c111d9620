"""Put the QA agent into a RUNNERS_DIR with a scenario of its own, as an operator installs a runner."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
QA = "remedy/agents/qa"


def install_qa(runners_dir: Path, scenario: Mapping[str, Any], *, runner_id: str = QA, **spec: Any) -> str:
    """A folder `<runners_dir>/<last part of the id>` with agent, manifest and `scenario.json`; returns the id.

    Called again for the same id it replaces the scenario. `spec` changes keys of the manifest's `spec`: with
    `capabilities={"load_session": True}, env_fixed={"QA_STATE": "~/.qa"}` sessions are kept in HOME and can be loaded.
    """
    manifest = yaml.safe_load((HERE / "runner.yaml").read_text())
    manifest["metadata"].update(zip(("author", "name", "runner"), runner_id.split("/"), strict=True))
    manifest["spec"].update(spec)
    folder = runners_dir / runner_id.rsplit("/", 1)[-1]
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("qa.py", "qa_faults.py", "qa_tools.py"):
        shutil.copy(HERE / name, folder / name)
    (folder / "runner.yaml").write_text(yaml.safe_dump(manifest))
    (folder / "scenario.json").write_text(json.dumps(scenario, indent=2))
    return runner_id


DEVIN = "remedy/agents/devin"
DEVIN_KEY = "DEVIN_TEST_KEY"


def install_devin(runners_dir: Path, url: str, *, runner_id: str = DEVIN, gateway: Mapping[str, Any] = {}) -> str:
    """A manifest for a remote agent at `url`, whose key is the value of the variable `DEVIN_KEY`; returns the id."""
    manifest = yaml.safe_load((HERE / "runner.yaml").read_text())
    manifest["metadata"].update(zip(("author", "name", "runner"), runner_id.split("/"), strict=True))
    reached = {"server": "devin", "key": DEVIN_KEY, "tags": ["remedy"], **gateway}
    env = [DEVIN_KEY] if reached["key"] else []
    manifest["spec"] = {"usages": ["agent"], "protocol": "mcp/1", "url": url, "env": env, "gateway": reached}
    folder = runners_dir / runner_id.rsplit("/", 1)[-1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runner.yaml").write_text(yaml.safe_dump(manifest))
    return runner_id
