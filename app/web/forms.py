"""Read what a browser sends without trusting it: small forms, our own origin, addresses below our own."""

import hmac
import re
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from app.settings import Settings

FORM_BYTES = 16 * 1024
_LOCAL = re.compile(r"/(?![/\\])[A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,500}")


async def read_form(request: Request, settings: Settings) -> dict[str, str]:
    """The fields of a form that a page of ours sent; raises HTTPException 400, 403, 413 or 415."""
    check_origin(request, settings)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is needed")
    body = b""
    try:
        async for block in request.stream():
            body += block
            if len(body) > FORM_BYTES:
                raise HTTPException(413, "the form is too large")
    except ClientDisconnect:
        raise HTTPException(400, "the form ended too early") from None
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise HTTPException(400, "the form cannot be read") from None
    return {name: values[-1] for name, values in fields.items()}


def check_origin(request: Request, settings: Settings) -> None:
    """A browser says where a POST comes from; raises 403 for another site's, beside the token of the form."""
    origin = request.headers.get("origin")
    if origin is not None and origin != origin_of(settings.url):
        raise HTTPException(403, "this form was sent from another site")
    if origin is None and request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "this form was sent from another site")


def origin_of(url: str) -> str:
    """Scheme, host and port, as a browser names them: a default port is left out."""
    parts = urlsplit(url)
    port = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if parts.port in (None, port) else f":{parts.port}")


def same(given: str, right: str) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(given.encode(), right.encode())


def local_path(value: str | None) -> str:
    """A path below our own address, else `/`: nobody is led away from here (UX-P10)."""
    return value if value is not None and _LOCAL.fullmatch(value) else "/"
