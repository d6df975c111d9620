"""A pytest plugin: run the named tests only and write one JSON line for each phase of each; standard library only.

REMEDY_REPORT names the file to write, REMEDY_TESTS a JSON file with the ids as the log printed them; without it the
whole suite runs.
"""

from __future__ import annotations

import json
import os
from typing import Any

_REPORT = os.environ.pop("REMEDY_REPORT", "")  # Nobody else is to find it.
_WANTED: list[str] | None = None
if "REMEDY_TESTS" in os.environ:
    with open(os.environ["REMEDY_TESTS"], encoding="utf-8") as _file:
        _WANTED = json.load(_file)


class Reporter:
    """Appends to the report; the line `complete` stands at its end only if pytest came to its own end.

    It says how many lines were written: more of them are of another hand.
    """

    def __init__(self, config: Any) -> None:
        self._config = config
        self._lines = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        said = {"id": self._shown(report.nodeid), "when": report.when, "outcome": report.outcome}
        if type(report).__name__.lower() == "subtestreport":
            said["part"] = True
        if report.outcome not in ("passed", "skipped"):
            said["detail"] = str(getattr(report, "longreprtext", ""))[-3000:]
        self._write(said)

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            detail = str(getattr(report, "longreprtext", ""))[-3000:]
            self._write({"collect": self._shown(report.nodeid), "detail": detail})

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        self._write({"complete": int(exitstatus), "lines": self._lines})

    def _shown(self, nodeid: str) -> str:
        """The id as pytest prints it: relative to the folder it was started in."""
        return str(self._config.cwd_relative_nodeid(nodeid))

    def _write(self, said: dict[str, Any]) -> None:
        self._lines += 1
        with open(_REPORT, "a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")


def pytest_configure(config: Any) -> None:
    """A worker of pytest-xdist sends its reports to the process that started it, which writes them."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config), "remedy-reporter")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    chosen = [item for item in items if _is_wanted(str(config.cwd_relative_nodeid(item.nodeid)))]
    rest = [item for item in items if item not in chosen]
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = chosen


def _is_wanted(shown: str) -> bool:
    """A name without a bracket means all its rows, a class or a file all that is in it."""
    return _WANTED is None or any(shown == name or shown.startswith((name + "[", name + "::")) for name in _WANTED)
