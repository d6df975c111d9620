"""The frame of a job log: commands, their exit codes, and how the job closed; on Actions, Travis, GitLab and others."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Line, Sink

_ACTIONS = re.compile(r"Process completed with exit code (-?\d+)\.?$")
_TRAVIS_COMMAND = re.compile(
    r"[^\"]{0,60}?The command \"(.*)\" (?:exited with (\d+)|failed and exited with (\d+) during)"
)
_TRAVIS_DONE = re.compile(r"Done\. Your build exited with (\d+)\.")
_GITLAB = re.compile(
    r"ERROR: Job failed: (?:exit code|exit status|command terminated with exit code) (\d+)|ERROR: Job failed"
)
_CIRCLE = re.compile(r"Exited with code(?: exit status)? (\d+)")
_BUILDKITE = re.compile(r".*The command exited with status (\d+)")
_AZURE = re.compile(r"(?:Bash|PowerShell|Cmd\.exe|Script) (?:exited with code|failed with exit code:?) '?(\d+)'?")
_APPVEYOR = re.compile(r"Command exited with code (\d+)")
_RUN = re.compile(r"Run (\S.*)$")
_DOLLAR = re.compile(r"(?:\$ |\+ )(\S.*)$")
_EXITS = (_ACTIONS, _GITLAB, _CIRCLE, _BUILDKITE, _AZURE, _APPVEYOR)


class Job:
    name: ClassVar[str] = "job"
    wakes: ClassVar[tuple[str, ...]] = (
        "##[error]",
        "##[group]Run ",
        "exited with ",
        "Your build exited",
        "Post job cleanup",
        "Job failed",
        "Exited with code",
        "exited with status",
        "Job succeeded",
        "travis_time:start",
        "Z $ ",
        "Z \x1b[0K\x1b[32;1m$ ",
        "exited with code",
        "failed with exit code",
        "::error",
        "Cleaning up orphan processes",
    )

    shapes: ClassVar[tuple[str, ...]] = (r"(?m)^\$ ",)

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if line.level == "group":
            run = _RUN.match(text)
            if run:
                out.begins(run[1])
            return False
        if text.startswith(("Post job cleanup", "Cleaning up orphan")):
            out.begins("")
            out.closes(None)
            return False
        if text.startswith("Job succeeded"):
            out.closes(0)
            return False
        done = _TRAVIS_DONE.match(text)
        if done:
            out.closes(int(done[1]))
            return False
        travis = _TRAVIS_COMMAND.match(text) if 'The command "' in text else None
        if travis:
            out.exits(int(travis[2] or travis[3]), travis[1])
            return False
        for pattern in _EXITS:
            found = pattern.match(text)
            if found:
                out.exits(abs(int(found[1] or 1)), None)
                out.closes(int(found[1] or 1)) if pattern is _GITLAB else None
                return False
        if line.level == "error":
            out.exits(-1, None)
        elif "travis_time:start" in text or text.startswith("$ "):
            dollar = _DOLLAR.match(text)
            out.begins(dollar[1] if dollar else "")
        return False

    def end(self, out: Sink) -> None:
        pass
