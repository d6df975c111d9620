"""What the web process works with, made once at its start."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine
from starlette.requests import Request

from app.settings import Settings
from app.web.body import BodyReader
from app.web.writer import Writer


@dataclass(frozen=True)
class Web:
    """`clock` gives UTC milliseconds."""

    settings: Settings
    engine: Engine
    clock: Callable[[], int]
    bodies: BodyReader
    writer: Writer


def web_of(request: Request) -> Web:
    """The tools of the process that answers this request."""
    web: Web = request.app.state.web
    return web
