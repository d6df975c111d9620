"""What a check of the doctor answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.settings import Settings

Level = Literal["passed", "failed", "warning", "not checked"]


@dataclass(frozen=True)
class Found:
    """How it is, what was seen, what to do about it in one line, and the one address that cures it."""

    level: Level
    details: str
    cure: str = ""
    link: str = ""

    def through(self, clean: Callable[[str], str]) -> "Found":
        """The same with its texts cleaned and on one line each."""
        details, cure, link = (" ".join(clean(text).split()) for text in (self.details, self.cure, self.link))
        return Found(self.level, details, cure, link)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    group: str
    check: str
    found: Found


Check = Callable[[Settings], Found]
