"""What the pages keep from others and from themselves: tenants, sessions, forged forms, crooked addresses."""

from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import func, select

from app.ledger.engine import read, write
from app.ledger.schema import browsers, commands
from tests.journeys.pages.conftest import RIVAL, Stopped
from tests.journeys.pages.visitor import Visitor, signed_in
from tests.journeys.world import AUTHOR

BELOW = ("", ".json", "/events", "/fix.patch", "/rounds/1.patch", "/evidence/E-0123456789")


def facts(answer: httpx.Response) -> tuple[int, str, str | None]:
    return answer.status_code, answer.text, answer.headers.get("content-type")


def stored(stopped: Stopped) -> int:
    with read(stopped.world.services.engine) as conn:
        return int(conn.execute(select(func.count()).select_from(commands)).scalar_one())


@pytest.mark.parametrize("below", BELOW)
def test_ux_p4_another_tenants_run_is_not_found_byte_for_byte(stopped: Stopped, below: str) -> None:
    """S33: page, JSON, stream, patch and evidence of a repository that one cannot read, and of none, look the same."""
    ann = signed_in(stopped.world, AUTHOR)
    foreign, none = ann.get(stopped.foreign + below), ann.get("/runs/01ABCDEFGHJKMNPQRSTVWXYZ00" + below)
    assert foreign.status_code == 404
    assert facts(foreign) == facts(none)


def test_ux_p4_a_press_on_another_tenants_run_is_not_found(stopped: Stopped) -> None:
    ann, before = signed_in(stopped.world, AUTHOR), stored(stopped)
    answer = ann.post(f"{stopped.foreign}/say", {"csrf": ann.csrf(), "verb": "block"})
    assert answer.status_code == 404
    assert stored(stopped) == before


def test_ux_p5_lists_counts_and_filters_know_readable_repositories_only(stopped: Stopped) -> None:
    ann, boss = signed_in(stopped.world, AUTHOR), signed_in(stopped.world, "boss")
    for page in ("/", "/?q=secret-branch", f"/?repo={RIVAL}", "/runs.json", "/flaky", "/?state=running"):
        assert "rival" not in ann.get(page).text.replace(f'"{RIVAL}"', ""), page
    assert RIVAL in boss.get("/").text
    assert boss.get(stopped.foreign).status_code == 200


def test_ux_p6_operator_pages_are_for_operators(stopped: Stopped) -> None:
    ann, boss = signed_in(stopped.world, AUTHOR), signed_in(stopped.world, "boss")
    for page in ("/runners", "/doctor", "/runners.json", "/doctor.json"):
        assert ann.get(page).status_code == 403, page
        assert boss.get(page).status_code == 200, page
    assert "/doctor" not in ann.get("/").text
    assert "/doctor" in boss.get("/").text


def test_ux_p3_without_an_answer_of_github_nothing_is_shown(stopped: Stopped) -> None:
    """Fails closed: the list is 503, a run is 404, and neither says more."""
    ann = signed_in(stopped.world, AUTHOR)
    stopped.world.github.fault(op="apps/list-installations-for-authenticated-user", status=502, times=3)
    assert ann.get("/").status_code == 503
    assert ann.get(stopped.path).status_code == 404
    assert ann.get("/runs.json").status_code == 503
    assert ann.get(stopped.path).status_code == 200, "and it is asked again as soon as GitHub answers"


def test_a_token_that_github_refuses_ends_the_sign_in(stopped: Stopped) -> None:
    ann = signed_in(stopped.world, AUTHOR)
    stopped.world.github.world.state.tokens.clear()
    assert ann.get("/").status_code == 503
    assert ann.get("/").status_code == 303, "signed out"


def test_ux_p10_a_cookie_from_elsewhere_is_not_adopted(stopped: Stopped) -> None:
    """Session fixation: each sign-in has a new random name, and the one before it is worth nothing."""
    visitor = Visitor(stopped.world)
    visitor.client.cookies.set("__Host-remedy-browser", "chosen-by-somebody-else", domain="remedy.example")
    visitor.sign_in(AUTHOR)
    first = visitor.client.cookies.jar
    values = {cookie.value for cookie in first if cookie.name == "__Host-remedy-browser"}
    assert values - {"chosen-by-somebody-else"}
    thief = Visitor(stopped.world)
    thief.client.cookies.set("__Host-remedy-browser", "chosen-by-somebody-else", domain="remedy.example")
    assert thief.get("/").status_code == 303

    ann = signed_in(stopped.world, AUTHOR)
    old = ann.cookie()
    ann.sign_in(AUTHOR)
    assert ann.cookie() not in (None, old)
    thief = Visitor(stopped.world)
    thief.client.cookies.set("__Host-remedy-browser", str(old), domain="remedy.example")
    assert thief.get("/").status_code == 303, "the row of the old cookie is gone"


def test_ux_p10_the_cookie_is_for_this_host_and_no_script(stopped: Stopped) -> None:
    visitor = Visitor(stopped.world)
    answer = visitor.sign_in(AUTHOR)
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("__Host-remedy-browser=")]
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
    assert "Domain" not in cookie
    with read(stopped.world.services.engine) as conn:
        rows = conn.execute(select(browsers)).all()
    kept = " ".join(str(value) for row in rows for value in row)
    assert str(visitor.cookie()) not in kept
    tokens = [token for token in stopped.world.github.world.state.tokens if token.startswith("ghu_")]
    assert tokens
    assert not [token for token in tokens if token in kept], "sealed"


