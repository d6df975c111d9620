"""Key, clock, permissions, events and webhook, as GitHub sees them (GH-34, F-W11, W117)."""

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from app.doctor.model import Found
from app.errors import TransientError, UserError
from app.github.apps import find_installations, get_app, get_hook_config
from app.github.asked import asked
from app.github.calls import Pace
from app.github.client import Client
from app.github.deliveries import newest_attempts
from app.github.denied import ungranted
from app.github.errors import GitHubError
from app.settings import Settings
from app.tls import trust

SKEW_S = 30
SHORTEST_SECRET = 16
ASK_TIMEOUT_S = 10
# GitHub's description knows it among those of an App and not among those of an installation.
UNTOLD = ("merge_queues",)


def app_key(settings: Settings) -> Found:
    """The key can be read, and GitHub takes what it signs."""
    if not settings.app_id:
        cure = "open the link that `remedy up` prints, or set REMEDY_APP_ID to the number of your GitHub App"
        return Found("failed", "no App yet", cure)
    try:
        load_pem_private_key(settings.pem().encode(), None)
    except UserError as error:
        return Found("failed", str(error), str(error))
    except (ValueError, TypeError):
        return Found("failed", "the key is no PEM private key", "download the App's private key once more")
    return _ask(settings, lambda client: _accepted(settings, client))


def _accepted(settings: Settings, client: Client) -> Found:
    app = get_app(client)
    if app.slug and app.slug != settings.app_slug:
        cure = f"set REMEDY_APP_SLUG={app.slug}: Remedy knows its own comments by it"
        return Found("failed", f"app {app.id} is {app.slug}, not {settings.app_slug}", cure)
    return Found("passed", f"app {app.id} {app.slug}, GitHub accepts the key")


def clock(settings: Settings) -> Found:
    """GitHub refuses a JWT from a clock that is wrong."""
    before = time.time()
    try:
        headers = {"x-github-api-version": settings.github.api_version}
        answer = httpx.get(settings.github.api_url, timeout=ASK_TIMEOUT_S, verify=trust(settings), headers=headers)
        told = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (httpx.HTTPError, OSError) as error:
        return Found("failed", f"{settings.github.api_url}: {error}", "let this machine reach GitHub's API")
    except (KeyError, ValueError):
        return Found("not checked", "GitHub's answer has no date")
    skew_s = (before + time.time()) / 2 - told
    if abs(skew_s) > SKEW_S:
        return Found("failed", f"differs by {skew_s:.0f} s", "set this machine's clock by NTP")
    return Found("passed", f"differs by {abs(skew_s):.0f} s")


def permissions(settings: Settings) -> Found:
    """What app.yml asks for, the App has, and each owner accepted."""
    return _ask(settings, lambda client: _permissions(settings, client))


def _permissions(settings: Settings, client: Client) -> Found:
    wanted, app = asked().permissions, get_app(client)
    if lacking := ungranted(wanted, app.permissions or {}):
        where = f"{settings.github.web_url}/settings/apps/{app.slug}/permissions"
        return Found("failed", f"the App does not ask for {lacking}", "add it on the App's page, Permissions", where)
    installations = find_installations(client)
    shown = {name: level for name, level in wanted.items() if name not in UNTOLD}
    for one in installations:
        owner = one.account.login if one.account else str(one.id)
        if lacking := ungranted(shown, one.permissions or {}):
            where = one.html_url or f"{settings.github.web_url}/settings/installations/{one.id}"
            return Found("failed", f"{owner} did not accept {lacking}", f"let an owner of {owner} accept it", where)
    if not installations.items:
        where = app.html_url or f"{settings.github.web_url}/apps/{app.slug}"
        return Found("warning", "installed nowhere", "install the App on a repository", where)
    return Found("passed", f"{len(wanted)} of {len(wanted)}, in {_many(len(installations), 'installation')}")


def events(settings: Settings) -> Found:
    """GitHub sends nothing that was not subscribed to."""
    return _ask(settings, lambda client: _events(settings, client))


