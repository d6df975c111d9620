"""The second origin: logs and artifacts behind signed links that live one minute (github.md D-21)."""

import hashlib
import hmac
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from tests.github.core.messages import Answer, FileBody, Request

if TYPE_CHECKING:
    from tests.github.world import World

LINK_LIFE_MS = 60_000
_KEY = b"store"
_GONE = b'<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code></Error>'


def link(world: "World", path: Path, name: str) -> str:
    """A link to a file below the data folder, good for 60 s of the injected clock."""
    expires_at = world.clock.now_ms() + LINK_LIFE_MS
    inner = quote(str(path.relative_to(world.folder)))
    return f"{world.store_url}/{inner}?se={expires_at}&rscd={quote(name)}&sig={_sign(inner, str(expires_at))}"


def handle(world: "World", request: Request) -> Answer:
    """The file, 403 for a bad or old link, 404 for a blob that is not there; credentials here break a rule."""
    if request.header("authorization") is not None:
        world.record.violate("store", "authorization", "our token was sent to the store of logs")
        return _xml(400, b"InvalidAuthenticationInfo")
    query = dict(request.query)
    inner, expires_at = request.path.lstrip("/"), query.get("se", "")
    if not hmac.compare_digest(_sign(inner, expires_at), query.get("sig", "")):
        return _xml(403, b"AuthenticationFailed")
    if int(expires_at) < world.clock.now_ms():
        return _xml(403, b"AuthenticationFailed")
    path = world.folder / unquote(inner)
    if not path.is_file():
        return _xml(404, b"BlobNotFound")
    kind = "application/zip" if path.suffix == ".zip" else "text/plain"
    return Answer(200, FileBody(path), {"Content-Type": kind})


def _sign(inner: str, expires_at: str) -> str:
    return hmac.new(_KEY, f"{inner}\n{expires_at}".encode(), hashlib.sha256).hexdigest()


def _xml(status: int, code: bytes) -> Answer:
    return Answer(status, _GONE % code, {"Content-Type": "application/xml"})
