"""The tiny Actions: real runs, logs behind the store, attempts (D-21, D-26 to D-30)."""

import io
import re
import threading
import zipfile

import httpx
import pytest

from tests.github import LocalGitHub, Options, Report
from tests.github.stage import SHOP, WORKFLOW, Api, broken_pull, shop

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z .*$")


def logs_of(client: httpx.Client, job: int) -> httpx.Response:
    answer = client.get(f"actions/jobs/{job}/logs")
    return httpx.get(answer.headers["Location"], trust_env=False) if answer.status_code == 302 else answer


def test_d_26_the_workflow_really_runs_and_the_log_has_the_form_of_actions(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    (check,) = github.run_ci()
    assert (check.name, check.conclusion) == ("test", "failure")
    text = logs_of(api.of(pull.repository), check.id).text
    assert text.startswith("\ufeff")
    lines = text.removeprefix("\ufeff").splitlines()
    assert all(LINE.match(line) for line in lines)
    assert [line[:28] for line in lines] == sorted(line[:28] for line in lines)
    bare = [line[29:] for line in lines]
    assert "##[group]Run python -m pytest -q" in bare
    assert "\x1b[36;1mpython -m pytest -q\x1b[0m" in bare
    assert "FAILED tests/test_cart.py::test_total - assert 0 == 3" in bare
    assert "##[error]Process completed with exit code 1." in bare
    github.push("ann", pull.repository, "feature", SHOP)
    assert [run.conclusion for run in github.run_ci()] == ["success"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("on: push\njobs:\n  a:\n    services: {}\n    steps: [{run: 'true'}]\n", "services"),
        ("on: push\njobs:\n  a:\n    steps: [{uses: some/action@v1}]\n", "some/action@v1"),
        ("on: push\njobs:\n  a:\n    steps: [{run: 'echo ${{ secrets.X }}'}]\n", "secrets.X"),
    ],
)
def test_d_26_what_is_outside_the_subset_is_refused_by_name(github: LocalGitHub, text: str, what: str) -> None:
    repository = shop(github)
    github.expect("workflow", ".github/workflows/odd.yml")
    github.push("ann", repository, "odd", {".github/workflows/odd.yml": text})
    assert github.queued_jobs() == []
    assert what


def test_f_a10_a_broken_workflow_is_a_startup_failure_without_a_job(github: LocalGitHub, api: Api) -> None:
    repository = shop(github)
    sha = github.push("ann", repository, "odd", {".github/workflows/odd.yml": "on: push\njobs: [\n"})
    (run,) = api.of(repository).get(f"actions/runs?head_sha={sha}").json()["workflow_runs"]
    assert (run["status"], run["conclusion"]) == ("completed", "startup_failure")
    assert api.of(repository).get(f"actions/runs/{run['id']}/jobs").json()["jobs"] == []


def test_f_a11_a_run_that_waits_for_approval_has_no_job_until_it_is_given(github: LocalGitHub) -> None:
    repository = shop(github)
    github.ci_needs_approval("ann")
    pull = broken_pull(github, repository)
    assert [run.conclusion for run in github.workflow_runs(repository)] == ["action_required"]
    assert github.queued_jobs() == []
    github.approve_ci("bob", pull)
    assert github.queued_jobs() == ["test"]


def test_a_matrix_gives_a_job_for_each_value_and_a_step_its_time(github: LocalGitHub) -> None:
    text = """\
on: push
jobs:
  test:
    strategy: {matrix: {size: [1, 2]}}
    steps: [{run: 'test ${{ matrix.size }} = 1'}]
  slow:
    timeout-minutes: 0.005
    steps: [{run: 'while true; do :; done'}]
"""
    repository = shop(github)
    github.push("ann", repository, "odd", {".github/workflows/odd.yml": text})
    found = {check.name: check.conclusion for check in github.run_ci()}
    assert found == {"test (1)": "success", "test (2)": "failure", "slow": "timed_out"}


def test_d_27_events_come_in_a_plausible_order() -> None:
    manifest = {
        "name": "Listener",
        "default_permissions": {"actions": "read", "checks": "write", "contents": "read", "pull_requests": "read"},
        "default_events": ["push", "pull_request", "check_suite", "check_run", "workflow_run", "workflow_job"],
    }
    with LocalGitHub(manifest=manifest) as github:
        broken_pull(github, shop(github))
        github.run_ci()
        assert [f"{d.event} {d.action or ''}".strip() for d in github.deliveries()][1:] == [
            "push",
            "check_suite requested",
            "pull_request opened",
            "workflow_run requested",
            "workflow_job queued",
            "check_run created",
            "workflow_job in_progress",
            "workflow_run in_progress",
            "check_run completed",
            "workflow_job completed",
            "workflow_run completed",
            "check_suite completed",
        ]


@pytest.mark.parametrize("rule", [True, False])
def test_d_28_a_jobs_id_is_its_checks_id_unless_told_otherwise(rule: bool) -> None:
    with LocalGitHub(options=Options(id_rule=rule)) as github, Api(github) as api:
        pull = broken_pull(github, shop(github))
        (check,) = github.run_ci()
        client = api.of(pull.repository)
        assert (client.get(f"actions/jobs/{check.id}").status_code == 200) is rule
        (run,) = client.get(f"actions/runs?check_suite_id={check.suite.id}").json()["workflow_runs"]
        (job,) = client.get(f"actions/runs/{run['id']}/attempts/1/jobs").json()["jobs"]
        assert job["check_run_url"] == f"{github.api_url}/repos/acme/shop/check-runs/{check.id}"
        assert logs_of(client, job["id"]).status_code == 200


