"""What belongs to no repository: the site itself, people, registering an app by manifest."""

from typing import Any

from tests.github import bodies
from tests.github.acts import manifest
from tests.github.call import Call
from tests.github.core.messages import not_found

GROUP = ("meta", "users", "apps")


def get(call: Call) -> Any:
    return {"verifiable_password_authentication": False}


def root(call: Call) -> Any:
    return {"current_user_url": f"{call.world.api_url}/user"}


def get_by_username(call: Call) -> Any:
    who = call.world.state.users.get(call.params["username"])
    if who is None:
        raise not_found()
    return {**bodies.user(call.world, who), "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0}


def create_from_manifest(call: Call) -> Any:
    app = manifest.convert(call.world, call.params["code"])
    return {
        **bodies.app(call.world, app),
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "webhook_secret": app.webhook_secret,
        "pem": app.pem,
    }
