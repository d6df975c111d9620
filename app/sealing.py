"""Encrypt what must not stand readable in the database: one key of the operator's, a subkey per purpose."""

import base64
import hmac
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


@dataclass(frozen=True)
class Seal:
    """Closes and opens texts for one purpose; a text closed for another purpose or with another key does not open."""

    key: str = field(repr=False)
    purpose: str

    def close(self, text: str) -> str:
        return self._fernet().encrypt(text.encode()).decode()

    def open(self, sealed: str) -> str | None:
        """The text, or None when it was not closed by this seal."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet().decrypt(sealed.encode()).decode()
        except InvalidToken:
            return None

    def sign(self, text: str) -> str:
        """A tag of the text that only a holder of the key can make."""
        return hmac.new(self._subkey(), b"sign:" + text.encode(), sha256).hexdigest()

    def _subkey(self) -> bytes:
        if not self.key:
            raise ValueError("sealing needs a key")
        return hmac.new(self.key.encode(), f"remedy seal:{self.purpose}".encode(), sha256).digest()

    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet  # the web process pays for it only once somebody signs in (PN-1)

        return Fernet(base64.urlsafe_b64encode(self._subkey()))