def test_d_29_a_log_is_404_until_the_job_ends_can_be_held_back_and_expires(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    client = api.of(pull.repository)
    (queued,) = github.checks(pull.repository, pull.head_sha, "test")
    assert logs_of(client, queued.id).status_code == 404
    (check,) = github.run_ci()
    github.hold_log(check, 2)
    assert [logs_of(client, check.id).status_code for _ in range(3)] == [404, 404, 200]
    github.expire_log(check)
    assert logs_of(client, check.id).status_code == 410


def test_f_a4_a_cancelled_job_never_has_a_log(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    (run,) = github.workflow_runs(pull.repository)
    github.cancel_ci(run)
    (check,) = github.checks(pull.repository, pull.head_sha, "test")
    assert check.conclusion == "cancelled"
    assert logs_of(api.of(pull.repository), check.id).status_code == 404


def test_d_21_a_link_lives_a_minute_and_takes_no_token(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    check = github.report_job(pull, Report(log="hello\n"))
    link = api.of(pull.repository).get(f"actions/jobs/{check.id}/logs").headers["Location"]
    assert link.startswith(github.store_url)
    assert httpx.get(link, trust_env=False).text == "hello\n"
    assert httpx.get(link.replace("sig=", "sig=0"), trust_env=False).status_code == 403
    github.expect("store", "authorization")
    assert httpx.get(link, headers={"Authorization": "Bearer x"}, trust_env=False).status_code == 400
    github.clock(61)
    assert httpx.get(link, trust_env=False).status_code == 403


def test_d_30_a_rerun_raises_the_attempt_and_old_jobs_stay_old(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    github.grant(pull.repository, "actions", "write")
    (first,) = github.run_ci()
    client = api.of(pull.repository)
    (run,) = github.workflow_runs(pull.repository)
    assert client.post(f"actions/runs/{run.id}/rerun-failed-jobs").status_code == 201
    assert client.get(f"actions/runs/{run.id}").json()["run_attempt"] == 2
    (second,) = github.run_ci()
    assert client.get(f"actions/jobs/{second.id}").json()["run_attempt"] == 2
    assert client.post(f"actions/jobs/{first.id}/rerun").status_code == 403
    assert client.get(f"actions/runs/{run.id}/attempts/1/jobs").json()["jobs"][0]["id"] == first.id
    names = client.get(f"commits/{pull.head_sha}/check-runs").json()["check_runs"]
    assert [entry["id"] for entry in names if entry["name"] == "test"] == [second.id]


def test_d_30_f_a8_the_51st_rerun_and_one_after_a_month_are_refused(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    github.grant(pull.repository, "actions", "write")
    github.report_job(pull)
    run = github.workflow_runs(pull.repository)[-1]
    run.attempts += [run.jobs] * 50
    assert api.of(pull.repository).post(f"actions/runs/{run.id}/rerun").status_code == 403
    del run.attempts[1:]
    github.clock(31 * 86_400)
    assert api.of(pull.repository).post(f"actions/runs/{run.id}/rerun").status_code == 403


def test_archives_and_artifacts_are_zips_and_expire(github: LocalGitHub, api: Api) -> None:
    """F-A6, F-A7."""
    steps = """\
      - run: python -m pytest --junitxml=report.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: junit, path: report.xml}
"""
    text = WORKFLOW.replace("      - run: python -m pytest -q\n", steps).replace("[push, pull_request]", "pull_request")
    repository = github.create_repo("acme/shop", {**SHOP, ".github/workflows/ci.yml": text})
    pull = broken_pull(github, repository)
    github.run_ci()
    client = api.of(pull.repository)
    (run,) = github.workflow_runs(repository)
    (artifact,) = client.get(f"actions/runs/{run.id}/artifacts").json()["artifacts"]
    data = client.get(f"actions/artifacts/{artifact['id']}/zip")
    report = zipfile.ZipFile(io.BytesIO(httpx.get(data.headers["Location"], trust_env=False).content))
    assert "test_total" in report.read("report.xml").decode()
    archive = httpx.get(client.get(f"actions/runs/{run.id}/attempts/1/logs").headers["Location"], trust_env=False)
    assert zipfile.ZipFile(io.BytesIO(archive.content)).namelist() == ["0_test.txt"]
    github.expire_artifacts(run)
    assert client.get(f"actions/artifacts/{artifact['id']}").json()["expired"] is True
    assert client.get(f"actions/artifacts/{artifact['id']}/zip").status_code == 410


def test_report_job_gives_any_conclusion_and_log_without_running(github: LocalGitHub, api: Api) -> None:
    pull = broken_pull(github, shop(github))
    check = github.report_job(pull, name="lint", conclusion="timed_out", log="slow\n")
    assert check.conclusion == "timed_out"
    never = github.report_job(pull, Report(conclusion="skipped", log=None))
    assert logs_of(api.of(pull.repository), never.id).status_code == 404


def test_ci_can_run_by_itself() -> None:
    with LocalGitHub(options=Options(auto_ci=True)) as github:
        done = threading.Event()

        def receive(headers: object, body: bytes) -> int:
            if b'"workflow_run":' in body and b'"action":"completed"' in body:
                done.set()
            return 202

        github.receive_with(receive)
        pull = broken_pull(github, shop(github))
        assert done.wait(60)
        assert github.check(pull, "test").conclusion == "failure"


def test_no_variable_of_ours_reaches_a_step(github: LocalGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEDY_WEBHOOK_SECRET", "do not show")
    repository = shop(github)
    text = "on: push\njobs:\n  a:\n    steps: [{run: 'env; python -c \"import sys; print(sys.prefix)\"'}]\n"
    github.push("ann", repository, "odd", {".github/workflows/odd.yml": text})
    (check,) = github.run_ci()
    assert check.conclusion == "success"
    assert "do not show" not in github.job_log(check)
