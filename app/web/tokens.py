"""The tokens of the status API: an installation and an end date, signed with the server's secret; nothing is stored."""

import hmac
import re
from hashlib import sha256

_TOKEN = re.compile(r"rmd1\.(?P<installation>[0-9]{1,19})\.(?P<expires>[0-9]{1,15})\.(?P<signature>[0-9a-f]{64})")


def sign_token(secret: str, installation_id: int, expires_at: int) -> str:
    """A token that `read_token` accepts until `expires_at` (UTC milliseconds)."""
    claim = f"rmd1.{installation_id}.{expires_at}"
    return f"{claim}.{_signature(secret, claim)}"


def read_token(secret: str, token: str, now: int) -> int | None:
    """The installation that the token speaks for, or None when it is forged, malformed or over (`now`: UTC ms)."""
    match = _TOKEN.fullmatch(token)
    if not secret or match is None:
        return None
    claim = token.rpartition(".")[0]
    if not hmac.compare_digest(match["signature"], _signature(secret, claim)) or now >= int(match["expires"]):
        return None
    return int(match["installation"])


def _signature(secret: str, claim: str) -> str:
    return hmac.new(secret.encode(), f"status api token:{claim}".encode(), sha256).hexdigest()
