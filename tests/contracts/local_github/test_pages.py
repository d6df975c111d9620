"""The pages that a person meets, and the set-up by manifest (D-39, F-M1, F-M2)."""

import json
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.github import LocalGitHub
from tests.github.pages.markdown import to_html
from tests.github.stage import Api, broken_pull, shop

BANNER = "This is a local GitHub"


@pytest.fixture
def browser(github: LocalGitHub):  # type: ignore[no-untyped-def]
    headers = {"Accept": "text/html,application/xhtml+xml"}
    with httpx.Client(base_url=github.web_url, headers=headers, trust_env=False, follow_redirects=True) as client:
        yield client


def test_d_39_every_page_is_there_and_says_where_it_is(github: LocalGitHub, browser: httpx.Client) -> None:
    pull = broken_pull(github, shop(github))
    (check,) = github.run_ci()
    issue = github.open_issue("ann", pull.repository, "A wish")
    sha = pull.head_sha
    (run,) = github.workflow_runs(pull.repository)
    for path, words in {
        "/": "acme/shop",
        "/acme/shop": "Faster totals",
        "/acme/shop/tree/feature": "cart.py",
        f"/acme/shop/pull/{pull.number}": "failure",
        f"/acme/shop/pull/{pull.number}/files": "return 0",
        f"/acme/shop/issues/{issue.number}": "A wish",
        f"/acme/shop/commit/{sha}": "Break the total",
        f"/acme/shop/blob/{sha}/cart.py": "def total",
        f"/acme/shop/runs/{check.id}": "Process completed with exit code 1.",
        str(check.details_url).removeprefix(github.web_url): "Process completed with exit code 1.",
        f"/acme/shop/actions/runs/{run.id}": "attempt 1",
        "/_deliveries": "check_run completed",
        "/apps/remedy": "installed",
    }.items():
        page = browser.get(path)
        assert (page.status_code, BANNER in page.text, words in page.text) == (200, True, True), (path, page.text[:900])
    assert browser.get("/acme/nothing").status_code == 404
    assert BANNER in browser.get("/a/b/c/d").text


def test_d_39_a_person_comments_clicks_and_reruns(github: LocalGitHub, browser: httpx.Client, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    browser.post(f"/acme/shop/pull/{pull.number}", data={"user": "ann", "body": "/remedy fix"})
    assert [comment.body for comment in github.comments(pull)] == ["/remedy fix"]
    button = {"label": "Fix", "description": "Repair it", "identifier": "fix"}
    body = {"name": "Remedy", "head_sha": pull.head_sha, "conclusion": "action_required", "actions": [button]}
    number = api.of(pull.repository).post("check-runs", json=body).json()["id"]
    page = browser.get(f"/acme/shop/runs/{number}")
    assert '<button name="identifier" value="fix" title="Repair it">Fix</button>' in page.text
    browser.post(f"/acme/shop/runs/{number}", data={"user": "ann", "identifier": "fix"})
    browser.post(f"/acme/shop/runs/{number}", data={"user": "ann"})
    github.settle()
    assert [d.action for d in github.deliveries("check_run")][-2:] == ["requested_action", "rerequested"]
    browser.post(f"/acme/shop/pull/{pull.number}", data={"user": "ann", "body": "", "turn": "merge"})
    assert pull.merged_at is not None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!-- remedy:status k v1 -->\n### Hello", "\n<h3>Hello</h3>\n"),
        ("<details><summary>more</summary>\n\ntext\n\n</details>", "<details><summary>more</summary>"),
        ("| a |\n|---|\n| 1 |", "<td>1</td>"),
        ("one\ntwo", "one<br>"),
    ],
)
def test_comments_are_shown_as_github_shows_them(text: str, shown: str) -> None:
    assert shown in to_html(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        '<a href="javascript:alert(1)">x</a>',
        "<svg onload=alert(1)>",
        "<style>*{}</style>",
        "</div></main><iframe src=//evil.example>",
    ],
)
def test_nothing_in_a_comment_runs(text: str) -> None:
    shown = to_html(text).lower()
    assert not any(
        word in shown for word in ("<script", "onerror", 'href="javascript', "<svg", "<style", "<iframe", "</main")
    )


def test_d_39_f_m1_f_m2_an_app_is_registered_by_its_manifest_once(github: LocalGitHub, browser: httpx.Client) -> None:
    manifest = {
        "name": "Remedy of Acme",
        "url": "https://remedy.example",
        "redirect_url": "http://127.0.0.1:9/setup/done",
        "hook_attributes": {"url": "http://127.0.0.1:9/webhook", "active": True},
        "default_permissions": {"checks": "write", "metadata": "read"},
        "default_events": ["check_run"],
    }
    url = "/organizations/acme/settings/apps/new?state=abc"
    page = browser.post(url, data={"manifest": json.dumps(manifest)})
    assert "checks: write" in page.text
    form = {"manifest": json.dumps(manifest), "state": "abc", "agreed": "yes", "name": "Remedy of Acme"}
    answer = browser.post(url, data=form, follow_redirects=False)
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert query["state"] == ["abc"]
    headers = {"User-Agent": "x", "X-GitHub-Api-Version": "2022-11-28"}
    convert = f"{github.api_url}/app-manifests/{query['code'][0]}/conversions"
    made = httpx.post(convert, headers=headers, trust_env=False)
    assert made.status_code == 201, made.text
    assert made.json()["slug"] == "remedy-of-acme"
    assert made.json()["pem"].startswith("-----BEGIN RSA PRIVATE KEY-----")
    assert httpx.post(convert, headers=headers, trust_env=False).status_code == 404
    shop(github)
    browser.post("/apps/remedy-of-acme/installations/new", data={"repository": "acme/shop"})
    assert [i.app.slug for i in github.world.state.installations.values()] == ["remedy", "remedy-of-acme"]


def test_f_m1_a_manifest_with_an_unknown_permission_is_refused(browser: httpx.Client) -> None:
    manifest = json.dumps({"name": "X", "url": "https://x.example", "default_permissions": {"everything": "write"}})
    assert "no permission everything" in browser.post("/settings/apps/new", data={"manifest": manifest}).text
    agreed = {"manifest": manifest, "agreed": "yes", "name": "X"}
    assert browser.post("/settings/apps/new", data=agreed).status_code == 422


def test_an_alert_is_a_box_with_its_word_as_heading() -> None:
    shown = to_html("> [!IMPORTANT]\n> **Your turn:** read it")
    assert '<blockquote class="alert"><p><strong>Important</strong></p>' in shown and "[!" not in shown
    assert "<strong>Your turn:</strong> read it" in shown
    assert "[!IMPORTANT]" in to_html("said [!IMPORTANT] in a line")
