"""Make the GitHub App from `app.yml`: the form that GitHub is sent, and the code that comes back (F-M1, F-M2)."""

import re
from collections.abc import Mapping
from typing import Any

import httpx
import yaml

from app.errors import TransientError, UserError
from app.github.asked import APP_YML
from app.github.session import TIMEOUT, USER_AGENT
from app.settings import Settings
from app.tls import trust

_REASON = re.compile(r"^ {2}(\w+): (\w+)\s+# (.+)$", re.MULTILINE)
NEEDED = ("id", "slug", "pem", "client_id", "client_secret", "webhook_secret")
CODE = re.compile(r"[A-Za-z0-9_-]{8,100}")


def manifest(settings: Settings, url: str, name: str) -> Mapping[str, Any]:
    """What the form posts: `app.yml` with the addresses of this server filled in."""
    asked = yaml.safe_load(APP_YML.read_text())
    return {
        "name": name,
        "description": asked["description"],
        "url": url,
        "public": False,
        "hook_attributes": {"url": f"{url}/webhook", "active": True},
        "redirect_url": f"{url}/setup/callback",
        "callback_urls": [f"{url}/signin/callback"],
        "setup_url": f"{url}/setup/installed",
        "default_permissions": asked["default_permissions"],
        "default_events": asked["default_events"],
    }


def reasons() -> list[tuple[str, str, str]]:
    """Each permission of `app.yml` with its level and why it is asked for."""
    return [(name.replace("_", " "), level, why) for name, level, why in _REASON.findall(APP_YML.read_text())]


def convert(settings: Settings, code: str) -> Mapping[str, Any]:
    """What GitHub hands out once for a code; UserError when it does not know it (any more)."""
    address = f"{settings.github.api_url.rstrip('/')}/app-manifests/{code}/conversions"
    headers = {
        "Accept": "application/vnd.github+json",
        "User-Agent": USER_AGENT,
        "X-GitHub-Api-Version": settings.github.api_version,
    }
    try:
        answer = httpx.post(address, headers=headers, timeout=TIMEOUT, verify=trust(settings))
    except httpx.HTTPError as error:
        raise TransientError(f"GitHub could not be reached: {type(error).__name__}") from error
    if answer.status_code != 201:
        raise UserError(f"GitHub answered {answer.status_code} to the code. It lives one hour and works once.")
    found: Mapping[str, Any] = answer.json()
    missing = [name for name in NEEDED if not found.get(name)]
    if missing:
        raise UserError(f"GitHub's answer lacks {', '.join(missing)}.")
    return found
