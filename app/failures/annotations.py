"""Check-run annotations: they add places to known failures and never a test of their own (1.2, IN-3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.failures.merge import fold
from app.failures.model import Diagnostic, Failure, Severity

_LEVELS: dict[str, Severity] = {"failure": "error", "warning": "warning", "notice": "notice"}
_SAME_CHARS = 60


@dataclass(frozen=True)
class Annotation:
    """One annotation as GitHub gives it; the message is cut at 4,096 characters by the runner."""

    path: str
    line: int | None
    level: Severity
    title: str
    message: str


def read_annotations(rows: Iterable[Mapping[str, object]]) -> list[Annotation]:
    """Annotations of "list check run annotations"; rows of a wrong shape are left out."""
    found = []
    for row in rows:
        path, message, line = row.get("path"), row.get("message"), row.get("start_line")
        if not isinstance(path, str) or not isinstance(message, str):
            continue
        title = row.get("title")
        level = _LEVELS.get(str(row.get("annotation_level")), "notice")
        found.append(
            Annotation(
                path, line if isinstance(line, int) else None, level, title if isinstance(title, str) else "", message
            )
        )
    return found


def add_places(failures: Sequence[Failure], annotations: Sequence[Annotation]) -> list[Failure]:
    """The failures, those without a line completed from the one annotation that speaks of them."""
    return [failure if failure.line is not None else _placed(failure, annotations) for failure in failures]


def rows_of(annotations: Sequence[Annotation]) -> list[Diagnostic]:
    """Errors with a place as rows; `.github` is where the runner puts what has none."""
    return [
        Diagnostic(
            one.message.splitlines()[0][:500] if one.message else one.title,
            one.path,
            one.line,
            severity=one.level,
            source="annotation",
        )
        for one in annotations
        if one.level == "error" and one.line and not one.path.startswith(".github")
    ]


def _placed(failure: Failure, annotations: Sequence[Annotation]) -> Failure:
    candidates = [
        one for one in annotations if one.line and not one.path.startswith(".github") and _speaks_of(one, failure)
    ]
    places = {(one.path, one.line) for one in candidates}
    if len(places) != 1:
        return failure
    path, line = places.pop()
    return replace(failure, file=path, line=line, place_source="annotation")


def _speaks_of(annotation: Annotation, failure: Failure) -> bool:
    """The title or the message names the test, or the message is the failure's own in the failure's own file."""
    name, text = fold(failure.test_id), fold(f"{annotation.title}\n{annotation.message}")
    leaf = fold(failure.test_id.replace("::", "\n").split("\n")[-1])
    if name in text or (len(leaf) > 6 and leaf in fold(annotation.title)):
        return True
    head = fold(failure.error_head)[:_SAME_CHARS]
    same_file = failure.file is not None and (
        annotation.path.endswith(failure.file) or failure.file.endswith(annotation.path)
    )
    return same_file and len(head) > 12 and head in text