def _events(settings: Settings, client: Client) -> Found:
    wanted, app = asked().events, get_app(client)
    if lacking := sorted(set(wanted) - set(app.events)):
        where = f"{settings.github.web_url}/settings/apps/{app.slug}/permissions"
        cure = "subscribe to them on the App's page, Permissions & events"
        return Found("failed", f"not subscribed: {', '.join(lacking)}", cure, where)
    return Found("passed", f"{len(wanted)} of {len(wanted)}")


def webhook_secret(settings: Settings) -> Found:
    """Without it nothing can be told from a forgery."""
    secret = settings.webhook_secret.get_secret_value()
    cure = "set REMEDY_WEBHOOK_SECRET to a long random text, here and on the App's page"
    if not secret and not settings.app_id:
        return Found("not checked", "no App yet")
    if not secret:
        return Found("failed", "REMEDY_WEBHOOK_SECRET is not set", cure)
    if len(secret) < SHORTEST_SECRET:
        return Found("warning", f"only {len(secret)} characters", cure)
    return Found("passed", "set")


def webhook(settings: Settings) -> Found:
    """GitHub knows our address, sends JSON, and the address can be reached at all."""
    return _ask(settings, lambda client: _webhook(settings, client))


def _webhook(settings: Settings, client: Client) -> Found:
    ours, config = f"{settings.url}/webhook", get_hook_config(client)
    if config.url.rstrip("/") != ours:
        return Found("failed", f"GitHub sends to {config.url or 'nowhere'}", f"set the App's webhook URL to {ours}")
    if config.content_type != "json":
        return Found("failed", f"content type {config.content_type}", "set the App's content type to application/json")
    if _is_near(ours) and not _is_near(settings.github.web_url):
        return Found("failed", f"{ours} is this machine only", "set REMEDY_URL to an address GitHub reaches, or tunnel")
    if str(config.insecure_ssl) not in ("0", "0.0", "None"):
        return Found("warning", "GitHub does not check our certificate", "switch SSL verification on there")
    return Found("passed", ours)


def last_delivery(settings: Settings) -> Found:
    """Whether what GitHub sent lately arrived."""
    return _ask(settings, _last_delivery)


def _last_delivery(client: Client) -> Found:
    attempts = newest_attempts(client)
    if not attempts:
        return Found("not checked", "GitHub sent nothing in the last days", "open a pull request, then look again")
    newest, arrived = attempts[0], {one.guid for one in attempts if one.arrived}
    lost = {one.guid for one in attempts if not one.arrived} - arrived
    ago = f"{_ago(time.time() - newest.delivered_at / 1000)} ago" if newest.delivered_at else "no time told"
    told = f"{newest.event}, {ago}, answered {newest.status_code or newest.status} in {newest.duration * 1000:.0f} ms"
    if not newest.arrived:
        return Found("failed", told, "let GitHub reach the webhook URL; see Recent deliveries on the App's page")
    if lost:
        cure = "the sweep asks for them again; `remedy worker sweep` must run"
        return Found("warning", f"{told}; {len(lost)} of the last {len(attempts)} did not arrive", cure)
    return Found("passed", told)


def _ask(settings: Settings, question: Callable[[Client], Found]) -> Found:
    """Ask as the App; what keeps GitHub from answering is the answer."""
    if not settings.app_id:
        return Found("not checked", "no App yet")
    try:
        # A look is not worth waiting for: no second try.
        with Client(settings, None, pace=Pace(sleep=_hurry)) as client:
            return question(client)
    except GitHubError as error:
        return Found("failed", str(error), "see GitHub's answer")
    except TransientError as error:
        return Found("not checked", str(error), "let this machine reach GitHub's API")


def _hurry(_seconds: float) -> None:
    return None


def _is_near(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _ago(seconds: float) -> str:
    units: Mapping[str, int] = {"days": 86_400, "h": 3_600, "min": 60}
    for unit, size in units.items():
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"
