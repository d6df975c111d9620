"""From a one-time link to an App of one's own, by forms alone; onboarding as people know it (UX-P7, UX-P8)."""

import html
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from sqlalchemy import Engine, select
from starlette.testclient import TestClient

from app.github.calls import Pace
from app.github.client import Client
from app.ledger import setting_up, vault
from app.ledger.engine import read, write
from app.ledger.outbox import find
from app.ledger.schema import vault as vault_table
from app.main import create_app
from app.policy import Policy, read_policy
from app.policy.starter import starter_keys
from app.render.policy import render_policy_file
from app.services import Services, use, utc_ms
from app.settings import Settings
from jobs.deliver import deliver
from jobs.intake import intake
from tests.databases import a_ledger
from tests.github import LocalGitHub
from tests.journeys.pages.visitor import HTML

URL = "https://remedy.example"


class Newcomer:
    """A server without an App, and the person in front of it."""

    def __init__(self, folder: Path) -> None:
        self.github = LocalGitHub()
        self.github.start()
        github = {"api_url": self.github.api_url, "web_url": self.github.web_url}
        self.settings = Settings.model_validate({"data": folder, "url": URL, "github": github, "secret_key": "k"})
        self.engine: Engine = a_ledger(self.settings.database)
        self.web = TestClient(create_app(self.settings), base_url=URL, follow_redirects=False)
        self.web.__enter__()
        self.github.receive_with(self._deliver)
        self.rung: list[tuple[str, str]] = []

    def _deliver(self, headers: Mapping[str, str], body: bytes) -> int:
        return self.web.post("/webhook", content=body, headers=dict(headers)).status_code

    def link(self) -> str:
        with write(self.engine) as conn:
            return setting_up.new_link(conn, self.settings, utc_ms())

    def get(self, path: str) -> httpx.Response:
        return self.web.get(path, headers=HTML)

    def post(self, path: str, fields: dict[str, str]) -> httpx.Response:
        return self.web.post(path, data=fields, headers={**HTML, "origin": URL})

    def register(self) -> httpx.Response:
        """Step 1: the form of our page at GitHub, and back."""
        page = self.get("/setup").text
        target = html.unescape(re.search(r'action="([^"]+/settings/apps/new[^"]*)"', page)[1])  # type: ignore[index]
        manifest = html.unescape(re.search(r'name="manifest" value="([^"]+)"', page)[1])  # type: ignore[index]
        state = dict(parse_qsl(urlsplit(target).query))["state"]
        sent = {"manifest": manifest, "agreed": "yes", "state": state}
        answer = httpx.post(target, data=sent, trust_env=False)
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"].removeprefix(URL))

    def sign_in(self, login: str) -> None:
        asked = self.post("/signin", {"return_to": "/setup"})
        address = urlsplit(asked.headers["location"])
        fields = dict(parse_qsl(address.query)) | {"user": login}
        back = httpx.post(f"{self.github.web_url}{address.path}", data=fields, trust_env=False)
        assert self.get(back.headers["location"].removeprefix(URL)).headers["location"] == "/setup"

    def work(self) -> None:
        """Do what the deliveries so far ask for."""
        self.github.settle()
        settings = vault.with_app(self.settings, self.engine)
        pace = Pace(utc_ms, lambda seconds: None)
        use(
            Services(
                settings, self.engine, lambda *bell: self.rung.append(bell), lambda n: Client(settings, n, pace=pace)
            )
        )
        with read(self.engine) as conn:
            guids = conn.exec_driver_sql("SELECT guid FROM deliveries WHERE state = 'RECEIVED'").scalars().all()
        for guid in guids:
            intake(guid)
        while self.rung:
            job, item = self.rung.pop()
            if job == "deliver":
                deliver(item)
        use(None)

    def close(self) -> None:
        self.web.__exit__(None, None, None)
        self.engine.dispose()
        self.github.stop()


@pytest.fixture
def newcomer() -> Iterator[Newcomer]:
    folder = Path(tempfile.mkdtemp(prefix="remedy-setup-"))
    made = Newcomer(folder)
    yield made
    made.close()
    shutil.rmtree(folder, ignore_errors=True)


