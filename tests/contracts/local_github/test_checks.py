"""Check runs, suites, buttons (D-8, D-19, F-C1 to F-C13)."""

from typing import Any

import httpx
import pytest

from tests.github import LocalGitHub
from tests.github.core.state import Pull
from tests.github.stage import Api, broken_pull, shop

OUTPUT = {"title": "Reading", "summary": "One failing test"}


@pytest.fixture
def pull(github: LocalGitHub) -> Pull:
    return broken_pull(github, shop(github))


@pytest.fixture
def client(api: Api, pull: Pull) -> httpx.Client:
    return api.of(pull.repository)


def opened(client: httpx.Client, pull: Pull, **given: Any) -> dict[str, Any]:
    answer = client.post("check-runs", json={"name": "Remedy", "head_sha": pull.head_sha, **given})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_d_19_the_same_name_twice_makes_two_and_they_are_found_by_app_and_name(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    first, second = opened(client, pull, external_id="k1"), opened(client, pull, external_id="k2")
    url = f"commits/{pull.head_sha}/check-runs?check_name=Remedy&app_id={github.app.id}"
    assert [run["id"] for run in client.get(url).json()["check_runs"]] == [second["id"]]
    every = client.get(f"{url}&filter=all").json()
    assert every["total_count"] == 2
    assert {run["external_id"] for run in every["check_runs"]} == {"k1", "k2"}
    assert first["check_suite"] == second["check_suite"]


def test_d_19_only_the_app_that_made_a_check_may_update_it(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    foreign = github.foreign_check(pull.repository, pull.head_sha, "Other", "failure")
    answer = client.patch(f"check-runs/{foreign.id}", json={"status": "in_progress"})
    assert answer.status_code == 403
    assert answer.json()["message"].startswith(f"Invalid app_id `{github.app.id}`")


def test_d_19_annotations_append(client: httpx.Client, pull: Pull) -> None:
    note = {"path": "cart.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "here"}
    check = opened(client, pull, output={**OUTPUT, "annotations": [note]})
    client.patch(f"check-runs/{check['id']}", json={"output": {**OUTPUT, "annotations": [note, note]}})
    found = client.get(f"check-runs/{check['id']}/annotations").json()
    assert len(found) == 3
    assert found[0]["title"] is None
    assert client.get(f"check-runs/{check['id']}").json()["output"]["annotations_count"] == 3


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"actions": [{"label": "x" * 21, "description": "d", "identifier": "i"}]}, "actions.0.label"),
        ({"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4}, "actions"),
        ({"output": {"title": "t", "summary": "s" * 65_536}}, "output.summary"),
        ({"output": {"title": "only a title"}}, "output.summary"),
        ({"conclusion": "brilliant"}, "conclusion"),
    ],
)
def test_d_19_what_the_schema_limits_is_422(
    github: LocalGitHub, client: httpx.Client, pull: Pull, given: dict[str, Any], field: str
) -> None:
    github.expect("checks/create", field)
    body = {"name": "Remedy", "head_sha": pull.head_sha, **given}
    assert client.post("check-runs", json=body).status_code == 422


@pytest.mark.parametrize(
    "given",
    [
        {"status": "completed"},
        {
            "output": {
                **OUTPUT,
                "annotations": [
                    {
                        "path": "a",
                        "start_line": 1,
                        "end_line": 1,
                        "annotation_level": "failure",
                        "message": "m" * 65_537,
                    }
                ],
            }
        },
        {
            "output": {
                **OUTPUT,
                "annotations": [
                    {
                        "path": "a",
                        "start_line": 1,
                        "end_line": 2,
                        "annotation_level": "failure",
                        "message": "m",
                        "start_column": 1,
                        "end_column": 2,
                    }
                ],
            }
        },
    ],
    ids=["completed without conclusion", "long message", "columns over two lines"],
)
def test_d_8_what_only_the_prose_limits_is_422_too(client: httpx.Client, pull: Pull, given: dict[str, Any]) -> None:
    answer = client.post("check-runs", json={"name": "Remedy", "head_sha": pull.head_sha, **given})
    assert answer.status_code == 422
    assert answer.json()["errors"]
    assert client.get(f"commits/{pull.head_sha}/check-runs?check_name=Remedy").json()["total_count"] == 0


def test_f_c2_a_conclusion_completes_and_the_suite_follows(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    check = opened(client, pull, status="in_progress")
    github.settle()
    answer = client.patch(f"check-runs/{check['id']}", json={"conclusion": "neutral"}).json()
    assert (answer["status"], answer["conclusion"]) == ("completed", "neutral")
    suite = client.get(f"check-suites/{check['check_suite']['id']}").json()
    assert (suite["status"], suite["conclusion"]) == ("completed", "neutral")
    github.settle()
    own = [d for d in github.deliveries("check_run") if d.payload["check_run"]["name"] == "Remedy"]
    assert [delivery.action for delivery in own] == ["created", "completed"]


def test_an_apps_suite_is_requested_at_the_push_and_stays_empty(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    """An empty suite of our own must not be waited for."""
    suites = client.get(f"commits/{pull.head_sha}/check-suites").json()["check_suites"]
    mine = [suite for suite in suites if suite["app"]["id"] == github.app.id]
    assert [(suite["status"], suite["latest_check_runs_count"]) for suite in mine] == [("queued", 0)]
    assert [d.payload["check_suite"]["id"] for d in github.deliveries("check_suite", "requested")] == [mine[0]["id"]]


def test_a_click_reaches_the_app_with_its_identifier(github: LocalGitHub, client: httpx.Client, pull: Pull) -> None:
    button = {"label": "Fix", "description": "Repair it", "identifier": "fix"}
    opened(client, pull, conclusion="action_required", output=OUTPUT, actions=[button])
    github.click("ann", github.checks(pull.repository, pull.head_sha, "Remedy")[0], "fix")
    (delivery,) = github.deliveries("check_run", "requested_action")
    assert delivery.payload["requested_action"]["identifier"] == "fix"
    assert delivery.payload["sender"]["login"] == "ann"
    with pytest.raises(ValueError, match="no button block"):
        github.click("ann", github.checks(pull.repository, pull.head_sha, "Remedy")[0], "block")


def test_f_c12_rerun_of_our_check_asks_us_and_resets_only_the_suite(
    github: LocalGitHub, client: httpx.Client, pull: Pull
) -> None:
    check = opened(client, pull, conclusion="failure", output=OUTPUT)
    github.rerequest("ann", check["id"])
    assert github.deliveries("check_run", "rerequested")[0].payload["check_run"]["conclusion"] == "failure"
    assert client.get(f"check-runs/{check['id']}").json()["status"] == "completed"
    assert client.get(f"check-suites/{check['check_suite']['id']}").json()["status"] == "queued"


def test_f_e2_buttons_of_other_apps_are_not_told_to_us(github: LocalGitHub, pull: Pull) -> None:
    foreign = github.foreign_check(pull.repository, pull.head_sha, "Other", "failure")
    github.rerequest("ann", foreign)
    assert github.deliveries("check_run", "rerequested") == []


def test_f_c11_a_check_names_its_pull_request_unless_it_is_a_forks(github: LocalGitHub, pull: Pull) -> None:
    github.report_job(pull)
    github.fork("eve", pull.repository)
    github.push("eve", "eve/shop", "mine", {"cart.py": "broken"})
    foreign = github.open_pull("eve", pull.repository, "eve:mine")
    github.report_job(foreign)
    own, forked = (d.payload["check_run"] for d in github.deliveries("check_run", "completed"))
    assert [entry["number"] for entry in own["pull_requests"]] == [pull.number]
    assert own["check_suite"]["head_branch"] == "feature"
    assert forked["pull_requests"] == []
    assert forked["check_suite"]["head_branch"] is None
