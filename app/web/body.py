"""Read the body of a delivery without trusting its sender: capped, timed, and its signature checked on the way."""

import asyncio
import hmac
from dataclasses import dataclass, field
from hashlib import sha256

from starlette.requests import ClientDisconnect, Request

from app.errors import UserError
from app.settings import Settings

# GitHub gives up after 10 s (F-W1), GHES after 30 s.
READ_WITHIN_S = 30.0
# Deliveries have some 10 to 60 KB. Larger ones could fill the memory, so only a few of them are read at once.
LARGE_BYTES = 512 * 1024
LARGE_AT_ONCE = 4


def webhook_secret(settings: Settings) -> bytes:
    """The secret that deliveries are signed with; raises UserError for an App without one (F-W10).

    Empty while no App is known at all: then nothing is accepted, and the set-up is open to its one-time link.
    """
    secret = settings.webhook_secret.get_secret_value()
    if not secret and settings.app_id:
        raise UserError("Set REMEDY_WEBHOOK_SECRET to the secret of the App's webhook; without it anybody could send.")
    return secret.encode()


class Refused(Exception):
    """The request is answered with `status` and `text`; what is left of its body is not read."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass
class BodyReader:
    """Reads bodies of at most `limit_bytes` that are signed with `secret`."""

    secret: bytes = field(repr=False)
    limit_bytes: int
    _large: int = 0

    async def read(self, request: Request) -> bytes:
        """The body, if its `X-Hub-Signature-256` fits; raises Refused (400, 401, 408, 413, 503).

        The signature is that of the raw bytes (F-W10), made block by block: no body stalls the event loop (ST-W8).
        """
        if not self.secret:  # anybody can sign with nothing
            raise Refused(503, "no App is set up yet")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.limit_bytes:
            raise Refused(413, f"a delivery has at most {self.limit_bytes} bytes")
        signature = hmac.new(self.secret, digestmod=sha256)
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                body = await self._collect(request, signature)
        except TimeoutError:
            raise Refused(408, "the body did not come in time") from None
        except ClientDisconnect:
            raise Refused(400, "the body ended too early") from None
        given = request.headers.get("x-hub-signature-256", "").encode()
        if not hmac.compare_digest(given, b"sha256=" + signature.hexdigest().encode()):
            raise Refused(401, "the signature does not fit")
        return body

    async def _collect(self, request: Request, signature: hmac.HMAC) -> bytes:
        blocks: list[bytes] = []
        size = 0
        is_large = False
        try:
            async for block in request.stream():
                size += len(block)
                if size > self.limit_bytes:
                    raise Refused(413, f"a delivery has at most {self.limit_bytes} bytes")
                if size > LARGE_BYTES and not is_large:
                    if self._large >= LARGE_AT_ONCE:
                        raise Refused(503, "too many large deliveries at once")
                    self._large += 1
                    is_large = True
                signature.update(block)
                blocks.append(block)
        finally:
            self._large -= is_large
        return b"".join(blocks)