def test_ux_p8_a_stranger_goes_from_the_link_to_an_installed_app(newcomer: Newcomer) -> None:
    """Also UX-P7: the link once, the App with its secrets sealed, the operator, the ping, the first proposal."""
    assert newcomer.get("/setup").status_code == 403, "without the link there is nothing"
    link = newcomer.link()
    page = newcomer.get(f"/setup?link={link}")
    assert "Begin" in page.text
    assert newcomer.get(f"/setup?link={link}").status_code == 200, "looking spends nothing"
    begun = newcomer.post("/setup", {"link": link})
    assert (begun.status_code, begun.headers["location"]) == (303, "/setup")
    assert newcomer.post("/setup", {"link": link}).status_code == 410
    assert newcomer.get(f"/setup?link={link}").status_code == 410

    assert newcomer.register().headers["location"] == "/setup"
    newcomer.github.settle()
    with read(newcomer.engine) as conn:
        kept = vault.app_of(conn, newcomer.settings)
        sealed = " ".join(conn.execute(select(vault_table.c.sealed)).scalars())
    assert kept is not None
    assert kept.pem not in sealed and kept.webhook_secret not in sealed and kept.client_secret not in sealed
    page = newcomer.get("/setup")
    assert "Sign in with GitHub" in page.text
    assert kept.webhook_secret not in page.text

    newcomer.sign_in("dana")
    assert "Choose on GitHub" in newcomer.get("/setup").text
    assert newcomer.get("/doctor").status_code == 200, "who finished the set-up is the operator"

    github = newcomer.github
    github.world.app_id = kept.app_id
    github.create_repo("dana/shop", {"README.md": "# Shop\n"}, install=False)
    install = {"repository": "dana/shop"}
    back = httpx.post(f"{github.web_url}/apps/{kept.slug}/installations/new", data=install, trust_env=False)
    assert back.headers["location"].startswith(f"{URL}/setup/installed")
    newcomer.work()

    (pull,) = github.pulls("dana/shop")
    assert pull.thread.title == "Switch Remedy on: add .github/remedy.yml"
    assert (github.read_file("dana/shop", ".github/remedy.yml", pull.head_ref) or "").startswith("# Remedy repairs")
    page = newcomer.get("/setup").text
    assert "came" in page, "GitHub's test delivery"
    assert "merge pull request" in page

    github.close("dana", pull)
    newcomer.work()
    csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)[1]  # type: ignore[index]
    newcomer.post("/setup/onboard", {"csrf": csrf, "repository": str(pull.repository.id)})
    newcomer.work()
    assert len(github.pulls("dana/shop")) == 1, "never again once closed"


def test_ux_p8_another_browser_gets_no_further(newcomer: Newcomer) -> None:
    newcomer.post("/setup", {"link": newcomer.link()})
    other = TestClient(newcomer.web.app, base_url=URL, follow_redirects=False)
    for path in ("/setup", "/setup/callback?code=abcdefgh1234&state=x"):
        assert other.get(path, headers=HTML).status_code == 403
    assert newcomer.get("/setup/callback?code=abcdefgh1234&state=wrong").status_code == 400
    with read(newcomer.engine) as conn:
        assert vault.app_of(conn, newcomer.settings) is None


def test_the_form_takes_another_address_and_owner_and_says_what_github_refuses(newcomer: Newcomer) -> None:
    newcomer.post("/setup", {"link": newcomer.link()})
    page = newcomer.get("/setup?url=http://localhost:8000&org=acme").text
    assert "/organizations/acme/settings/apps/new?state=" in page
    assert "GitHub refuses <code>localhost</code> as an address" in page
    assert 'value="https://remedy.example"' in newcomer.get("/setup?url=javascript:alert(1)").text
    assert newcomer.get("/setup/callback?code=notacode1234&state=" + state_in(page)).status_code == 303
    assert "GitHub answered 404" in newcomer.get("/setup?problem=GitHub+answered+404").text


def state_in(page: str) -> str:
    return re.search(r"state=([\w-]+)", page)[1]  # type: ignore[index]


def test_without_an_app_no_delivery_is_taken(newcomer: Newcomer) -> None:
    """F-W10: a delivery signed with nothing is nobody's."""
    import hmac
    from hashlib import sha256

    signature = "sha256=" + hmac.new(b"", b"{}", sha256).hexdigest()
    headers = {"content-type": "application/json", "x-hub-signature-256": signature, "x-github-delivery": "g"}
    assert newcomer.web.post("/webhook", content=b"{}", headers=headers).status_code == 503


def test_the_proposed_file_names_every_key_and_changes_no_default() -> None:
    keys = starter_keys()
    text = render_policy_file(keys, URL)
    assert {key["name"] for key in keys} | {"enabled"} == set(Policy.model_fields)
    assert all(key["text"] for key in keys), "a key without an explanation"
    plain = read_policy(text.encode())
    uncommented = re.sub(r"^# (\w+:)", r"\1", text, flags=re.MULTILINE)
    assert plain == Policy(enabled=True)
    assert read_policy(uncommented.encode()) == plain


def test_ten_by_itself_and_the_rest_by_button(newcomer: Newcomer) -> None:
    from app.ledger import onboarding, repos

    with write(newcomer.engine) as conn:
        repos.upsert_installation(conn, 5, "acme")
        for n in range(1, 13):
            repos.upsert_repository(conn, n, 5, f"acme/r{n:02}", "main", False)
        onboarding.propose_some(conn, 5, range(1, 9), 1)
        onboarding.propose_some(conn, 5, range(9, 13), 1)
        states = [line.state for line in onboarding.rows(conn)]
        assert states == ["waiting"] * 10 + [""] * 2
        assert onboarding.propose(conn, 12, 2) == 5
        assert find(conn, "policy:12") is not None
        assert onboarding.propose(conn, 99, 2) is None
