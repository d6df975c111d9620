"""Who is asking: the app by its JWT, an installation by its token, or nobody (github.md, D-17 and A7)."""

import base64
import binascii
import json
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tests.github.core.clock import iso
from tests.github.core.messages import Refused, Request
from tests.github.core.state import App, Installation, Repository, Token, User

if TYPE_CHECKING:
    from tests.github.world import World

TOKEN_LIFE_MS = 3_600_000
_SIGNATURE_BYTES = 256


@dataclass(frozen=True)
class Caller:
    """`who` is the word of the request log; `actor` is the user whose name a write carries."""

    kind: str = "nobody"
    app: App | None = None
    token: Token | None = None
    permissions: dict[str, str] = field(default_factory=dict)

    @property
    def who(self) -> str:
        if self.kind == "installation" and self.token is not None and self.token.installation is not None:
            return f"installation:{self.token.installation.id}"
        return f"user:{self.token.actor.login}" if self.kind in ("user", "person") and self.token else self.kind

    @property
    def actor(self) -> User:
        if self.token is not None:
            return self.token.actor
        assert self.app is not None
        return self.app.bot

    def sees(self, repository: Repository) -> bool:
        return self.token is not None and repository.id in self.token.repositories


NOBODY = Caller()


def identify(world: "World", request: Request) -> Caller:
    """The caller of an API request; raises Refused(401) for credentials that do not hold."""
    given = [value for name, value in request.headers if name == "authorization"]
    if not given:
        return NOBODY
    if len(given) > 1:
        raise Refused(400, "Bad Request")
    scheme, _, value = given[0].partition(" ")
    if scheme.lower() not in ("bearer", "token"):
        raise Refused(401, "Bad credentials")
    if value.startswith("eyJ"):
        return Caller("app", app=_app_of_jwt(world, value))
    return by_token(world, value)


def by_token(world: "World", value: str) -> Caller:
    """The caller behind an installation, Actions or user token; raises Refused(401)."""
    token = world.state.tokens.get(value)
    if token is None or token.expires_at <= world.clock.now_ms():
        raise Refused(401, "Bad credentials")
    installation = token.installation
    if installation is not None and installation.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    if token.kind == "person":
        token = replace(token, repositories=_reached(world, token))
    return Caller(token.kind, installation.app if installation else token.app, token, token.permissions)


def _reached(world: "World", token: Token) -> frozenset[int]:
    """What a person's token sees now: what she can read where the app is installed, and everything public."""
    held = {n for one in world.state.installations.values() if one.app is token.app for n in one.repositories}
    return frozenset(
        repository.id
        for repository in world.state.repositories.values()
        if not repository.private or (repository.id in held and can_read(repository, token.actor))
    )


def can_read(repository: Repository, who: User) -> bool:
    """Whether a person may see a repository on the pages."""
    return not repository.private or who is repository.owner or who.login in repository.collaborators


def mint(world: "World", installation: Installation, repositories: frozenset[int], wanted: dict[str, str]) -> Token:
    """An installation token in the shape of 2026: `ghs_`, the app id, a JWT; about 520 characters (F-T4)."""
    now = world.clock.now_ms()
    claims = {
        "iat": now // 1000,
        "exp": (now + TOKEN_LIFE_MS) // 1000,
        "jti": world.state.new_id(),
        "sub": f"installation:{installation.id}",
    }
    parts = [
        _encode(json.dumps(part, separators=(",", ":")).encode()) for part in ({"typ": "JWT", "alg": "RS256"}, claims)
    ]
    parts.append(_encode(world.state.random.randbytes(_SIGNATURE_BYTES)))
    token = Token(
        value=f"ghs_{installation.app.id}_{'.'.join(parts)}",
        kind="installation",
        actor=installation.app.bot,
        repositories=repositories,
        permissions=wanted,
        expires_at=now + TOKEN_LIFE_MS,
        installation=installation,
    )
    world.state.tokens[token.value] = token
    return token


def expires(token: Token) -> str:
    return iso(token.expires_at) or ""


def sign_jwt(pem: str, claims: dict[str, Any]) -> str:
    """A JSON web token signed with RS256, as the app under test makes one."""
    head, body = (_encode(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "RS256"}, claims))
    signature = _private_key(pem).sign(f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{head}.{body}.{_encode(signature)}"


def new_private_key() -> str:
    """An RSA key as PEM text, for an app that is registered here."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def _app_of_jwt(world: "World", value: str) -> App:
    try:
        head, body, signature = value.split(".")
        claims: dict[str, Any] = json.loads(_decode(body))
        algorithm = json.loads(_decode(head)).get("alg")
        signed = _decode(signature)
    except (ValueError, binascii.Error) as error:
        raise Refused(401, "A JSON web token could not be decoded") from error
    app = _issuer(world, str(claims.get("iss", "")))
    if app is None:
        raise Refused(401, "'Issuer' claim ('iss') must be an Integer")
    if algorithm != "RS256" or not _is_signed(app, f"{head}.{body}".encode(), signed):
        raise Refused(401, "A JSON web token could not be decoded")
    _check_times(claims)
    return app


def _issuer(world: "World", issuer: str) -> App | None:
    return next((app for app in world.state.apps.values() if issuer in (str(app.id), app.client_id)), None)


def _check_times(claims: dict[str, Any]) -> None:
    """The signer is a real process, so its claims are held against the wall, not against the injected clock."""
    now = time.time()
    expires_at, issued_at = claims.get("exp"), claims.get("iat")
    if not isinstance(expires_at, int) or expires_at <= now:
        raise Refused(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time")
    if expires_at > now + 600:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    if not isinstance(issued_at, int) or issued_at > now:
        raise Refused(401, "'Issued at' claim ('iat') must be an Integer representing the time that the JWT was issued")


def _is_signed(app: App, text: bytes, signature: bytes) -> bool:
    try:
        _private_key(app.pem).public_key().verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return False
    return True


@lru_cache
def _private_key(pem: str) -> rsa.RSAPrivateKey:
    key = load_pem_private_key(pem.encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
