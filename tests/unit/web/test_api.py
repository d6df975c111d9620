"""The status JSON: from rows alone, for the token's own installation (C6, C31, C35; decisions.md, row 68)."""

from typing import Any

import pytest
from sqlalchemy import Engine

from app.ledger import diagnoses, repos, runs
from app.ledger.engine import write
from app.ledger.ids import new_id
from app.ledger.repos import ScopeFacts
from app.ledger.runs import RunFacts, StepFacts
from app.runs.model import Run, Stage, Status, Step, StepStatus
from app.web.tokens import read_token, sign_token

from .conftest import NOW, Sender

KEY = "a-secret-key-for-tests"
DAY = 24 * 60 * 60 * 1000


@pytest.fixture
def scope_id(engine: Engine) -> str:
    with write(engine) as conn:
        for installation, repository, name in ((4711, 77, "acme/shop"), (4712, 78, "rival/shop")):
            repos.upsert_installation(conn, installation, name.split("/")[0])
            repos.upsert_repository(conn, repository, installation, name, "main", False)
        facts = ScopeFacts(77, "pr:318", 77, "feature", "a" * 40, "main", "b" * 40)
        return str(repos.upsert_scope(conn, facts, NOW).id)


def ask(
    github: Sender, path: str = "acme/shop", scope: str | None = "pr:318", token: str | None = None, **headers: str
) -> Any:
    bearer = sign_token(KEY, 4711, NOW + DAY) if token is None else token
    return github.client.get(
        f"/api/repos/{path}/status",
        params={"scope": scope} if scope else {},
        headers={"authorization": f"Bearer {bearer}", **headers},
    )


def start_run(engine: Engine, scope_id: str) -> str:
    with write(engine) as conn:
        diagnosis_id, _ = diagnoses.open(conn, scope_id, "a" * 40, NOW, NOW)
        steps = (Step("s1", StepStatus.WORKING, attempts=1), Step("s2"))
        run = Run(new_id(NOW), Status.RUNNING, Stage.AGENT, steps, current=0)
        facts = RunFacts(4711, 77, scope_id, diagnosis_id, "e2e-fail-0123456789ab", "a" * 40, "b" * 40, "octo")
        assert runs.create(conn, run, facts, [StepFacts("Totals are rounded"), StepFacts("Other")], NOW)
        return run.run_id


def test_c6_a_scope_without_a_run_is_not_started(github: Sender, scope_id: str) -> None:
    answer = ask(github)
    assert answer.status_code == 200
    body = answer.json()
    assert (body["scope"], body["status"], body["run"], body["diagnosis"]) == ("pr:318", "NOT_STARTED", None, None)
    assert body["head_sha"] == "a" * 40


def test_c6_a_scope_that_nobody_heard_of_is_not_started(github: Sender, scope_id: str) -> None:
    answer = ask(github, scope="pr:999")
    assert (answer.status_code, answer.json()["status"]) == (200, "NOT_STARTED")


def test_c5_a_run_is_told_with_its_steps(github: Sender, engine: Engine, scope_id: str) -> None:
    """Also C32: the fields of a step are kept and shown."""
    run_id = start_run(engine, scope_id)
    body = ask(github).json()
    assert body["status"] == "RUNNING"
    run = body["run"]
    assert (run["id"], run["stage"], run["current_step"], run["round"]) == (run_id, "AGENT", 0, 0)
    assert [(step["step_id"], step["status"], step["attempts"]) for step in run["steps"]] == [
        ("s1", "WORKING", 1),
        ("s2", "PENDING", 0),
    ]
    assert run["steps"][0]["title"] == "Totals are rounded"
    assert body["diagnosis"]["state"] == "COLLECTING"


def test_without_scope_all_open_scopes_are_told(github: Sender, scope_id: str) -> None:
    body = ask(github, scope=None).json()
    assert body["repository"] == "acme/shop"
    assert [scope["scope"] for scope in body["scopes"]] == ["pr:318"]


@pytest.mark.parametrize("path", ["rival/shop", "acme/unknown", "acme/%2e%2e"])
def test_c31_another_installation_is_not_found(github: Sender, scope_id: str, path: str) -> None:
    """Also S33 and DB-8: a foreign repository and an unknown one look the same."""
    answer = ask(github, path)
    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


def test_c31_the_other_installation_sees_its_own(github: Sender, scope_id: str) -> None:
    token = sign_token(KEY, 4712, NOW + DAY)
    assert ask(github, "acme/shop", token=token).status_code == 404
    assert ask(github, "rival/shop", token=token).status_code == 200


def test_c31_a_removed_installation_sees_nothing(github: Sender, engine: Engine, scope_id: str) -> None:
    with write(engine) as conn:
        repos.remove_installation(conn, 4711, NOW)
    assert ask(github).status_code == 404


@pytest.mark.parametrize(
    "token",
    [
        "",
        "rmd1.4711.9999999999999." + "0" * 64,
        sign_token("another-key", 4711, NOW + DAY),
        sign_token("", 4711, NOW + DAY),
        sign_token(KEY, 4711, NOW),
        sign_token(KEY, 4711, NOW + DAY).replace("4711", "4712"),
        sign_token(KEY, 4711, NOW + DAY) + "0",
    ],
    ids=["none", "invented", "other key", "no key", "over", "other installation", "trailing"],
)
def test_c35_without_a_good_token_it_is_401(github: Sender, scope_id: str, token: str) -> None:
    answer = github.client.get("/api/repos/acme/shop/status", headers={"authorization": f"Bearer {token}".strip()})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_c35_a_server_without_a_key_accepts_no_token() -> None:
    assert read_token("", sign_token("", 4711, NOW + DAY), NOW) is None


def test_a_token_ends_at_its_date() -> None:
    token = sign_token(KEY, 4711, NOW + DAY)
    assert read_token(KEY, token, NOW + DAY - 1) == 4711
    assert read_token(KEY, token, NOW + DAY) is None


@pytest.mark.parametrize("scope", ["318", "pr:0", "pr:x", "branch:", "branch:a\nb", "tag:x"])
def test_a_scope_that_is_none_is_400(github: Sender, scope_id: str, scope: str) -> None:
    assert ask(github, scope=scope).status_code == 400


def test_the_name_is_found_in_any_case(github: Sender, scope_id: str) -> None:
    assert ask(github, "Acme/SHOP").status_code == 200
