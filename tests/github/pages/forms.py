"""What the pages' forms do: each calls a verb and leads back."""

import html
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from tests.github.acts import manifest as manifests
from tests.github.core.messages import Answer
from tests.github.pages import oauth
from tests.github.pages.views import REPO, View, render, table

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub


def comment(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    """The comment box; its second button closes or reopens as well."""
    name = f"{parts['owner']}/{parts['repo']}#{parts['number']}"
    if given.get("body", "").strip():
        github.comment(given["user"], name, given["body"])
    turn = given.get("turn")
    if turn in ("close", "reopen", "merge"):
        getattr(github, turn)(given["user"], name)
    return _back(f"/{parts['owner']}/{parts['repo']}/{parts['kind']}/{parts['number']}")


def button(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    """A button of a check run, or its Re-run."""
    number = int(parts["check"])
    if "identifier" in given:
        github.click(given["user"], number, given["identifier"])
    else:
        github.rerequest(given["user"], number)
    return _back(f"/{parts['owner']}/{parts['repo']}/runs/{number}")


def redeliver(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    github.redeliver(given["guid"])
    return _back("/_deliveries")


def new_app(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer | str:
    """The manifest form: first the question, then, agreed to, the way back with `code` and `state` (F-M1)."""
    try:
        manifest = json.loads(given.get("manifest", ""))
    except ValueError as error:
        raise ValueError(f"The manifest is no JSON: {error}") from error
    owner = github.world.state.user(parts["org"], "Organization") if parts.get("org") else github.user("demo")
    if given.get("agreed") != "yes":
        known = github.world.spec.rest["$defs"]["app-permissions"]["properties"]
        unknown = sorted(set(manifest.get("default_permissions") or {}) - set(known))
        return render(github, "new_app", manifest=manifest, raw=given["manifest"], unknown=unknown, given=given)
    with github.world.transaction():
        code = manifests.register(github.world, owner, given.get("name") or manifest.get("name", ""), manifest)
    query = {"code": code, **({"state": given["state"]} if given.get("state") else {})}
    return _back(f"{manifest.get('redirect_url', '/')}?{urlencode(query)}")


def install(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    """Install the app on a repository."""
    app = next(app for app in github.world.state.apps.values() if app.slug == parts["slug"])
    repository = github.world.state.find_repository(given["repository"])
    if repository is None:
        raise LookupError(f"no repository {given['repository']}")
    with github.world.transaction():
        made = github.world.install(app, repository)
    if app.setup_url:
        return _back(f"{app.setup_url}?{urlencode({'installation_id': made.id, 'setup_action': 'install'})}")
    return _back(f"/{repository.full_name}")


def _back(url: str) -> Answer:
    return Answer(303, f"See {html.escape(url)}".encode(), {"Location": re.sub(r"[\r\n]", "", url)})


FORMS: list[tuple[re.Pattern[str], View]] = table(
    ("/_deliveries", redeliver),
    ("/login/oauth/authorize", oauth.agree),
    ("/login/oauth/access_token", oauth.exchange),
    ("/settings/apps/new", new_app),
    (r"/organizations/(?P<org>[^/]+)/settings/apps/new", new_app),
    (r"/apps/(?P<slug>[^/]+)/installations/new", install),
    (REPO + r"/(?P<kind>pull|issues)/(?P<number>\d+)", comment),
    (REPO + r"/runs/(?P<check>\d+)", button),
)
