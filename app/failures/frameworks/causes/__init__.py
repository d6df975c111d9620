"""Cause lines without a source row: network, install, memory, disk, time, crash, configuration (OUT-9)."""

from typing import ClassVar

import re2

from app.failures.frameworks.causes import build, install, machine, network, setup
from app.failures.frameworks.detector import Line, Sink

CAUSES = (*network.CAUSES, *install.CAUSES, *machine.CAUSES, *build.CAUSES, *setup.CAUSES)
_WORDS = tuple((word.rstrip("\n"), at) for at, cause in enumerate(CAUSES) for word in cause.wakes)
_SET = re2.Set.SearchSet()
for _word, _at in _WORDS:
    _SET.Add(re2.escape(_word))
_SET.Compile()


class Causes:
    """Tells candidates; whether one counts is decided by kind.py."""

    name: ClassVar[str] = "causes"
    wakes: ClassVar[tuple[str, ...]] = tuple(sorted({word for word, _ in _WORDS}))

    def feed(self, line: Line, out: Sink) -> bool:
        for at in sorted({_WORDS[found][1] for found in _SET.Match(line.text) or ()}):
            if CAUSES[at].pattern.match(line.text):
                out.cause(CAUSES[at].kind, line.text, CAUSES[at].tool)
                break
        return False

    def end(self, out: Sink) -> None:
        pass
