"""One request that came in and one answer that goes out, without any web server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """`path` is as sent, still percent-encoded and without the query; header names are lower case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass
class Answer:
    """`body` is a JSON value, bytes as they are, a file to stream, or None for no body at all."""

    status: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FileBody:
    """A file that is streamed, so that a large log costs no memory."""

    path: Path


class Refused(Exception):
    """GitHub says no: a status, its sentence and, for 422, the entries of `errors`."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[dict[str, str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})


NOT_FOUND = "Not Found"
FORBIDDEN = "Resource not accessible by integration"


def not_found() -> Refused:
    return Refused(404, NOT_FOUND)


def invalid(resource: str, name: str, code: str = "invalid", message: str = "") -> Refused:
    """A 422 about one field, in GitHub's shape."""
    entry = {"resource": resource, "field": name, "code": code}
    if message:
        entry["message"] = message
    return Refused(422, "Validation Failed", [entry])
