"""The pages of github.com that a person meets."""

from typing import TYPE_CHECKING

from tests.github.core.messages import Answer, Request

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub


def is_page(request: Request) -> bool:
    return request.method == "GET" and "text/html" in (request.header("accept") or "")


def handle(github: "LocalGitHub", request: Request) -> Answer:
    return Answer(404, b"", {})
