"""Collect the text of one failure within bounds: its beginning and its end are kept, its middle may go."""

from collections.abc import Iterator

HEAD_LINES = 400
TAIL_LINES = 800


class Block:
    """Lines of one failure; at most 1,200 of them stay, the error stands at one of both ends."""

    __slots__ = ("_head", "_tail", "lost")

    def __init__(self) -> None:
        self._head: list[str] = []
        self._tail: list[str] = []
        self.lost = 0

    def add(self, text: str) -> None:
        if len(self._head) < HEAD_LINES:
            self._head.append(text)
            return
        self._tail.append(text)
        if len(self._tail) > 2 * TAIL_LINES:
            self.lost += len(self._tail) - TAIL_LINES
            del self._tail[:-TAIL_LINES]

    @property
    def lines(self) -> list[str]:
        return [*self._head, *self._tail[-TAIL_LINES:]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __bool__(self) -> bool:
        return bool(self._head)

    def first(self) -> str:
        """The first line that is not blank, stripped; empty when there is none."""
        return next((line.strip() for line in self._head if line.strip()), "")
