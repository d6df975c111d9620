"""Put the prints of one pytest session together: blocks, progress rows, summary rows, and its own total."""

import re
from dataclasses import dataclass, field
from functools import cached_property

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.model import FailureKind
from app.failures.places import Place, choose, is_installed, places_in, same_file

_KNOWN_RULES = (
    "short test summary info",
    "warnings summary",
    "PASSES",
    "XFAILURES",
    "XPASSES",
    "test session starts",
    "FAILURES",
    "ERRORS",
    "rerun test summary info",
    "SUBTESTS FAILURES",
)
_AT_PHASE = re.compile(r"ERROR at (setup|teardown|call) of (.+)$", re.DOTALL)
_COLLECTING = re.compile(r"ERROR collecting (.+)$")
_WORKER = re.compile(r"worker '\w+' crashed while running '(.+)'")
_PLACE_ROW = re.compile(r"(\S.*?\.\w+):(\d+): (?:\w|in )")
_PLAIN_PLACE = re.compile(r"(\S.*?\.\w+):(\d+):? *$")
_DASH = re.compile(r" (?=- )")
_LONG_TITLE = re.compile(r" ([A-Za-z_][\w.]*(?:\[.*\])?)(?: _?)$")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_SYNTAX = re.compile(r"E? +File \"(.+)\", line (\d+)")
_CAPTURED = re.compile(r"-{2,} Captured .{1,40} -{2,}$")
_ERROR_TEXT = re.compile(r"[\w.]*(?:Error|Exception|Failed|Warning|Exit|Interrupt|Timeout)\b.{0,400}")


@dataclass
class Row:
    """One row of a summary: status word, node id with or without ` - message`, and a subtest's label."""

    word: str
    text: str
    line: Line
    label: str = ""


@dataclass
class Failed:
    """One block of the FAILURES or ERRORS section."""

    title: str
    section: str
    line: Line
    text: Block = field(default_factory=Block)

    @cached_property
    def test(self) -> str:
        """The title without phase or doctest mark: `Class.name[param]`."""
        phase = _AT_PHASE.match(self.title)
        return phase[2] if phase else self.title.removeprefix("[doctest] ")

    @cached_property
    def collecting(self) -> str:
        found = _COLLECTING.match(self.title)
        return found[1] if found else ""

    @cached_property
    def crashed(self) -> str:
        """Node id of the test during which a worker of xdist died; asked for when the block is complete."""
        for text in self.text.lines[:20]:
            found = _WORKER.search(text)
            if found:
                return found[1]
        return ""

    def own_text(self) -> list[str]:
        """The traceback alone, without captured output."""
        lines = []
        for text in self.text:
            if text.startswith("--") and _CAPTURED.match(text):
                break
            lines.append(text)
        return lines

    def message(self) -> str:
        """First line of the last error of the chain: the last group of `E` lines, else the last line that names one."""
        lines = self.own_text()
        message, inside = "", False
        for text in lines:
            is_error = text.startswith("E ") or text == "E"
            if is_error and not inside and text[1:].strip():
                message = text[1:].strip()
            inside = is_error
        if message:
            return message
        named = [text.strip() for text in lines if _ERROR_TEXT.match(text)]
        return named[-1] if named else next((text.strip() for text in reversed(lines) if text.strip()), "")

    def place(self, test_file: str) -> Place | None:
        lines = _last_of_chain(self.own_text())
        rows = [Place(row[1], int(row[2][:9])) for row in map(_row_place, lines) if row]
        places = rows or [place for place in places_in(lines) if place.line]
        file = test_file or (self.collecting or (places[0].file if places else ""))
        if self.collecting:
            return self._place_of_load(lines, places)
        return choose(places, test_file=file)

    def _place_of_load(self, lines: list[str], places: list[Place]) -> Place:
        """The line of the file that cannot be loaded: of its import, or of its own syntax error."""
        own = [place for place in places if same_file(place.file, self.collecting)]
        syntax = (_SYNTAX.match(text) for text in lines)
        own += [
            Place(found[1], int(found[2][:9])) for found in syntax if found and same_file(found[1], self.collecting)
        ]
        project = [place for place in places if not is_installed(place.file)]
        return own[-1] if own else project[-1] if project else Place(self.collecting, None)


def _last_of_chain(lines: list[str]) -> list[str]:
    """The traceback of the error that was raised last; the ones before it are its causes (3.6)."""
    cuts = [at for at, text in enumerate(lines) if text.startswith(_CHAINED)]
    return lines[cuts[-1] + 1 :] if cuts else lines


def _row_place(text: str) -> re.Match[str] | None:
    if text[:1] in " E>|" or not text:
        return None
    return _PLACE_ROW.match(text) or _PLAIN_PLACE.match(text)


@dataclass
class Section:
    """Where the reader stands inside FAILURES or ERRORS; `width` is that of the section's own rule."""

    name: str
    width: int
    captured: bool = False
    failed: Failed | None = None

    def is_header(self, text: str, title: str) -> bool:
        """A header fills the width of the section; a long title leaves one underscore at each side."""
        return len(text) >= self.width - 2 and (len(text) <= self.width + 1 or text == f"_ {title} _")

    def long_title(self, text: str) -> str:
        """The title of a header that leaves no room for underscores: old pytest prints ` title ` or ` title _`."""
        if len(text) < self.width - 2 or not text.startswith(" ") or self.captured:
            return ""
        found = _LONG_TITLE.match(text)
        return found[1] if found else ""

    def ends_at(self, rule: str, text: str) -> bool:
        if rule == self.name:
            return False
        return rule in _KNOWN_RULES or (abs(len(text) - self.width) <= 1 and not self.captured)

    def next(self) -> "Section":
        return Section(self.name, self.width)

    def open(self, title: str, line: Line) -> Failed:
        self.failed = Failed(title, self.name, line)
        return self.failed

    def add(self, text: str) -> bool:
        if self.failed is not None:
            self.failed.text.add(text)
            self.captured = self.captured or (text.startswith("--") and _CAPTURED.match(text) is not None)
        return True


