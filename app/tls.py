"""What TLS trusts: read once per process, because reading the list of authorities takes some thirty milliseconds."""

import ssl
from functools import cache
from pathlib import Path

import httpx

from app.errors import UserError
from app.settings import Settings


@cache
def authorities(beside: Path | None = None) -> ssl.SSLContext:
    """The usual authorities, as httpx knows them, and those of a file beside them. Raises OSError, ssl.SSLError."""
    context = httpx.create_ssl_context()
    if beside is not None:
        context.load_verify_locations(beside)
    return context


def trust(settings: Settings) -> ssl.SSLContext:
    """What is trusted when GitHub is asked: the CA file of the settings too (GH-29). Raises UserError."""
    file = settings.github.ca_file
    try:
        return authorities(file)
    except OSError as error:  # ssl.SSLError is one
        raise UserError(f"REMEDY_GITHUB__CA_FILE={file} cannot be used: {error.strerror or error}") from error
