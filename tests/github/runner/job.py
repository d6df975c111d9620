"""Really run one job: check the commit out, run its steps in order, keep log and artifacts."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.github.core.clock import Clock
from tests.github.core.gitstore import GitStore
from tests.github.runner.joblog import JobLog
from tests.github.runner.workflow import JobPlan, Step


@dataclass(frozen=True)
class Order:
    """What to run and where: `facts` are the GITHUB_* variables, `log` and `artifacts` are paths to write."""

    plan: JobPlan
    git: GitStore
    sha: str
    facts: dict[str, str]
    log: Path
    artifacts: Path
    time_limit_s: float


@dataclass
class Result:
    """`steps` have number, name, status, conclusion, times in UTC milliseconds; `artifacts` are zip files by name."""

    conclusion: str = "success"
    steps: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[str, Path] = field(default_factory=dict)


class Work:
    """One job in a temporary folder; nothing of this process's environment reaches its steps."""

    def __init__(self, order: Order, clock: Clock) -> None:
        self._order = order
        self._clock = clock
        self._deadline = time.monotonic() + (order.plan.timeout_s or order.time_limit_s)
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """From another thread: end the running step; the job's conclusion becomes `cancelled`."""
        self._cancelled.set()
        if self._process is not None:
            _kill(self._process)

    def run(self) -> Result:
        result = Result()
        self._order.log.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="actions-", ignore_cleanup_errors=True) as name:
            self._folder = Path(name)
            self._tree = self._folder / "work"
            self._tree.mkdir()
            self._environment = self._make_environment()
            with JobLog(self._order.log, self._clock, self._order.plan.name) as log:
                for number, step in enumerate(self._order.plan.steps, 1):
                    self._one(number, step, log, result)
        return result

    def _one(self, number: int, step: Step, log: JobLog, result: Result) -> None:
        wanted = step.when == "always" or (step.when == "success") == (result.conclusion == "success")
        started = self._clock.now_ms()
        ended = "skipped"
        if wanted and not self._cancelled.is_set():
            ended = getattr(self, f"_{step.kind}")(step, log, result)
            if ended != "success":
                result.conclusion = ended
        result.steps.append(
            {
                "name": step.title,
                "status": "completed",
                "conclusion": "failure" if ended == "timed_out" else ended,
                "number": number,
                "started_at": started,
                "completed_at": self._clock.now_ms(),
            }
        )

    def _checkout(self, step: Step, log: JobLog, result: Result) -> str:
        repository = self._order.facts["GITHUB_REPOSITORY"]
        log.action_header(step.command, {"repository": repository, "token": "***", "fetch-depth": "1"})
        log.line(f"Syncing repository: {repository}")
        shutil.rmtree(self._tree)
        self._order.git.checkout(self._order.sha, self._tree)
        log.line(f"HEAD is now at {self._order.sha[:7]}")
        return "success"

    def _setup(self, step: Step, log: JobLog, result: Result) -> str:
        log.action_header(step.command, dict(step.inputs))
        log.line(f"Successfully set up CPython ({sys.version.split()[0]})")
        return "success"

    def _upload(self, step: Step, log: JobLog, result: Result) -> str:
        log.action_header(step.command, dict(step.inputs))
        name = step.inputs.get("name", "artifact")
        found = sorted(self._tree.glob(step.inputs["path"]))
        if not found:
            log.line(f"##[warning]No files were found with the provided path: {step.inputs['path']}.")
            return "success"
        self._order.artifacts.mkdir(parents=True, exist_ok=True)
        target = self._order.artifacts / f"{name}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in (file for top in found for file in ([top] if top.is_file() else sorted(top.rglob("*")))):
                if path.is_file():
                    archive.write(path, path.name if len(found) == 1 else str(path.relative_to(self._tree)))
        result.artifacts[name] = target
        log.line(f"Artifact {name} has been successfully uploaded!")
        return "success"

    def _run(self, step: Step, log: JobLog, result: Result) -> str:
        shell = shutil.which("bash") or "/bin/sh"
        env = {**self._order.plan.env, **step.env}
        log.run_header(step.command, shell, env)
        script = self._folder / "step.sh"
        script.write_text(step.command)
        code = self._spawn([shell, "-e", str(script)], self._tree / step.folder, env, log)
        if self._cancelled.is_set():
            log.error("The operation was canceled.")
            return "cancelled"
        if code is None:
            minutes = (self._order.plan.timeout_s or self._order.time_limit_s) / 60
            log.error(f"The job has exceeded the maximum execution time of {minutes:g} minutes.")
            return "timed_out"
        if code != 0:
            log.error(f"Process completed with exit code {code}.")
        return "success" if code == 0 else "failure"

    def _spawn(self, command: list[str], folder: Path, env: dict[str, str], log: JobLog) -> int | None:
        """The exit code; None when the job's time was over."""
        self._process = process = subprocess.Popen(
            command,
            cwd=folder,
            env=self._environment | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(max(self._deadline - time.monotonic(), 0), end)
        timer.start()
        try:
            assert process.stdout is not None
            for raw in process.stdout:
                log.output(raw)
            process.stdout.close()
            code = process.wait()
        finally:
            timer.cancel()
            _kill(process)
        return None if late.is_set() else code

    def _make_environment(self) -> dict[str, str]:
        shim = self._folder / "bin"
        shim.mkdir()
        for name in ("python", "python3"):
            (shim / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            (shim / name).chmod(0o755)
        home = self._folder / "home"
        home.mkdir()
        return {
            "PATH": os.pathsep.join([str(shim), "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self._tree),
            "RUNNER_OS": "Linux",
            "PYTHONDONTWRITEBYTECODE": "1",
            # The product's own development plugins would slow a project's tests and change their output.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **self._order.facts,
        }


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The whole group, so that no child of a step outlives its job."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