@dataclass
class Session:
    """Everything one session printed; `report` turns it into findings."""

    started: bool = False
    begun: bool = False
    none_ran: bool = False
    stopped: str = ""
    internal_error: str = ""
    total: int | None = None
    ran: int | None = None
    blocks: list[Failed] = field(default_factory=list)
    summary: list[Row] = field(default_factory=list)
    loose: list[Row] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    reruns: dict[str, Row] = field(default_factory=dict)
    crashes: list[Found] = field(default_factory=list)

    def progress(self, test_id: str, word: str, line: Line) -> None:
        where = self.reruns if word == "RERUN" else self.rows
        where.setdefault(test_id, Row(word, test_id, line))

    def report(self, out: Sink) -> None:
        """Tell what failed: summary rows with their blocks, then blocks alone, then rows up to the total."""
        found = self._from_summary() + self._from_blocks()
        ids = {one.id for one in found}
        wanted = self.total if self.total is not None else len(found) + len(self.rows)
        for test_id, row in self.rows.items():
            if test_id not in ids and (not found or len(ids) < wanted) and row.word != "XPASS":
                ids.add(test_id)
                found.append(Found(test_id, "error" if row.word == "ERROR" else "fail", rank=0, at=row.line))
        for one in found:
            out.failure(one)
        for test_id, row in self.reruns.items():
            if test_id not in ids and not any(one.id == test_id for one in found):
                out.failure(Found(test_id, flaky=True, rank=0, at=row.line))
        if self.internal_error:
            out.started("pytest")
            out.cause("crash", self.internal_error)
        if self.none_ran and not found and not self.internal_error and self.total == 0:
            out.cause("no_tests", "no tests ran")
        if self.total is not None:
            out.total(self.total, self.ran)

    def _from_summary(self) -> list[Found]:
        found = []
        rows = self.summary or self.loose
        titles = {block.test for block in self.blocks}
        for row in rows:
            if row.word == "RERUN":
                self.reruns.setdefault(row.text.split(" - ", 1)[0], row)
                continue
            test_id, message = split_row(row.text, titles, self.rows)
            block = self._block_for(row, test_id)
            self.rows.pop(test_id, None)
            found.append(self._found(test_id, row, message, block))
        return found

    def _block_for(self, row: Row, test_id: str) -> Failed | None:
        """The block of this row; it is used up, so that the next row of an equal title takes the next block."""
        wants_error = row.word == "ERROR"
        path, _, tail = test_id.partition("::")
        title = tail.replace("::", ".")
        best: tuple[int, Failed] | None = None
        for block in self.blocks:
            if (block.section == "ERRORS") != wants_error:
                continue
            same = block.test in (title, tail) or block.collecting == test_id or block.crashed == test_id
            if not same and not (row.label and block.test.startswith(title + " ")):
                continue
            place = block.place(path)
            score = 2 if place and same_file(place.file, path) else 1
            if best is None or score > best[0]:
                best = (score, block)
        if best:
            self.blocks.remove(best[1])
        return best[1] if best else None

    def _found(self, test_id: str, row: Row, message: str, block: Failed | None) -> Found:
        path, colons, _ = test_id.partition("::")
        kind: FailureKind = "fail" if row.word != "ERROR" else "error" if colons else "collection_error"
        found = Found(test_id, kind, rank=2, message=message, at=row.line, file=path)
        if block is not None:
            found.at = block.line
            _fill(found, block, path)
        return found

    def _from_blocks(self) -> list[Found]:
        """Blocks that no summary row names: the id is a progress row's, else the header as printed."""
        found = []
        room = len(self.blocks) if self.total is None or self.summary == [] else max(0, self.total - len(self.summary))
        for block in self.blocks[:room]:
            test_id, path = block.collecting or block.crashed or block.test, ""
            for row_id in self.rows:
                row_path, colons, tail = row_id.partition("::")
                if colons and tail.replace("::", ".") == block.test:
                    place = block.place(row_path)
                    if place is None or same_file(place.file, row_path):
                        test_id, path = row_id, row_path
                        break
            self.rows.pop(test_id, None)
            error: FailureKind = "collection_error" if block.collecting else "error"
            one = Found(test_id, error if block.section == "ERRORS" else "fail", rank=1, at=block.line)
            _fill(one, block, path)
            found.append(one)
        return found


def _fill(found: Found, block: Failed, path: str) -> None:
    place = block.place(path)
    if place is not None:
        found.file, found.line = place.file, place.line
    found.message = block.message() or found.message
    found.detail = block.text.lines
    if block.crashed:
        found.kind = "crash"


def split_row(text: str, titles: set[str], known: dict[str, Row]) -> tuple[str, str]:
    """Node id and message of a summary row; the id may hold ` - ` itself (ID-3), so its end is found by structure."""
    if " - " not in text:
        return text.strip(), ""
    cuts = [found.start() for found in _DASH.finditer(text)][:40]
    for cut in [*cuts, len(text)]:
        head = text[:cut]
        tail = head.partition("::")[2]
        if head in known or (tail and (tail.replace("::", ".") in titles or tail in titles)):
            return head.strip(), text[cut + 3 :]
    for cut in cuts:
        head = text[:cut]
        if head.count("[") == head.count("]"):
            return head.strip(), text[cut + 3 :]
    return text[: cuts[0]].strip(), text[cuts[0] + 3 :]
