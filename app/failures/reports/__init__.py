"""Test report artifacts: JUnit XML in its dialects, TRX, CTRF, `go test -json`, jest and mocha JSON (1.1)."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from zipfile import BadZipFile, ZipFile

from app.failures.frameworks.detector import Found
from app.failures.model import Options
from app.failures.reports.json_reports import read_json
from app.failures.reports.xml_reports import read_xml

FILE_BYTES = 64 * 1024 * 1024
ARCHIVE_FILES = 5_000
ARCHIVE_BYTES = 512 * 1024 * 1024
MAX_CASES = 100_000
MAX_RATIO = 200
_READ = 1 << 16


@dataclass
class Report:
    """What report files said: failing tests, ids that passed, and notes about files that could not be read."""

    failing: list[Found] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    executed: int = 0
    files: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, found: Found) -> None:
        """One failing case; what follows at once under the same id is another phase of the same test (G4)."""
        last = self.failing[-1] if self.failing else None
        if last is not None and (last.id, last.scope) == (found.id, found.scope):
            last.detail = last.detail or found.detail
            return
        if len(self.failing) < MAX_CASES:
            self.failing.append(found)

    def take(self, other: "Report") -> None:
        """Everything that another report said as well."""
        for found in other.failing:
            self.add(found)
        self.passed |= other.passed
        self.executed += other.executed
        self.files += other.files
        self.notes += other.notes


def read_report(name: str, data: bytes, into: Report | None = None, options: Options | None = None) -> Report:
    """One report file. A file that is no report or not well formed is noted and skipped, never fatal."""
    report = into or Report()
    if len(data) > FILE_BYTES:
        report.notes.append(f"{name}: larger than {FILE_BYTES} bytes, not read")
        return report
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    reader: Callable[[bytes, Report], str] = read_xml if head.startswith(b"<") else read_json
    problem = reader(data, report)
    if problem:
        report.notes.append(f"{name}: {problem}")
    else:
        report.files += 1
    return report


def read_archive(archive: ZipFile, into: Report | None = None) -> Report:
    """All report files of an artifact; a zip bomb costs the caps and no more (S21 of security.md)."""
    report = into or Report()
    left = ARCHIVE_BYTES
    entries = archive.infolist()
    if len(entries) > ARCHIVE_FILES:
        report.notes.append(f"{len(entries)} files in the archive, the first {ARCHIVE_FILES} are read")
    for entry in entries[:ARCHIVE_FILES]:
        if entry.is_dir() or not entry.filename.lower().endswith((".xml", ".trx", ".json", ".jsonl", ".log")):
            continue
        if (
            entry.file_size > FILE_BYTES
            or entry.file_size > MAX_RATIO * max(1, entry.compress_size)
            or entry.flag_bits & 1
        ):
            report.notes.append(f"{entry.filename}: too large or locked, not read")
            continue
        try:
            data = _unpack(archive, entry.filename, min(left, FILE_BYTES))
        except (BadZipFile, OSError, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            report.notes.append(f"{entry.filename}: {type(error).__name__}")
            continue
        left -= len(data)
        read_report(entry.filename, data, report)
        if left <= 0:
            report.notes.append("the archive holds more than is read")
            break
    return report


def _unpack(archive: ZipFile, name: str, limit: int) -> bytes:
    """At most `limit` unpacked bytes: the sizes that the archive claims are not believed."""
    parts: list[bytes] = []
    size = 0
    with archive.open(name) as member:
        for part in _blocks(member.read):
            size += len(part)
            if size > limit:
                raise OSError("unpacks to more than allowed")
            parts.append(part)
    return b"".join(parts)


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while part := read(_READ):
        yield part


def passed_ids(reports: Iterable[Report]) -> set[str]:
    return set().union(*(report.passed for report in reports))
