"""A person in front of a browser without script: signs in through the local GitHub, reads pages, presses buttons."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from starlette.testclient import TestClient

from tests.journeys.world import World

HTML = {"accept": "text/html"}


class Visitor:
    """One browser with its own cookies; `get` and `post` follow nothing."""

    def __init__(self, world: World) -> None:
        self.world, self.url = world, world.settings.url
        self.client = TestClient(world.web.app, base_url=self.url, follow_redirects=False)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers={**HTML, **headers})

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        """As a form of our own page sends it."""
        return self.client.post(path, data=fields, headers={**HTML, "origin": self.url, **headers})

    def asked_at_github(self, return_to: str = "/") -> httpx.Response:
        """The button "Sign in with GitHub"."""
        return self.post("/signin", {"return_to": return_to})

    def agreed(self, asked: httpx.Response, login: str) -> str:
        """The address that GitHub leads back to, once the person agreed."""
        address = urlsplit(asked.headers["location"])
        fields = dict(parse_qsl(address.query)) | {"user": login}
        answer = httpx.post(f"{self.world.github.web_url}{address.path}", data=fields, trust_env=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].removeprefix(self.url)

    def sign_in(self, login: str, return_to: str = "/") -> httpx.Response:
        """All of it; the answer of our callback."""
        return self.get(self.agreed(self.asked_at_github(return_to), login))

    def csrf(self, path: str = "/") -> str:
        """The token in the forms of a page."""
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.get(path).text)
        assert found is not None, "no form on the page"
        return found[1]

    def press(self, path: str, verb: str, **fields: str) -> httpx.Response:
        return self.post(f"{path}/say", {"csrf": self.csrf(path), "verb": verb, **fields})

    def cookie(self) -> str | None:
        found: Any = self.client.cookies.get("__Host-remedy-browser")
        return None if found is None else str(found)


def signed_in(world: World, login: str) -> Visitor:
    visitor = Visitor(world)
    answer = visitor.sign_in(login)
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    return visitor
