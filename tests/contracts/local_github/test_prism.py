"""Prism as a third judge: a proxy that holds requests and answers against GitHub's own OpenAPI document (D-42).

Opt-in, since it needs Node and packages that are not kept here: `make test-prism` installs them once and runs this.
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from githubkit import AppAuthStrategy, GitHub
from githubkit.exception import RequestFailed

from tests.contracts.local_github.test_referee import CALLS, EVERYTHING, story
from tests.github import LocalGitHub
from tests.github.ops import HANDLERS

PRISM, DOCUMENT = (Path(os.environ.get(name) or "nowhere") for name in ("PRISM", "GITHUB_OPENAPI"))
RAW_PATHS = {"comparison", "ref"}
"""Prism takes no path parameter with a slash in it."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not (PRISM.exists() and DOCUMENT.exists()), reason="no Prism or no document: npm could not install them"
    ),
]


def _cut(to: Path) -> Path:
    """The document with the operations of the local GitHub only: the whole takes Prism a minute to load."""
    whole = json.loads(DOCUMENT.read_text())
    for path, item in list(whole["paths"].items()):
        kept = {name: op for name, op in item.items() if not isinstance(op, dict) or op.get("operationId") in HANDLERS}
        whole["paths"][path] = kept
        if not any(isinstance(op, dict) for op in kept.values()):
            del whole["paths"][path]
    file = to / "cut.json"
    # A bot's address is no address to the format `email` (D-3).
    file.write_text(re.sub(r'"format": "email"(, )?', "", json.dumps(whole)).replace(", }", "}"))
    return file


class _OldVersion(httpx.HTTPTransport):
    """The document is that of API version 2022-11-28; githubkit would ask for a newer one (F-V3)."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["X-GitHub-Api-Version"] = "2022-11-28"
        return super().handle_request(request)


@contextmanager
def _proxy(document: Path, upstream: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(PRISM), "proxy", str(document), upstream, "--errors", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)  # a foreign process that says nothing when it is ready
        yield address
    finally:
        process.terminate()
        process.wait(30)


def test_d_42_prism_finds_nothing_wrong(tmp_path: Path) -> None:
    with LocalGitHub(manifest=EVERYTHING) as github, _proxy(_cut(tmp_path), github.api_url) as address:
        story(github)
        pull = github.pull("acme/shop#1")
        at = {
            "repo": {"owner": "acme", "repo": "shop"},
            "sha": pull.head_sha,
            "run": github.workflow_runs("acme/shop")[0].id,
        }
        (installation,) = github.world.state.installations
        complaints: dict[str, Any] = {}
        strategy = AppAuthStrategy(github.app.id, github.app.pem)
        with (
            GitHub(strategy, base_url=address, http_cache=False, auto_retry=False, transport=_OldVersion()) as app,
            app.with_auth(app.auth.as_installation(installation)) as client,
        ):
            for name in CALLS.keys() - RAW_PATHS:
                try:
                    CALLS[name](client.rest, at)
                except RequestFailed as error:  # all that it finds, not the first thing
                    complaints[name] = re.sub(r"\s+", " ", error.response.text)[:600]
        assert complaints == {}, json.dumps(complaints, indent=1)
