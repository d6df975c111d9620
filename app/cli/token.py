"""`remedy token INSTALLATION`: print a token for the status API."""

from typing import Annotated

import typer

from app.cli.environment import read_settings
from app.errors import UserError
from app.telemetry import now_ms

DAY_MS = 24 * 60 * 60 * 1000


def token(
    installation: Annotated[int, typer.Argument(help="Number of the installation, as in its GitHub address.", min=1)],
    days: Annotated[int, typer.Option(help="Days until the token ends.", min=1, max=366)] = 30,
) -> None:
    """Print a token for the status API."""
    from app.web.tokens import sign_token

    secret = read_settings().secret_key.get_secret_value()
    if not secret:
        raise UserError("Set REMEDY_SECRET_KEY to a long random text; the web process needs the same one.")
    print(sign_token(secret, installation, now_ms() + days * DAY_MS))
