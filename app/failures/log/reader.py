"""Stream a log in blocks, jump from wake word to wake word, and give lines to the detectors that are awake."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

import re2

from app.failures.frameworks.detector import Detector, Line, Sink
from app.failures.log import prefix
from app.failures.log.clean import HEAD, TAIL, clean, workflow_level

BLOCK = 1 << 20
LOOK_BACK = 1 << 16
COMPANY = 4096
MAX_STREAMS = 200
DFA_BYTES = 32 << 20


class Wakes:
    """The wake words of all detectors: one re2 alternation to jump by, one re2 set to see who is meant."""

    def __init__(self, detectors: Sequence[type[Detector]]) -> None:
        by_word: dict[str, list[int]] = {}
        for at, detector in enumerate(detectors):
            for word in detector.wakes:
                by_word.setdefault(re2.escape(word), []).append(at)
            for shape in getattr(detector, "shapes", ()):
                by_word.setdefault(shape, []).append(at)
        options = re2.Options()
        options.max_mem = DFA_BYTES
        self.jump = re2.compile("|".join(by_word), options)
        self._set = re2.Set.SearchSet()
        for word in by_word:
            self._set.Add(word)
        self._set.Compile()
        self._who = list(by_word.values())

    def who(self, raw: bytes) -> list[int]:
        """Indexes of the detectors that have a wake word in this raw line."""
        found: Sequence[int] = self._set.Match(raw) or ()
        if len(found) == 1:
            return self._who[found[0]]
        return sorted({at for word in found for at in self._who[word]})


class Stream:
    """Detectors of one stream of lines; each is made when it is first woken."""

    def __init__(self, make: Callable[[int], tuple[Detector, Sink]]) -> None:
        self._make = make
        self.all: dict[int, tuple[Detector, Sink]] = {}
        self.awake: list[int] = []

    def feed(self, line: Line, woken: Sequence[int]) -> None:
        """Give the line to those awake and to those woken by it; one that raises is dropped for this log (LT-6)."""
        awake = self.awake
        targets = awake if not woken else woken if not awake else list(dict.fromkeys([*awake, *woken]))
        if len(targets) == 1:
            if not self._give(targets[0], line):
                self.awake = []
            elif not awake:
                self.awake = list(targets)
            return
        self.awake = [at for at in targets if self._give(at, line)]

    def _give(self, at: int, line: Line) -> bool:
        pair = self.all.get(at)
        if pair is None:
            pair = self.all[at] = self._make(at)
        detector, sink = pair
        sink.line = line
        try:
            return detector.feed(line, sink)
        except Exception as error:
            sink.broke(error)
            self.all[at] = (Dropped(), sink)
            return False


class Dropped:
    """Stands for a detector that raised: it reads nothing more of this log."""

    name: ClassVar[str] = "dropped"
    wakes: ClassVar[tuple[str, ...]] = ()

    def feed(self, line: Line, out: Sink) -> bool:
        return False

    def end(self, out: Sink) -> None:
        pass


class Reader:
    """Feeds blocks of any size to the detectors; the result does not depend on the sizes (OUT-6)."""

    def __init__(self, wakes: Wakes, make: Callable[["Reader", int, str], tuple[Detector, Sink]]) -> None:
        self._wakes = wakes
        self._make = make
        self.streams: dict[str, Stream] = {}
        self._rest = bytearray()
        self._dropped = self._dropped_before = 0
        self._base = 0
        self._awake = 0
        self._data = b""
        self._at = 0
        self._here = ""
        self._cleaned: dict[int, tuple[str, str]] = {}
        self.lines = 0
        self.bytes = 0
        self.stamped = False

    def read(self, chunks: Iterable[bytes]) -> None:
        """Read everything, then tell all detectors that the log is over."""
        for chunk in chunks:
            self.bytes += len(chunk)
            for start in range(0, len(chunk), BLOCK):
                self._rest += chunk[start : start + BLOCK]
                while len(self._rest) >= BLOCK:
                    self._take(BLOCK)
        self._scan(bytes(self._rest))
        for stream in self.streams.values():
            for detector, sink in stream.all.values():
                try:
                    detector.end(sink)
                except Exception as error:
                    sink.broke(error)

    def above(self, limit: int) -> Iterator[str]:
        """Up to `limit` cleaned lines of the current stream above the current line, the nearest first, within 64 KB."""
        end, here = self._at - 1, self._here
        floor = max(0, self._at - LOOK_BACK)
        while limit and end >= floor and end > 0:
            start = self._data.rfind(b"\n", 0, end) + 1
            known = self._cleaned.get(start)
            if known is None:
                stream, line = self._line(self._data[start:end], start)
                known = self._cleaned[start] = (stream, line.text)
            if known[0] == here:
                limit -= 1
                yield known[1]
            end = start - 1

    def _take(self, size: int) -> None:
        """Scan the whole lines of the first `size` bytes; an over-long line keeps its head and its tail only."""
        cut = self._rest.rfind(b"\n", 0, size) + 1
        if cut:
            self._scan(bytes(self._rest[:cut]))
            del self._rest[:cut]
        elif len(self._rest) > HEAD + TAIL:
            self._dropped += len(self._rest) - HEAD - TAIL
            del self._rest[HEAD:-TAIL]

    def _scan(self, block: bytes) -> None:
        keep = self._data[-LOOK_BACK:]
        if len(self._data) > LOOK_BACK:
            keep = keep[keep.find(b"\n") + 1 :]
        self._base += len(self._data) - len(keep) + self._dropped_before
        self._dropped_before, self._dropped = self._dropped, 0
        self._data = keep + block
        self._cleaned = {}
        self._jump(len(keep))
        self.lines += block.count(b"\n") + (0 if block.endswith(b"\n") or not block else 1)

    def _jump(self, at: int) -> None:
        data, size = self._data, len(self._data)
        number, counted = self.lines, at
        hits = self._wakes.jump.finditer(data, at)
        hit = next(hits, None)
        spot = size if hit is None else hit.start()
        while at < size:
            if not self._awake:
                if hit is None:
                    return
                at = max(at, data.rfind(b"\n", at, spot) + 1)
            end = data.find(b"\n", at)
            if end < 0:
                end = size
            raw = data[at:end]
            woken: Sequence[int] = ()
            if spot < end:
                woken = self._wakes.who(raw)
                while hit is not None and spot < end:
                    hit = next(hits, None)
                    spot = size if hit is None else hit.start()
            number += data.count(b"\n", counted, at)
            counted = at
            self._at = at
            self._give(raw, number + 1, woken)
            at = end + 1

    def _give(self, raw: bytes, number: int, woken: Sequence[int]) -> None:
        name, line = self._line(raw, self._at, number)
        stream = self.streams.get(name)
        if stream is None:
            if not woken:
                return
            name = name if len(self.streams) < MAX_STREAMS else ""
            stream = self.streams.setdefault(name, Stream(lambda at: self._make(self, at, name)))
        if woken or stream.awake:
            self._here = name
            before = bool(stream.awake)
            stream.feed(line, woken)
            self._awake += bool(stream.awake) - before

    def _line(self, raw: bytes, at: int, number: int = 0) -> tuple[str, Line]:
        """The cleaned line at `at` of the data, and the name of its stream."""
        text, stamp, level, job = clean(raw)
        self.stamped = self.stamped or stamp != ""
        stream = ""
        if text and not text[0].isspace():
            stream, text = prefix.split(text, self._data, max(0, at - COMPANY), at)
            if stream and text.startswith("##["):
                level, text = workflow_level(text)
        return job + stream, Line(number, self._base + at, text, level, stamp)
