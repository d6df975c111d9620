"""Record what the detectors say, in order of print, within caps."""

from dataclasses import dataclass, field

from app.failures.frameworks.detector import Found, Line
from app.failures.log.reader import Reader
from app.failures.model import Diagnostic, JobKind, Options

_SPARE_DETAIL = 500
_MESSAGE_CAP = 4000


@dataclass
class Run:
    """One run of one framework in one stream: from `started` (or the first finding) to `total`."""

    framework: str
    stream: str
    number: int
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
    line: Line
    tool: str


@dataclass
class Record:
    """Everything that was said about one log."""

    options: Options
    runs: list[Run] = field(default_factory=list)
    diagnostics: list[tuple[Diagnostic, Line]] = field(default_factory=list)
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
        self._run(found.framework).found.append(found)

    def passed(self, id: str, scope: str = "") -> None:
        self._run(self._last).passed.add((scope, id))

    def row(self, diagnostic: Diagnostic) -> None:
        if len(self._record.diagnostics) >= self._record.options.max_diagnostics:
            self._record.capped = True
            return
        if diagnostic.tool:
            self._record.frameworks.setdefault(diagnostic.tool)
        self._record.diagnostics.append((diagnostic, self.line))

    def cause(self, kind: JobKind, text: str) -> None:
        if len(self._record.causes) < 1000:
            self._record.causes.append(CauseLine(kind, text.strip(), self.line, self._name))

    def started(self, framework: str = "") -> None:
        name = framework or self._name
        self._record.frameworks.setdefault(name)
        known = self._runs.get(name)
        if known is None or known.found or known.passed or known.ended:
            self._new(name)
        self._runs[name].began = True

    def total(self, failed: int | None, ran: int | None = None) -> None:
        run = self._run(self._last)
        run.failed, run.ran, run.ended = failed, ran, True

    def above(self, limit: int) -> list[str]:
        return self._reader.above(limit)

    def broke(self, error: Exception) -> None:
        self._record.broken.append(f"{self._name}: {type(error).__name__}")

    def _run(self, name: str) -> Run:
        known = self._runs.get(name)
        return known if known is not None and not known.ended else self._new(name)

    def _new(self, name: str) -> Run:
        self._last = name
        run = Run(name, self._stream, len(self._record.runs))
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
        text = options.redact("\n".join(found.detail)).strip()[-limit:]
        record.detail_chars += len(text)
        found.detail = [text]