def test_a_sign_in_needs_the_state_of_this_very_browser(stopped: Stopped) -> None:
    """Login CSRF: somebody else's code, a wrong state, a state twice, none at all."""
    ann, mallory = Visitor(stopped.world), Visitor(stopped.world)
    theirs = mallory.agreed(mallory.asked_at_github(), "eve")
    assert ann.get(theirs).status_code == 400
    ann.asked_at_github()
    assert ann.get(theirs).status_code == 400
    assert ann.cookie() is None
    back = ann.agreed(ann.asked_at_github(), AUTHOR)
    assert ann.get(back.replace("state=", "state=x")).status_code == 400
    back = ann.agreed(ann.asked_at_github(), AUTHOR)
    assert ann.get(back).status_code == 303
    assert ann.get(back).status_code == 400, "only once"


def test_the_code_is_worth_nothing_without_the_verifier(stopped: Stopped) -> None:
    """PKCE: a code that was read on its way cannot be used by another browser's sign-in."""
    ann, mallory = Visitor(stopped.world), Visitor(stopped.world)
    stolen = ann.agreed(ann.asked_at_github(), AUTHOR)
    own = mallory.agreed(mallory.asked_at_github(), "eve")
    code = stolen.split("code=")[1].split("&")[0]
    mixed = f"/signin/callback?code={code}&state={own.split('state=')[1]}"
    assert mallory.get(mixed).status_code == 502
    assert mallory.cookie() is None


def test_ux_p9_a_form_needs_its_token_and_our_origin(stopped: Stopped) -> None:
    """S38, CSRF: nothing is stored without both."""
    ann, eve = signed_in(stopped.world, AUTHOR), signed_in(stopped.world, "eve")
    before, path = stored(stopped), f"{stopped.path}/say"
    good = {"csrf": ann.csrf(stopped.path), "verb": "block"}
    for fields, headers in (
        ({"verb": "block"}, {}),
        ({**good, "csrf": ""}, {}),
        ({**good, "csrf": eve.csrf(stopped.path)}, {}),
        ({**good, "csrf": "ü"}, {}),
        (good, {"origin": "https://evil.example"}),
        (good, {"origin": "null"}),
        (good, {"origin": "https://remedy.example.evil.example"}),
    ):
        assert ann.post(path, fields, **headers).status_code == 403, (fields, headers)
    assert ann.client.post(path, json=good, headers={"origin": ann.url}).status_code == 415
    assert ann.post(path, {**good, "verb": "merge"}).status_code == 400
    assert ann.get(path).status_code == 405, "no GET changes anything"
    assert Visitor(stopped.world).post(path, good).status_code == 303, "nobody is led to the sign-in"
    big = {**good, "hint": "x" * 20_000}
    assert ann.post(path, big).status_code == 413
    assert stored(stopped) == before


@pytest.mark.parametrize(
    "crooked",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/%0d%0aset-cookie:x=1\r\nx: y",
        "/runs\nLocation: https://evil.example",
        "/x y",
        "",
    ],
)
def test_ux_p10_nobody_is_led_away_from_here(stopped: Stopped, crooked: str) -> None:
    """Open redirect and header injection by way of the address to come back to."""
    visitor = Visitor(stopped.world)
    answer = visitor.sign_in(AUTHOR, crooked)
    assert answer.headers["location"] == "/"
    assert "x" not in answer.headers
    assert visitor.get(f"/signin?return_to={quote(crooked, safe='')}").headers["location"] == "/"
    assert visitor.sign_in(AUTHOR, "/runs/1?turn=2").headers["location"] == "/runs/1?turn=2"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py",
        "/static/..%2f..%2fpyproject.toml",
        "/static/%2e%2e%2fframe.html.j2",
        "/static/frame.html.j2",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/%00",
        "/runs/1%0d%0ax:%20y",
        "{path}/evidence/..%2f..%2fremedy.db",
        "{path}/evidence/E-0123456789%00",
        "{path}/rounds/-1.patch",
        "{path}/rounds/99999999999999999999.patch",
    ],
)
def test_no_address_climbs_out(stopped: Stopped, path: str) -> None:
    """Path traversal and header injection by way of the path."""
    ann = signed_in(stopped.world, AUTHOR)
    answer = ann.get(path.format(path=stopped.path))
    assert answer.status_code == 404
    assert "x" not in answer.headers


def test_ux_h2_every_page_has_the_strict_policy(stopped: Stopped) -> None:
    boss = signed_in(stopped.world, "boss")
    for page in ("/", "/flaky", "/runners", "/doctor", "/help", stopped.foreign, "/none"):
        answer = boss.get(page)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text
        assert "onclick" not in answer.text
        assert "<script>" not in answer.text


def test_signing_out_ends_the_session_everywhere(stopped: Stopped) -> None:
    ann = signed_in(stopped.world, AUTHOR)
    copied = Visitor(stopped.world)
    copied.client.cookies.set("__Host-remedy-browser", str(ann.cookie()), domain="remedy.example")
    assert copied.get("/").status_code == 200
    assert ann.post("/signout", {"csrf": "0" * 64}).status_code == 403
    assert ann.post("/signout", {"csrf": ann.csrf()}).status_code == 303
    assert copied.get("/").status_code == 303


def test_a_session_ends_with_its_time(stopped: Stopped) -> None:
    ann = signed_in(stopped.world, AUTHOR)
    with write(stopped.world.services.engine) as conn:
        conn.execute(browsers.update().values(until_at=stopped.world.now() - 1))
    assert ann.get("/").status_code == 303
