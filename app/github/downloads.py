"""Fetch a log or an archive from where GitHub keeps it, without credentials, straight into a file (GH-26 to GH-28)."""

import hashlib
import ipaddress
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin

import httpx

from app.errors import TransientError, UserError
from app.github.capped import write_capped
from app.github.client import Client
from app.github.errors import GitHubError

_CHUNK = 256 * 1024
_HOPS = 3
_TRIES = 3
_LONGEST_S = 15 * 60
# Above this many times the cap not even the tail is waited for.
_ENDLESS = 20


@dataclass(frozen=True)
class Download:
    """What came of it.

    `read`: `bytes_seen` bytes went by, `left_out` of them are not in the file. `missing`: not there (not yet, or never:
    F-A4). `expired`: GitHub says that it was there (410). `bytes_total` is what the store announced, or None.
    """

    outcome: Literal["read", "missing", "expired"]
    bytes_seen: int = 0
    left_out: int = 0
    bytes_total: int | None = None
    sha256: str = ""


def download(client: Client, path: str, to: Path, cap_bytes: int) -> Download:
    """Fetch what the API path `path` links to. Raises TransientError when the store does not deliver.

    The link is used at once; when the store refuses it, the API is asked for a new one, once.
    """
    problem = ""
    for attempt in range(_TRIES):
        if attempt:
            client.pace.sleep(attempt)
        try:
            link = client.link(path)
        except GitHubError as error:
            if error.status in (404, 410):
                return Download("missing" if error.status == 404 else "expired")
            raise
        try:
            found = _fetch(client, link, to, cap_bytes)
        except httpx.HTTPError as error:
            problem = type(error).__name__
            continue
        if isinstance(found, Download):
            return found
        if found in (403, 404, 410) and attempt:
            return Download("missing")
        problem = str(found)
    raise TransientError(f"GitHub's store did not deliver the file: {problem}")


def _fetch(client: Client, link: str, to: Path, cap_bytes: int) -> Download | int:
    """The download, or the status with which the store refused."""
    with client.plain() as store:
        for _ in range(_HOPS):
            _refuse_private(link, client.settings.github.api_url)
            with store.stream("GET", link, headers={"Accept-Encoding": "identity"}) as answer:
                if answer.has_redirect_location:
                    link = urljoin(link, answer.headers["location"])
                    continue
                if answer.status_code != 200:
                    return answer.status_code
                return _save(client, answer, to, cap_bytes)
    return 508


def _save(client: Client, answer: httpx.Response, to: Path, cap_bytes: int) -> Download:
    digest = hashlib.sha256()
    started_ms = client.pace.now_ms()
    announced = answer.headers.get("content-length", "")

    def chunks() -> Iterator[bytes]:
        seen = 0
        for chunk in answer.iter_bytes(_CHUNK):
            seen += len(chunk)
            if seen > cap_bytes * _ENDLESS or client.pace.now_ms() - started_ms > _LONGEST_S * 1000:
                raise TransientError("A download from GitHub's store was too long to be read to its end.")
            digest.update(chunk)
            yield chunk

    written = write_capped(chunks(), to, cap_bytes)
    total = int(announced) if announced.isdigit() else None
    return Download("read", written.seen, written.left_out, total, digest.hexdigest())


def _refuse_private(link: str, api_url: str) -> None:
    """Refuse an address inside a private network, unless the configured GitHub lives in one itself (S44)."""
    target, home = httpx.URL(link), httpx.URL(api_url)
    if target.scheme not in ("https", home.scheme) or target.userinfo:
        raise UserError(f"GitHub linked a download to an address of another kind ({target.scheme}): refused.")
    if target.host == home.host or not _is_private(target.host) or _is_private(home.host):
        return
    raise UserError(f"GitHub linked a download to {target.host}, which is inside a private network: refused.")


def _is_private(host: str) -> bool:
    """Whether any address of the host is not a public one; a name that cannot be resolved is left to the proxy."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return False
    return any(not ipaddress.ip_address(str(item[4][0]).partition("%")[0]).is_global for item in found)
