"""The local GitHub as a process of its own, and what it may be made of (PN-8)."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest

import tests.github
from tests.github import Remote
from tests.github.auth import sign_jwt
from tests.github.remote import RemoteRefused
from tests.github.stage import BREAKS, SHOP
from tests.github.verbs.verb import NAMES

ROOT = Path(__file__).parents[3]
MODULES = {"pytest-xdist": "xdist", "pytest-timeout": "pytest_timeout", "types-PyYAML": "", "types-defusedxml": ""}
PN_8 = """
import importlib.abc, sys

class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"hidden: {name}")
        return None

sys.meta_path.insert(0, Hide())
import tests.github.__main__, tests.github.stage
with tests.github.LocalGitHub() as github:
    github.create_repo("acme/shop", {"a": "b"})
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "tests.github", "--data", str(tmp_path / "data")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running, json.loads(running.stdout.readline())
        finally:
            running.terminate()
            running.communicate()


@pytest.fixture
def remote(process: tuple[subprocess.Popen[str], dict[str, Any]]) -> Iterator[Remote]:
    made = Remote(process[1]["web_url"])
    yield made
    made.close()


def test_its_verbs_are_offered_over_http(remote: Remote) -> None:
    remote.create_repo(name="acme/shop", files=dict(SHOP))
    remote.push(user="ann", repo="acme/shop", branch="feature", files=BREAKS)
    pull = remote.open_pull(user="ann", repo="acme/shop", head="feature")
    assert pull["name"] == "acme/shop#1"
    assert [check["conclusion"] for check in remote.run_ci()] == ["failure"]
    remote.comment(user="ann", thread="acme/shop#1", body="/remedy fix")
    assert remote.snapshot()["acme/shop"]["threads"]["1"]["comments"][0]["body"] == "/remedy fix"
    assert "1 failed" in remote.job_log(check=remote.check(thread="acme/shop#1", name="test")["id"])
    assert remote.complaints() == []


def test_wrong_use_is_a_sentence(remote: Remote) -> None:
    with pytest.raises(RemoteRefused, match="missing 3 required"):
        remote.push(user="ann")
    with pytest.raises(RemoteRefused, match="no verb explode"):
        remote.explode()
    with pytest.raises(RemoteRefused, match="no repository acme/none"):
        remote.branches(repo="acme/none")


def test_it_says_who_the_app_is_and_ends_when_told(process: tuple[subprocess.Popen[str], dict[str, Any]]) -> None:
    running, facts = process
    key = Path(facts["pem_file"])
    assert key.stat().st_mode & 0o777 == 0o600
    headers = {"User-Agent": "x", "X-GitHub-Api-Version": "2022-11-28"}
    token = sign_jwt(key.read_text(), {"iat": int(time()) - 60, "exp": int(time()) + 60, "iss": facts["app_id"]})
    headers["Authorization"] = f"Bearer {token}"
    assert httpx.get(f"{facts['api_url']}/app", headers=headers, trust_env=False).json()["slug"] == facts["app_slug"]
    running.terminate()
    assert running.wait(20) == 0


def test_complaints_make_it_end_with_1(process: tuple[subprocess.Popen[str], dict[str, Any]]) -> None:
    running, facts = process
    httpx.get(f"{facts['api_url']}/repos/a/b/nonsense", headers={"User-Agent": "x"}, trust_env=False)
    running.terminate()
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 1
    assert "is no operation" in errors


def test_the_docstring_lists_every_verb() -> None:
    listed = set(re.findall(r"\w+", tests.github.__doc__ or ""))
    assert listed >= NAMES


def test_pn_8_it_needs_no_development_package() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["dev"]
    names = [name.partition(">")[0].partition("[")[0] for name in extra]
    hidden = [module for name in names if (module := MODULES.get(name, name.replace("-", "_")))]
    done = subprocess.run([sys.executable, "-c", PN_8, *hidden], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
