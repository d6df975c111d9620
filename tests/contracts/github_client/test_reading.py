"""Every reader of `app/github` against the local GitHub, whose answers follow GitHub's own description."""

import zipfile

import pytest

from app.github import actions, apps, artifacts, checks, logs, permissions, pulls
from app.github import repositories as repos
from app.github.archives import unpack
from app.github.denied import permission_for
from tests.contracts.github_client.scene import RED, REPO, make, red_check
from tests.github import LocalGitHub
from tests.github.core import spec
from tests.github.core.permissions import ANY_TOKEN, APP, NEEDS, NOBODY
from tests.github.world import Options


def test_our_table_of_permissions_agrees_with_githubs_operations():
    """GH-22: for every operation on a repository that the local GitHub serves."""
    operations = spec.load().operations
    for name, needs in NEEDS.items():
        operation = operations[name]
        if needs in (APP, NOBODY, ANY_TOKEN) or not operation.path.startswith("/repos/{owner}/{repo}"):
            continue
        where = operation.path.replace("{owner}", "o").replace("{repo}", "r")
        assert permission_for(operation.method.upper(), where) in needs.replace("=", ": ").split("; "), name


def test_the_app_and_its_installation_are_read(scene):
    """GH-34."""
    app = apps.get_app(scene.client)
    assert (app.id, app.slug) == (scene.app_id, scene.hub.app.slug)
    assert app.permissions is not None and app.permissions["checks"] == "write"
    assert "check_run" in app.events
    installation = apps.find_installation(scene.client, scene.installation_id)
    assert installation is not None and installation.account is not None and installation.account.login == "acme"
    assert apps.find_installation(scene.client, 999) is None
    assert [repo.full_name for repo in apps.find_repositories(scene.client)] == [REPO]
    scene.hub.set_hook("http://127.0.0.1:9/webhook")
    assert apps.get_hook_config(scene.client).content_type == "json"


def test_a_repository_is_read(scene):
    repository = repos.get_repository(scene.reader, REPO)
    assert (repository.id, repository.default_branch, repository.private) == (scene.repository_id, "main", True)
    branch = repos.get_branch(scene.reader, REPO, "feature")
    assert branch is not None and (branch.sha, branch.protected) == (scene.sha, False)
    assert repos.get_branch(scene.reader, REPO, "a/b c") is None
    commit = repos.find_commit(scene.reader, REPO, scene.sha)
    assert commit is not None
    assert (commit.message, len(commit.parents), len(commit.tree)) == ("Break it", 1, 40)
    comparison = repos.find_comparison(scene.reader, REPO, "main", scene.sha)
    assert comparison is not None
    assert (comparison.status, comparison.ahead_by) == ("ahead", 1)
    assert comparison.merge_base == commit.parents[0].sha


def test_a_file_is_read_at_a_commit(scene):
    """IT-9: the base branch's copy, not the head's."""
    main = repos.get_branch(scene.reader, REPO, "main")
    assert main is not None
    assert repos.read_file(scene.reader, REPO, ".github/remedy.yml", main.sha) == b"enabled: true\n"
    assert repos.read_file(scene.reader, REPO, "check.sh", scene.sha) == RED.encode()
    assert repos.read_file(scene.reader, REPO, ".github", main.sha) is None
    assert repos.read_file(scene.reader, REPO, "nothing/here", main.sha) is None


def test_a_pull_request_is_read_and_found(scene):
    """F-C11, IT-10."""
    pull = pulls.get_pull(scene.reader, REPO, scene.number)
    assert (pull.number, pull.title, pull.body, pull.is_open, pull.is_fork) == (
        *(scene.number, "A feature", "text"),
        *(True, False),
    )
    assert (pull.head.ref, pull.head.sha, pull.base.ref) == ("feature", scene.sha, "main")
    assert pull.user is not None and pull.user.login == "amy"
    assert [found.number for found in pulls.find_open_pulls(scene.reader, REPO)] == [scene.number]
    assert [found.number for found in pulls.find_pulls_for_sha(scene.reader, REPO, scene.sha)] == [scene.number]
    assert [found.number for found in pulls.find_pulls_for_sha(scene.client, REPO, scene.sha)] == [scene.number]
    by_head = pulls.find_pull_by_head(scene.reader, REPO, "feature")
    assert by_head is not None and by_head.number == scene.number
    assert pulls.find_pull_by_head(scene.reader, REPO, "other") is None
    assert [file.filename for file in pulls.find_changed_files(scene.reader, REPO, scene.number)] == ["check.sh"]
    (commit,) = pulls.find_pull_commits(scene.reader, REPO, scene.number)
    assert (commit.sha, commit.commit.message) == (scene.sha, "Break it")


def test_a_pull_request_of_a_fork_is_known_as_one(here):
    """FK-1, F-C11."""
    here.hub.fork("eve", REPO)
    sha = here.hub.push("eve", "eve/billing", "patch", {"x": "1"}, "Patch")
    made = here.hub.open_pull("eve", REPO, "eve:patch")
    pull = pulls.get_pull(here.reader, REPO, made.thread.number)
    assert (pull.is_fork, pull.head.sha) == (True, sha)
    found = pulls.find_pulls_by_head(here.reader, REPO, "patch", owner="eve")
    assert [one.number for one in found] == [pull.number]


