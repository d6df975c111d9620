"""Bazel's result table: `//target FAILED in 3.2s`, time-outs, builds that failed, flaky targets."""

import re
from typing import ClassVar

from app.failures.frameworks.detector import Found, Line, Sink

_ROW = re.compile(
    r"(//\S+|@\S+//\S+)\s+(?:\(cached\) )?(FAILED TO BUILD|FAILED"
    r"|TIMEOUT|NO STATUS|FLAKY|PASSED|INCOMPLETE|REMOTE FAILURE)(?:,? (?:failed )?in .*)?"
)
_FAIL = re.compile(r"FAIL: (//\S+) \(.*?see (.*)\)")


class Bazel:
    """A target is an optional container: when the inner framework prints its tests, they are the failures."""

    name: ClassVar[str] = "bazel"
    wakes: ClassVar[tuple[str, ...]] = (
        " FAILED in ",
        " TIMEOUT in ",
        " FAILED TO BUILD",
        "FLAKY, ",
        "FAIL: //",
        " FAILED, ",
    )

    def feed(self, line: Line, out: Sink) -> bool:
        fail = _FAIL.match(line.text)
        if fail:
            out.failure(Found(fail[1], message=line.text, rank=1, wraps=True))
            return False
        row = _ROW.match(line.text) if line.text.startswith(("//", "@")) else None
        if row is None or row[2] in ("PASSED", "NO STATUS", "INCOMPLETE"):
            return False
        out.started()
        if row[2] == "FAILED TO BUILD":
            out.failure(Found(row[1], "not_run", message=line.text, rank=2))
            out.cause("compile_error", line.text)
        else:
            out.failure(
                Found(
                    row[1],
                    "timeout" if row[2] == "TIMEOUT" else "fail",
                    message=line.text,
                    rank=2,
                    wraps=True,
                    flaky=row[2] == "FLAKY",
                )
            )
        return False

    def end(self, out: Sink) -> None:
        pass
