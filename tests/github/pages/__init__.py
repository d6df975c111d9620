"""The pages of github.com that a person meets, each with a banner that says where she is (github.md D-39)."""

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from tests.github.core.messages import Answer, Refused, Request
from tests.github.pages import oauth
from tests.github.pages.forms import FORMS
from tests.github.pages.views import VIEWS, render

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub

_HTML = {"Content-Type": "text/html; charset=utf-8"}
_MISUSE = (LookupError, TypeError, ValueError, Refused)


def is_page(request: Request) -> bool:
    """A browser: it asks for HTML, or sends a form."""
    if request.method == "POST":
        return (request.header("content-type") or "").startswith("application/x-www-form-urlencoded")
    return request.method == "GET" and "text/html" in (request.header("accept") or "")


def handle(github: "LocalGitHub", request: Request) -> Answer:
    """A page, or what a form of one does and then the way back."""
    path = unquote(request.path)
    values = dict(request.query)
    table = VIEWS
    if request.method == "POST":
        values |= dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        table = FORMS
    elif path == "/login/oauth/authorize":
        table = [(re.compile(path), oauth.ask)]
    for pattern, view in table:
        match = pattern.fullmatch(path)
        if match is None:
            continue
        try:
            answer = view(github, match.groupdict(), values)
        except _MISUSE as error:
            return _page(404 if isinstance(error, LookupError) else 422, render(github, "error", text=str(error)))
        return answer if isinstance(answer, Answer) else _page(200, answer)
    return _page(404, render(github, "error", text="This is not the page you are looking for."))


def _page(status: int, text: str) -> Answer:
    return Answer(status, text.encode(), dict(_HTML))
