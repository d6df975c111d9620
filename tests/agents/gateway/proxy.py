"""Install the pinned LiteLLM proxy into a folder outside the repository, once, and run it without internet."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

VERSION = "1.108.7"
INSTALL_S = 1200
START_S = 120
MASTER_KEY = "sk-test-master-1234"
CLIENT_TIMEOUT_S = 3
"""The gateway's own patience with an upstream tool."""


class NotHere(Exception):
    """The proxy cannot be installed on this machine; the text says why."""


def program(cache: Path) -> Path:
    """The `litellm` command of the pinned version; raises NotHere. Never in our own environment: it pins our parts."""
    place = cache / f"litellm-{VERSION}"
    if (place / "complete").exists():
        return place / "bin" / "litellm"
    shutil.rmtree(place, ignore_errors=True)
    for argv in (
        [sys.executable, "-m", "venv", str(place)],
        [str(place / "bin" / "pip"), "install", "-q", "--no-input", f"litellm[proxy]=={VERSION}"],
    ):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_S, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise NotHere(f"pip could not install litellm[proxy]=={VERSION}: {done.stderr.strip()[-300:]}")
    (place / "complete").touch()
    return place / "bin" / "litellm"


@contextmanager
def running(litellm: Path, folder: Path, servers: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The address of a proxy that serves these MCP servers; ended with the block."""
    config = {
        "model_list": [],
        "general_settings": {"master_key": MASTER_KEY},
        "litellm_settings": {"telemetry": False},
        "mcp_servers": {name: dict(server) for name, server in servers.items()},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {
        "PATH": f"{litellm.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MCP_CLIENT_TIMEOUT": str(CLIENT_TIMEOUT_S),
    }
    argv = [str(litellm), "--config", str(path), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    with (folder / "litellm.log").open("wb") as log:
        process = subprocess.Popen(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}", process, folder / "litellm.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health/liveliness", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"LiteLLM did not start: {log.read_text()[-2000:]}")
