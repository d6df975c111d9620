"""Run unittest names, or all that discovery finds, and write one JSON line for each outcome; standard library only.

Arguments: the report file, then names (`pkg.module.Class.method`); no name means the whole suite.
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from typing import Any

REPORT = sys.argv[1]
NAMES = sys.argv[2:]
del sys.argv[1:]  # Nobody else is to find the report.
_lines = 0


def write(said: dict[str, Any], path: str = REPORT, opened: Any = open) -> None:
    global _lines
    _lines += 1
    with opened(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


class Result(unittest.TestResult):
    """An exception in a test's body is `failed`; what cannot be loaded or set up is `error`."""

    def _say(self, test: Any, outcome: str, error: Any = None) -> None:
        detail = self._exc_info_to_string(error, test)[-3000:] if error is not None else ""  # type: ignore[attr-defined]
        write({"id": test.id(), "outcome": outcome, "detail": detail})

    def addSuccess(self, test: Any) -> None:
        super().addSuccess(test)
        self._say(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self._say(test, "failed", err)

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        body = isinstance(test, unittest.TestCase) and type(test).__name__ != "_FailedTest"
        self._say(test, "failed" if body else "error", err)

    def addSkip(self, test: Any, reason: str) -> None:
        super().addSkip(test, reason)
        self._say(test, "skipped")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._say(test, "skipped")

    def addUnexpectedSuccess(self, test: Any) -> None:
        super().addUnexpectedSuccess(test)
        self._say(test, "failed")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._say(test, "failed", err)


def main() -> None:
    sys.path.insert(0, os.getcwd())
    loader = unittest.TestLoader()
    suites = [_named(loader, name) for name in NAMES] if NAMES else [_everything(loader)]
    result = Result()
    unittest.TestSuite(suites).run(result)
    write({"complete": result.testsRun, "lines": _lines})


def _named(loader: unittest.TestLoader, name: str) -> unittest.TestSuite:
    """A name that is absent has no row; a module that cannot be loaded is an `error` of the name."""
    try:
        suite = loader.loadTestsFromName(name)
    except unittest.SkipTest:
        write({"id": name, "outcome": "skipped", "detail": ""})
        return unittest.TestSuite()
    except BaseException as error:
        write({"id": name, "outcome": "error", "detail": repr(error)[-3000:]})
        return unittest.TestSuite()
    for test in suite:
        if type(test).__name__ == "_FailedTest":
            why = getattr(test, "_exception", None)
            if not isinstance(why, AttributeError) and not _is_absent(name, str(why)):
                write({"id": name, "outcome": "error", "detail": str(why)[-3000:]})
            return unittest.TestSuite()
    return unittest.TestSuite([suite])


def _is_absent(name: str, said: str) -> bool:
    parts = name.split(".")
    return any(f"No module named '{'.'.join(parts[:n])}'" in said for n in range(1, len(parts)))


def _everything(loader: unittest.TestLoader) -> unittest.TestSuite:
    """The usual places: discovery from the top, then from folders named test that are no packages."""
    suites = [loader.discover(".", top_level_dir=".")]
    folders = [folder for folder in ("test", "tests") if os.path.isdir(folder)]
    loose = [folder for folder in folders if not os.path.exists(os.path.join(folder, "__init__.py"))]
    return unittest.TestSuite([*suites, *(loader.discover(folder, top_level_dir=folder) for folder in loose)])


if __name__ == "__main__":
    main()
