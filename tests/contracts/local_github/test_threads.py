"""Issues, comments, labels, reactions, pull requests over the API (F-I1 to F-I10, F-E4, F-W15)."""

import httpx
import pytest

from tests.github import LocalGitHub
from tests.github.core.state import Pull
from tests.github.stage import Api, broken_pull, shop


@pytest.fixture
def pull(github: LocalGitHub) -> Pull:
    return broken_pull(github, shop(github))


@pytest.fixture
def client(api: Api, pull: Pull) -> httpx.Client:
    return api.of(pull.repository)


def test_f_i7_an_apps_comment_names_the_app_and_only_it_may_edit_it(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    made = client.post(f"issues/{pull.number}/comments", json={"body": "one"}).json()
    assert made["performed_via_github_app"]["id"] == github.app.id
    assert made["user"]["login"] == "remedy[bot]"
    assert "%5Bbot%5D" in made["user"]["url"]
    assert client.patch(f"issues/comments/{made['id']}", json={"body": "two"}).json()["body"] == "two"
    theirs = github.comment("ann", pull, "mine")
    assert client.patch(f"issues/comments/{theirs.id}", json={"body": "x"}).status_code == 403


def test_f_i1_bodies_end_at_65536_characters(client: httpx.Client, pull: Pull) -> None:
    url = f"issues/{pull.number}/comments"
    assert client.post(url, json={"body": "x" * 65_536}).status_code == 201
    answer = client.post(url, json={"body": "x" * 65_537})
    assert answer.status_code == 422
    assert "65536" in answer.json()["errors"][0]["message"]


def test_f_i3_labels_are_capped_and_exist_once(client: httpx.Client) -> None:
    assert client.post("labels", json={"name": "remedy"}).status_code == 201
    again = client.post("labels", json={"name": "remedy"})
    assert again.status_code == 422
    assert again.json()["errors"][0]["code"] == "already_exists"
    assert client.post("issues", json={"title": "T", "labels": ["x" * 51]}).status_code == 422
    assert [issue for issue in client.get("issues").json() if "pull_request" not in issue] == []


def test_f_i4_a_reaction_is_201_when_new_and_200_again(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    comment = github.comment("ann", pull, "/remedy status")
    url = f"issues/comments/{comment.id}/reactions"
    first = client.post(url, json={"content": "eyes"})
    assert (first.status_code, client.post(url, json={"content": "eyes"}).status_code) == (201, 200)
    assert client.delete(f"{url}/{first.json()['id']}").status_code == 204
    assert client.get(url).json() == []


def test_f_i5_issues_that_are_switched_off_answer_410(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    github.settings(pull.repository, has_issues=False)
    assert client.post("issues", json={"title": "T"}).status_code == 410
    assert client.post(f"issues/{pull.number}/comments", json={"body": "still works"}).status_code == 201


def test_issues_are_found_by_label_creator_and_state(client: httpx.Client) -> None:
    number = client.post("issues", json={"title": "T", "body": "B", "labels": ["remedy"]}).json()["number"]
    client.patch(f"issues/{number}", json={"state": "closed", "state_reason": "completed"})
    url = "issues?labels=remedy&creator=remedy%5Bbot%5D"
    assert client.get(url).json() == []
    (found,) = client.get(f"{url}&state=all").json()
    assert (found["number"], found["state_reason"]) == (number, "completed")
    assert client.patch(f"issues/{number}", json={"state": "open"}).json()["state_reason"] == "reopened"


def test_f_w15_close_with_comment_is_two_events(github: LocalGitHub, pull: Pull) -> None:
    github.close_with_comment("ann", pull, "not now")
    assert [(d.event, d.action) for d in github.deliveries()][-2:] == [
        ("issue_comment", "created"),
        ("pull_request", "closed"),
    ]


def test_f_e4_hiding_a_comment_is_an_edit_without_a_change(github: LocalGitHub, pull: Pull) -> None:
    comment = github.comment("ann", pull, "/remedy fix")
    github.edit_comment("bob", comment, "/remedy fix")
    (delivery,) = github.deliveries("issue_comment", "edited")
    assert delivery.payload["changes"]["body"]["from"] == delivery.payload["comment"]["body"]


def test_reviews_and_their_comments_come_as_events(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    github.review("ann", pull, "/remedy status", "approved")
    comment = github.review_comment("ann", pull, "/remedy block", "cart.py", 2)
    assert [d.event for d in github.deliveries()][-3:] == [
        *("pull_request_review", "pull_request_review", "pull_request_review_comment"),
    ]
    assert github.deliveries("pull_request_review")[0].payload["review"]["state"] == "approved"
    reply = {"body": "done", "in_reply_to": comment.id, "commit_id": pull.head_sha, "path": "cart.py", "line": 2}
    answer = client.post(f"pulls/{pull.number}/comments", json=reply)
    assert answer.status_code == 201, answer.text
    assert answer.json()["in_reply_to_id"] == comment.id


def test_an_app_opens_edits_and_closes_a_pull_request(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    github.push("remedy[bot]", pull.repository, "remedy/t/1", {"cart.py": "fixed"}, base="feature")
    body = {"title": "Fix", "head": "remedy/t/1", "base": "feature", "body": "B", "maintainer_can_modify": False}
    made = client.post("pulls", json=body)
    assert made.status_code == 201
    again = client.post("pulls", json=body)
    assert again.status_code == 422
    assert "already exists" in again.json()["errors"][0]["message"]
    number = made.json()["number"]
    assert client.get("pulls?head=acme:remedy/t/1&state=all").json()[0]["number"] == number
    assert client.patch(f"pulls/{number}", json={"title": "Better"}).json()["title"] == "Better"
    assert client.patch(f"pulls/{number}", json={"state": "closed"}).json()["state"] == "closed"
    assert client.post("pulls", json={**body, "head": "main", "base": "feature"}).status_code == 422
    assert client.post("pulls", json={**body, "head": "nowhere"}).status_code == 422


def test_a_file_is_read_at_a_ref(client: httpx.Client) -> None:
    answer = client.get("contents/cart.py?ref=feature").json()
    assert answer["encoding"] == "base64"
    raw = client.get("contents/cart.py", headers={"Accept": "application/vnd.github.raw+json"})
    assert raw.text.startswith("def total")
    assert client.get("contents/.github%2Fremedy.yml").status_code == 404
    assert [entry["name"] for entry in client.get("contents/tests").json()] == ["test_cart.py"]


def test_f_c11_pulls_of_a_commit(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    assert [p["number"] for p in client.get(f"commits/{pull.head_sha}/pulls").json()] == [pull.number]
    main = github.branches(pull.repository)["main"]
    assert client.get(f"commits/{main}/pulls").json() == []
