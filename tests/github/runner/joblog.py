"""The log of one job, line by line in the form of GitHub Actions (seven fraction digits, groups, ANSI kept)."""

import re
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from tests.github.core.clock import Clock

BOM = "\ufeff"
_COMMAND = re.compile(r"^::(group|endgroup|error|warning|notice|debug)(?: [^:]*)?::(.*)$")
_PRELUDE = (
    ("Runner Image Provisioner", ("Hosted Compute Agent", "Version: 20260828.412")),
    ("Operating System", ("Ubuntu", "24.04.3", "LTS")),
    ("Runner Image", ("Image: ubuntu-24.04", "Version: 20261109.134.1")),
    ("GITHUB_TOKEN Permissions", ("Contents: read", "Metadata: read")),
)


class JobLog:
    """Opens the file, writes the prelude of a hosted runner, and stamps each line with the injected clock."""

    def __init__(self, path: Path, clock: Clock, job_name: str) -> None:
        self.path = path
        self._clock = clock
        self._job_name = job_name

    def __enter__(self) -> "JobLog":
        self._stream = self.path.open("w", encoding="utf-8", newline="\n")
        self._stream.write(BOM)
        self.line("Current runner version: '2.329.0'")
        for title, lines in _PRELUDE:
            self.group(title, lines)
        for text in ("Secret source: Actions", "Prepare workflow directory", "Prepare all required actions"):
            self.line(text)
        self.line(f"Complete job name: {self._job_name}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.line("Post job cleanup.")
        self.line("Cleaning up orphan processes")
        self._stream.close()

    def line(self, text: str) -> None:
        self._stream.write(f"{self._clock.log_stamp()} {text}\n")

    def output(self, raw: bytes) -> None:
        """One line of a step's output; workflow commands become their log form."""
        text = raw.decode("utf-8", "replace").rstrip("\n")
        match = _COMMAND.match(text.rstrip("\r"))
        self.line(text if match is None else f"##[{match[1]}]{match[2]}")

    def group(self, title: str, lines: Iterable[str]) -> None:
        self.line(f"##[group]{title}")
        for text in lines:
            self.line(text)
        self.line("##[endgroup]")

    def run_header(self, command: str, shell: str, env: dict[str, str]) -> None:
        first, *_ = command.splitlines() or [""]
        coloured = [f"\x1b[36;1m{text}\x1b[0m" for text in command.splitlines()]
        shown = ["env:", *(f"  {name}: {value}" for name, value in env.items())] if env else []
        self.group(f"Run {first}", [*coloured, f"shell: {shell} -e {{0}}", *shown])

    def action_header(self, action: str, inputs: dict[str, str]) -> None:
        self.group(f"Run {action}", ["with:", *(f"  {name}: {value}" for name, value in inputs.items())])

    def error(self, text: str) -> None:
        self.line(f"##[error]{text}")
