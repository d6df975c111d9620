"""`remedy runners`: what an operator sees and what a script reads."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import remedy
from app.errors import UserError
from tests.agents.install import QA, install_qa
from tests.databases import a_ledger

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server with an empty data folder that a sandbox's user can reach."""
    made = Path(tempfile.mkdtemp(prefix="remedy-cli-"))
    made.chmod(0o711)
    monkeypatch.setenv("REMEDY_DATA", str(made / "data"))
    monkeypatch.setenv("RUNNERS_DIR", str(made / "runners"))
    monkeypatch.setenv("REMEDY_SANDBOX__I_ACCEPT_NO_ISOLATION", '["any/any"]')
    monkeypatch.delenv("DATABASE_URL", raising=False)
    (made / "data").mkdir(mode=0o711)
    a_ledger(f"sqlite:///{made / 'data' / 'remedy.db'}").dispose()
    yield made
    shutil.rmtree(made, ignore_errors=True)


def said(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(remedy, ["runners", *args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def data(*args: str) -> tuple[int, Any]:
    code, text = said(*args)
    return code, json.loads(text)


def test_a_runner_is_installed_listed_tried_examined_and_removed(folder: Path) -> None:
    """D5, D7, D11."""
    install_qa(folder / "source", {})
    source = str(folder / "source" / "qa")
    assert data("list", "--json")[1]["runners"] == []

    code, text = said("install", source)
    assert code == 0 and "100 %" in text and f"REMEDY_AGENT={QA}" in text
    code, row = data("install", source, "--json")
    assert (code, row["id"], row["state"], row["percent"], row["error"]) == (0, QA, "ready", 100, "")

    (listed,) = data("list", "--json")[1]["runners"]
    assert (listed["id"], listed["version"], listed["origin"]) == (QA, "1.0.0", "folder qa")
    assert listed["usages"] == ["agent", "supervisor", "self_repair"]

    code, tried = data("try", QA, "--prompt", "[[qa:prose text=Hello]]")
    assert code == 0 and tried["final_text"] == "Hello" and tried["outputs"] == [{"role": "agent", "text": "Hello"}]

    assert said("remove", QA)[0] == 0 and data("list", "--json")[1]["runners"] == []
    with pytest.raises(UserError, match="not an installed runner"):
        said("remove", QA)


def test_doctor_tells_version_readiness_and_reason_for_each(folder: Path) -> None:
    """RN-8: started once each; exit status 1 when one is not ready."""
    install_qa(folder / "runners", {"version": "1.4.2"})
    code, found = data("doctor", "--json")
    (one,) = found["runners"]
    assert code == 0 and (one["id"], one["version"], one["ready"], one["reason"]) == (QA, "1.4.2", True, "")

    install_qa(folder / "runners", {"start": "crash"})
    install_qa(folder / "runners", {}, runner_id="acme/agents/typo", usages=[])
    code, text = said("doctor")
    assert code == 1 and "exit code 3" in text and "spec.usages" in text and "acme/agents/typo" in text
    code, text = said()
    assert code == 0 and "acme/agents/typo" in text and "spec.usages" in text
    with pytest.raises(UserError, match="RUNNERS_DIR"):
        said("remove", QA)
    with pytest.raises(UserError, match="There is no runner"):
        said("doctor", "a/b/c")
