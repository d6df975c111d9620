"""Numbered failure lists: `1) title`, then text, until the next number or the end of the list."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Line

_LINES = 4000


@dataclass
class Item:
    number: int
    title: str
    line: Line
    text: Block = field(default_factory=Block)


class NumberedList:
    """Collects items whose numbers follow each other; `begins` gives (number, title) for a line that opens an item.

    The list ends at a line for which `ends` says so, or after 4,000 lines of one item.
    """

    def __init__(self, begins: Callable[[str], tuple[int, str] | None], ends: Callable[[str], bool]) -> None:
        self._begins = begins
        self._ends = ends
        self.items: list[Item] = []
        self.lead: list[str] = []
        self._lines = 0

    def feed(self, line: Line) -> bool:
        """Is the line part of the list?"""
        opened = self._begins(line.text)
        if opened is not None and opened[0] == len(self.items) + 1:
            self.items.append(Item(opened[0], opened[1], line))
            self._lines = 0
            return True
        self._lines += 1
        if self._ends(line.text) or self._lines > _LINES:
            return False
        if self.items:
            self.items[-1].text.add(line.text)
        else:
            self.lead.append(line.text)
        return True