def test_checks_and_suites_of_a_commit_are_read(scene):
    check = red_check(scene)
    assert check.app is not None and check.app.slug == "github-actions"
    assert check.started_at is not None and check.completed_at is not None
    assert checks.get_check(scene.reader, REPO, check.id).id == check.id
    suites = checks.find_check_suites(scene.reader, REPO, scene.sha)
    assert check.check_suite is not None
    assert check.check_suite.id in [suite.id for suite in suites]
    assert {suite.conclusion for suite in suites if suite.app and suite.app.slug == "github-actions"} == {"failure"}


@pytest.mark.parametrize("id_rule", [True, False])
def test_the_job_behind_a_check_is_found(tmp_path, id_rule):
    """F-A1, F-A2: with the equal ids that GitHub does not promise, and without."""
    with LocalGitHub(options=Options(id_rule=id_rule)) as hub:
        scene = make(hub, tmp_path)
        with scene.client:
            check = red_check(scene)
            job = actions.get_job_for_check(scene.reader, REPO, check)
            assert job is not None
            assert (job.id == check.id, job.check_run_id, job.conclusion) == (id_rule, check.id, "failure")
            assert job.head_sha == scene.sha
            (run,) = actions.find_workflow_runs(scene.reader, REPO, check_suite_id=check.check_suite.id)
            assert (run.id, run.run_attempt) == (job.run_id, 1)
            assert run.id in [one.id for one in actions.find_workflow_runs(scene.reader, REPO, sha=scene.sha)]
            assert [one.id for one in actions.find_jobs(scene.reader, REPO, run.id)] == [job.id]


def test_a_check_of_another_app_has_no_job(here):
    """F-A1."""
    made = here.hub.foreign_check(REPO, here.sha, "lint", "failure")
    assert actions.get_job_for_check(here.reader, REPO, checks.get_check(here.reader, REPO, made.id)) is None


def test_a_log_and_an_archive_are_downloaded(scene, tmp_path):
    """GH-26, D-21: the store never sees our token."""
    check = red_check(scene)
    job = actions.get_job_for_check(scene.reader, REPO, check)
    assert job is not None
    result = logs.download_job_log(scene.reader, REPO, job.id, tmp_path / "log")
    assert (result.outcome, result.left_out) == ("read", 0)
    text = (tmp_path / "log").read_bytes()
    assert b"FAILED test_total" in text and len(text) == result.bytes_seen
    archive = logs.download_attempt_logs(scene.reader, REPO, job.run_id, 1, tmp_path / "logs.zip")
    assert archive.outcome == "read"
    unpacked = unpack(tmp_path / "logs.zip", tmp_path / "logs")
    assert unpacked.refused == ()
    assert any(b"FAILED test_total" in file.read_bytes() for file in unpacked.files)


def test_a_log_that_is_not_there_yet_or_any_more_is_said(here, tmp_path):
    """F-A4, F-A5."""
    job = actions.get_job_for_check(here.reader, REPO, red_check(here))
    assert job is not None
    here.hub.hold_log(job.check_run_id, 1)
    outcomes = [logs.download_job_log(here.reader, REPO, job.id, tmp_path / "log").outcome for _ in range(2)]
    assert outcomes == ["missing", "read"]
    here.hub.expire_log(job.check_run_id)
    assert logs.download_job_log(here.reader, REPO, job.id, tmp_path / "log").outcome in ("missing", "expired")
    assert logs.download_job_log(here.reader, REPO, 12345, tmp_path / "log").outcome == "missing"


def test_artifacts_are_found_and_compared(here, tmp_path):
    """F-A7."""
    here.hub.run_ci()
    runs = actions.find_workflow_runs(here.reader, REPO, sha=here.sha)
    found = [item for run in runs for item in artifacts.find_artifacts(here.reader, REPO, run.id)]
    assert [(item.name, item.expired) for item in found] == [("reports", False)] * len(runs)
    assert artifacts.download_artifact(here.reader, REPO, found[0], tmp_path / "a.zip").outcome == "read"
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["report.xml"]
    here.hub.expire_artifacts(runs.items[0].id)
    assert artifacts.download_artifact(here.reader, REPO, found[0], tmp_path / "a.zip").outcome == "expired"


def test_who_may_command_is_asked_live(here):
    """F-U1, F-U2, S29, GH-45."""
    for role in ("admin", "maintain", "write", "triage", "read"):
        here.hub.collaborator(REPO, f"{role}-person", role)
    asked = {
        role: permissions.permission_of(here.reader, REPO, f"{role}-person")
        for role in ("admin", "maintain", "write", "triage", "read", "unknown")
    }
    assert asked == {
        "admin": "admin",
        "maintain": "write",
        "write": "write",
        "triage": "read",
        "read": "read",
        "unknown": "none",
    }
    assert permissions.standing_of(here.reader, REPO, "maintain-person").role_name == "maintain"
    here.hub.outage(times=4)
    assert permissions.permission_of(here.reader, REPO, "admin-person") == "none"
