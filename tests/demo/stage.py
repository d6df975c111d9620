"""The stage of the demo: the local GitHub in this process, Remedy as a process tree of its own beside it."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.agents.install import QA, install_qa
from tests.demo.tools import make_tools
from tests.github import LocalGitHub, Options

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
REPO = "acme/listing"
TIMES = {
    "quiet_s": 0.5,
    "siblings_s": 20,
    "comment_pace_s": 0.5,
    "write_pace_s": 0.1,
    "sweep_s": 0.5,
    "rering_s": 2,
    "ci_poll_s": 2,
    "ci_first_suite_s": 30,
    "push_quiet_s": 1,
}
"""Short waits, so that nobody waits for politeness that a local GitHub does not need."""


class DemoFailed(Exception):
    """The story did not go on; the text says where and what was seen."""


@dataclass
class Stage:
    """Everything that runs; `close` ends it all and removes the folder unless it is to be kept."""

    scenario: Mapping[str, Any]
    folder: Path = field(default_factory=lambda: _folder())
    github: LocalGitHub = field(init=False)
    remedy: "subprocess.Popen[bytes]" = field(init=False)
    url: str = field(init=False)

    def open(self) -> None:
        """Start both and wait until Remedy answers."""
        self.url = f"http://127.0.0.1:{free_port()}"
        self.github = LocalGitHub(
            hook_url=f"{self.url}/webhook", folder=self.folder / "github", options=Options(auto_ci=True)
        )
        self.github.start()
        install_qa(self.folder / "runners", self.scenario)
        make_tools(self.folder)
        with self.log.open("wb") as log:
            self.remedy = subprocess.Popen(
                self.command(), cwd=ROOT, env=self._environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.wait("Remedy starts", self._answers, 40)
        self.started()

    def command(self) -> tuple[str, ...]:
        """What starts Remedy."""
        return (sys.executable, "-m", "app.cli", "up")

    def started(self) -> None:
        """For stages that do more once Remedy answers."""

    @property
    def log(self) -> Path:
        return self.folder / "remedy.log"

    def _environment(self) -> dict[str, str]:
        app, key = self.github.app, self.folder / "app.pem"
        key.touch(mode=0o600)
        key.write_text(app.pem)
        settings: dict[str, object] = {
            "DATA": self.folder / "data",
            "URL": self.url,
            "PORT": self.url.rsplit(":", 1)[1],
            "APP_ID": app.id,
            "APP_SLUG": app.slug,
            "PRIVATE_KEY_FILE": key,
            "WEBHOOK_SECRET": app.webhook_secret,
            "SECRET_KEY": "only-for-the-demo",
            "AGENT": QA,
            "SUPERVISOR": QA,
            "SELF_REPAIR": "false",
            "ONBOARDING": "false",
            "LONG_WORKERS": 2,
            "LIMITS__MUTANTS_S": 0,
            "PROOF_TOOLS": self.folder / "tools",
            "GITHUB__API_URL": self.github.api_url,
            "GITHUB__WEB_URL": self.github.web_url,
            "SANDBOX__I_ACCEPT_NO_ISOLATION": json.dumps([REPO]),
            "TIMES": json.dumps(TIMES),
        }
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TERM") if name in os.environ}
        ours = {f"REMEDY_{name}": str(value) for name, value in settings.items()}
        return {**kept, **ours, "RUNNERS_DIR": str(self.folder / "runners")}

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def status(self, number: int) -> dict[str, Any]:
        """What Remedy's own status API says about a pull request."""
        address = f"{self.url}/api/repos/{REPO}/status"
        headers = {"authorization": f"Bearer {self._token()}"}
        answer = httpx.get(address, params={"scope": f"pr:{number}"}, headers=headers, timeout=10)
        if answer.status_code == 404:
            return {"status": "NOT_STARTED", "diagnosis": None, "run": None}
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def _token(self) -> str:
        if not hasattr(self, "_kept"):
            installation = self.github.world.state.installations_of(self.github.thread(f"{REPO}#1").repository)[0]
            command = (sys.executable, "-m", "app.cli", "token", str(installation.id))
            done = subprocess.run(
                command, cwd=ROOT, env=self._environment(), capture_output=True, check=True, text=True
            )
            self._kept = done.stdout.strip().splitlines()[-1]
        return str(self._kept)

    def wait(self, what: str, look: Callable[[], T], seconds: float = 40) -> T:
        """Look until something is there; raises DemoFailed with the end of Remedy's log when it never comes."""
        until = time.monotonic() + seconds
        while not (found := look()):
            ended = self.remedy.poll() if hasattr(self, "remedy") else None
            if ended is not None:
                raise DemoFailed(f"{what}: Remedy ended with {ended}. {self._last_words()}")
            if time.monotonic() > until:
                raise DemoFailed(f"{what}: not seen within {seconds:.0f} s. {self._last_words()}")
            time.sleep(0.1)
        return found

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-8:] if self.log.exists() else []
        return "\n".join((f"The end of {self.log}:", *lines))

    def close(self) -> None:
        """End Remedy and GitHub, whatever state they are in."""
        if hasattr(self, "remedy") and self.remedy.poll() is None:
            self.remedy.send_signal(signal.SIGTERM)
            try:
                self.remedy.wait(15)
            except subprocess.TimeoutExpired:
                self.remedy.kill()
        if hasattr(self, "github"):
            self.github.stop()


def _folder() -> Path:
    """A fresh folder that a dropped uid may search, also when the home of this user is shut (PN-11)."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-demo-"))
    folder.chmod(0o711)
    return folder


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
