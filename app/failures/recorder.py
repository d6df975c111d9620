"""Record what the detectors say, in order of print, within caps."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from app.failures.frameworks.detector import Found, Line
from app.failures.log.reader import Reader
from app.failures.model import MESSAGE_CHARS, Diagnostic, JobKind, Options

_SPARE_DETAIL = 500
_MESSAGE_CAP = 4000
SECRET_CHARS = 8192  # no secret is longer: one that lies over the first cut is gone after the second
_MAX_CAUSES = 2000
_MAX_SEGMENTS = 20_000


@dataclass
class Segment:
    """One command or step: where it begins in the log, and its exit code when the log tells it."""

    offset: int
    command: str = ""
    exit: int | None = None
    error: bool = False
    stamp: str = ""


@dataclass
class Run:
    """One run of one framework in one stream: from `started` (or the first finding) to `total`."""

    framework: str
    stream: str
    number: int
    segment: Segment = field(default_factory=lambda: Segment(0))
    found: list[Found] = field(default_factory=list)
    passed: set[tuple[str, str]] = field(default_factory=set)
    failed: int | None = None
    ran: int | None = None
    began: bool = False
    ended: bool = False


@dataclass(frozen=True)
class CauseLine:
    kind: JobKind
    text: str
    offset: int
    tool: str


@dataclass(frozen=True)
class Row:
    """A diagnostic with the place in the log where it was printed."""

    diagnostic: Diagnostic
    offset: int
    sure: bool


@dataclass
class Record:
    """Everything that was said about one log."""

    options: Options
    runs: list[Run] = field(default_factory=list)
    rows: dict[Diagnostic, Row] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=lambda: [Segment(0)])
    closed: int | None = None
    orderly_end: bool = False
    causes: list[CauseLine] = field(default_factory=list)
    frameworks: dict[str, None] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    findings: int = 0
    detail_chars: int = 0
    capped: bool = False


class Recorder:
    """The sink of one detector in one stream."""

    def __init__(self, record: Record, reader: Reader, name: str, stream: str) -> None:
        self._record = record
        self._reader = reader
        self._name = name
        self._stream = stream
        self._runs: dict[str, Run] = {}
        self._last = name
        self.line = Line(0, 0, "")

    def failure(self, found: Found) -> None:
        record = self._record
        found.id = " ".join(found.id.split())
        if not found.id:
            return
        if record.findings >= record.options.max_findings:
            record.capped = True
            return
        record.findings += 1
        found.framework = found.framework or self._name
        found.at = found.at or self.line
        found.message = found.message[:_MESSAGE_CAP]
        self._keep_detail(found)
        record.frameworks.setdefault(found.framework)
        run = self._run(found.framework)
        run.found.append(found)
        if found.at.offset < run.segment.offset:  # told late: the run began where its first finding stands
            run.segment = next(one for one in reversed(record.segments) if one.offset <= found.at.offset)

    def passed(self, id: str, scope: str = "") -> None:
        self._run(self._last).passed.add((scope, id))

    def row(self, diagnostic: Diagnostic, sure: bool = True) -> None:
        record, redact = self._record, self._record.options.redact
        if len(record.rows) >= record.options.max_diagnostics:
            record.capped = True
            return
        diagnostic = replace(diagnostic, message=redact(diagnostic.message)[:MESSAGE_CHARS])
        if diagnostic.tool and sure:
            record.frameworks.setdefault(diagnostic.tool)
        record.rows.setdefault(diagnostic, Row(diagnostic, self.line.offset, sure))

    def cause(self, kind: JobKind, text: str, tool: str = "") -> None:
        if len(self._record.causes) < _MAX_CAUSES:
            text = self._record.options.redact(text.strip())[:MESSAGE_CHARS]
            self._record.causes.append(CauseLine(kind, text, self.line.offset, tool or self._name))

    @property
    def command(self) -> str:
        return self._record.segments[-1].command

    def begins(self, command: str) -> None:
        segments = self._record.segments
        if len(segments) < _MAX_SEGMENTS:
            segments.append(Segment(self.line.offset, command, stamp=self.line.stamp))

    def exits(self, code: int, command: str | None) -> None:
        segment = self._record.segments[-1]
        if code < 0:
            segment.error = True
            return
        segment.exit = code
        segment.command = command or segment.command
        self.begins("")

    def closes(self, code: int | None) -> None:
        self._record.orderly_end = True
        if code is not None:
            self._record.closed = code

    def started(self, framework: str = "") -> None:
        name = framework or self._name
        self._record.frameworks.setdefault(name)
        known = self._runs.get(name)
        if known is None or known.found or known.passed or known.ended:
            self._new(name)
        self._runs[name].began = True

    def total(self, failed: int | None, ran: int | None = None, framework: str = "") -> None:
        run = self._run(framework or self._last)
        self._record.frameworks.setdefault(run.framework)
        run.failed, run.ran, run.ended = failed, ran, True

    def above(self, limit: int) -> Iterator[str]:
        return self._reader.above(limit)

    def broke(self, error: Exception) -> None:
        self._record.broken.append(f"{self._name}: {type(error).__name__}")

    def _run(self, name: str) -> Run:
        known = self._runs.get(name)
        return known if known is not None and not known.ended else self._new(name)

    def _new(self, name: str) -> Run:
        self._last = name
        run = Run(name, self._stream, len(self._record.runs), self._record.segments[-1])
        self._runs[name] = run
        self._record.runs.append(run)
        return run

    def _keep_detail(self, found: Found) -> None:
        """Redact before the cut (OUT-10), keep the tail, and count towards the cap of all details."""
        record, options = self._record, self._record.options
        if not found.detail or options.detail_chars == 0:
            found.detail = []
            return
        limit = options.detail_chars if record.detail_chars < options.max_detail_total else _SPARE_DETAIL
        record.capped = record.capped or limit < options.detail_chars
        text = options.redact("\n".join(found.detail)[-limit - SECRET_CHARS :]).strip()[-limit:]
        record.detail_chars += len(text)
        found.detail = [text]
