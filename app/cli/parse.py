"""`remedy parse`: what Remedy reads in a job's log, as JSON lines or for people (reading-logs.md, section 2)."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from app.cli.say import paint

if TYPE_CHECKING:
    from app.failures.model import JobInfo, Options, Reading

_BLOCK = 1 << 18
_ENTRIES = 2_000
_UNPACKED = 2 * 1024 * 1024 * 1024
_RATIO = 1_000
_LOG_ENDS = (".txt", ".log")


class Unreadable(Exception):
    """A FILE that cannot be read; the text says why."""


def parse(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Logs, .gz or .zip of logs; - is standard input.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line for each FILE, nothing else.")
    ] = False,
    jobs_json: Annotated[
        str | None, typer.Option("--jobs-json", metavar="FILE", help="GitHub's list of the run's jobs.")
    ] = None,
) -> None:
    """Name the failing tests, compiler rows and the kind of a job from its log.

    Exit 0 when every FILE was read, whatever was found; 1 when one could not be read; 2 for wrong use.
    """
    jobs = _jobs(jobs_json) if jobs_json else []
    options = reading_options()
    failed = False
    for path in _shown(files, as_json):
        try:
            reading = read_file(path, jobs, options)
        except Unreadable as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
            continue
        print(
            json.dumps(as_object(path, reading), ensure_ascii=False) if as_json else _for_people(path, reading),
            flush=True,
        )
    raise typer.Exit(1 if failed else 0)


def as_object(path: str, reading: "Reading") -> dict[str, Any]:
    """The object of one FILE: exactly these keys, always all of them (OUT-1)."""
    return {
        "path": path,
        "kind": reading.job_kind,
        "framework": list(reading.frameworks),
        "failures": [
            {
                "id": found.test_id,
                "framework": found.framework,
                "kind": found.failure_kind,
                "file": found.file,
                "line": found.line,
                "message": found.error_head,
                "detail": found.detail_tail,
                "flaky": found.flaky,
            }
            for found in reading.findings
        ],
        "diagnostics": [
            {
                "file": row.file,
                "line": row.line,
                "column": row.column,
                "code": row.code,
                "message": row.message,
                "tool": row.tool,
                "severity": row.severity,
            }
            for row in reading.diagnostics
        ],
        "bytes": reading.bytes_seen,
        "lines": reading.lines_total,
        "truncated": reading.truncated,
        "exit_code": reading.exit_code,
    }


def reading_options() -> "Options":
    from app.failures.model import Options
    from app.redact import Redactor

    return Options(redact=Redactor().text)


def read_file(path: str, jobs: "list[JobInfo]", options: "Options") -> "Reading":
    """One FILE; the members of an archive are read each on its own and their findings put together (OUT-12)."""
    from app.failures.read import read_log, together

    try:
        if path.endswith(".zip"):
            return together(
                [read_log(chunks, job=_job(name, jobs), options=options) for name, chunks in _members(path)]
            )
        chunks = _blocks(sys.stdin.buffer) if path == "-" else _file(path)
        return read_log(chunks, job=_job(Path(path).name.removesuffix(".gz"), jobs), options=options)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error) or type(error).__name__) from error


def _file(path: str) -> Iterator[bytes]:
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")  # noqa: SIM115 - closed by the `with` below
    with opened as file:
        yield from _blocks(file)


def _blocks(file: "BinaryIO | gzip.GzipFile") -> Iterator[bytes]:
    size = 0
    while block := file.read(_BLOCK):
        size += len(block)
        if size > _UNPACKED:
            raise Unreadable(f"more than {_UNPACKED} bytes")
        yield block


def _members(path: str) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Name and bytes of the job logs of an archive, in name order; the copies of steps below them are left out."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            entries = sorted(
                (entry for entry in archive.infolist() if entry.filename.lower().endswith(_LOG_ENDS)),
                key=lambda entry: entry.filename,
            )
            top = [entry for entry in entries if "/" not in entry.filename]
            chosen = top or entries
            if len(chosen) > _ENTRIES:
                raise Unreadable(f"more than {_ENTRIES} logs in the archive")
            for entry in chosen:
                if entry.file_size > _RATIO * max(1, entry.compress_size) and entry.file_size > _BLOCK:
                    raise Unreadable(f"{entry.filename} unpacks to {_RATIO} times its size")
                with archive.open(entry) as member:
                    yield entry.filename, _blocks(member)  # type: ignore[arg-type]
    except (BadZipFile, NotImplementedError, RuntimeError) as error:
        raise Unreadable(f"no readable archive ({type(error).__name__})") from error


def _jobs(path: str) -> "list[JobInfo]":
    """GitHub's answer, a list of jobs, or one job (OUT-7)."""
    from app.failures.log.steps import job_info

    try:
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path} cannot be read as JSON: {error}", param_hint="--jobs-json") from error
    rows = data.get("jobs", [data]) if isinstance(data, Mapping) else data
    if not isinstance(rows, list):
        raise typer.BadParameter(f"{path} holds no jobs", param_hint="--jobs-json")
    return [job_info(row) for row in rows if isinstance(row, Mapping)]


def _job(name: str, jobs: "list[JobInfo]") -> "JobInfo | None":
    """The job of a FILE: the only one, else the one whose id or name is the file's stem (OUT-7)."""
    if len(jobs) == 1:
        return jobs[0]
    stem = Path(name).stem
    bare = stem.split("_", 1)[1] if stem.split("_", 1)[0].isdigit() and "_" in stem else stem
    found = [job for job in jobs if str(job.job_id) == stem or job.name in (stem, bare)]
    if jobs and len(found) != 1:
        print(f"{name}: {len(found)} of {len(jobs)} jobs fit, the whole log is read", file=sys.stderr)
    return found[0] if len(found) == 1 else None


def _shown(files: list[str], as_json: bool) -> Iterator[str]:
    """The files, with a progress bar on a terminal when there are several."""
    if as_json or len(files) < 2 or not sys.stderr.isatty():
        yield from files
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(files, description="reading", console=Console(stderr=True), transient=True)


def _for_people(path: str, reading: "Reading") -> str:
    """One failure a line, then rows, then totals."""
    lines = [f"{path}: {reading.job_kind.replace('_', ' ')}"]
    for found in reading.findings:
        place = f"  {found.file}:{found.line}" if found.file and found.line else f"  {found.file}" if found.file else ""
        word = "flaky" if found.flaky else found.failure_kind.replace("_", " ")
        lines.append(f"  {paint('warning' if found.flaky else 'failed', f'{word:<10}')} {plain(found.test_id)}{place}")
        if found.error_head:
            lines.append(f"             {plain(found.error_head)[:200]}")
    for row in [row for row in reading.diagnostics if row.severity == "error"][:20]:
        where = ":".join(str(part) for part in (row.file, row.line, row.column) if part)
        lines.append(f"  {row.tool or 'row':<10} {where} {row.code or ''} {plain(row.message)[:200]}".rstrip())
    total = f"{len(reading.failures)} failing, {len(reading.flaky)} flaky, {len(reading.diagnostics)} rows"
    code = "" if reading.exit_code is None else f", exit code {reading.exit_code}"
    cut = ", log cut" if reading.truncated else ""
    lines.append(f"  {total}{code}{cut}; {reading.lines_total} lines, {reading.bytes_seen} bytes")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text of a log is outside text: no control character reaches the terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
