"""Every reader and writer of `app/github` against the local GitHub, whose answers follow GitHub's own description."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.errors import TransientError
from app.github import actions, apps, artifacts, checks, comments, deliveries, issues, logs, permissions, pulls
from app.github import repositories as repos
from app.github.archives import unpack
from app.github.calls import Pace
from app.github.checks import ActionWrite, AnnotationWrite, CheckWrite
from app.github.client import Client
from app.github.errors import (
    ForeignCheck,
    GitHubError,
    InstallationGone,
    IssuesDisabled,
    PermissionMissing,
    RateLimited,
    RepositoryGone,
)
from app.github.paths import path
from app.github.pulls import PullWrite, ReviewComment
from app.github.tokens import Purpose
from app.settings import GitHubSettings, Settings
from tests.github import LocalGitHub
from tests.github.core.state import Pull
from tests.github.world import Options

REPO = "acme/billing"
WORKFLOW = """\
name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh ./check.sh
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: reports, path: report.xml}
"""
RED = "echo '<testsuite/>' > report.xml; echo FAILED test_total; exit 1\n"
FILES = {
    ".github/workflows/ci.yml": WORKFLOW,
    ".github/remedy.yml": "enabled: true\n",
    "check.sh": "echo all good\n",
    "README.md": "line one\nline two\n",
}


@dataclass
class Scene:
    """A repository with an open pull request by amy whose CI is queued, and the app's client."""

    hub: LocalGitHub
    client: Client
    pull: Pull
    installation_id: int
    repository_id: int

    @property
    def app_id(self) -> int:
        return self.hub.app.id

    @property
    def reader(self) -> Client:
        return self.client.acting(Purpose.READ, self.repository_id)

    @property
    def writer(self) -> Client:
        return self.client.acting(Purpose.DELIVER, self.repository_id)

    @property
    def number(self) -> int:
        return self.pull.thread.number

    @property
    def sha(self) -> str:
        return self.pull.head_sha


def settings_for(hub: LocalGitHub, folder: Path, version: str) -> Settings:
    return Settings(
        data=folder,
        app_id=hub.app.id,
        app_slug=hub.app.slug,
        private_key=hub.app.pem,
        github=GitHubSettings(api_url=hub.api_url, web_url=hub.web_url, api_version=version),
    )


def make(hub: LocalGitHub, tmp_path: Path, version: str = "2022-11-28") -> Scene:
    repository = hub.create_repo(REPO, FILES)
    hub.collaborator(REPO, "amy", "write")
    hub.push("amy", REPO, "feature", {"check.sh": RED}, "Break it")
    pull = hub.open_pull("amy", REPO, "feature", title="A feature", body="text")
    settings, pace = settings_for(hub, tmp_path, version), Pace(now_ms=hub.now_ms, sleep=lambda _: None)
    with Client(settings, None, pace=pace) as app:
        (installation,) = apps.find_installations(app)
    client = Client(settings, installation.id, pace=pace)
    return Scene(hub, client, pull, installation.id, repository.id)


@pytest.fixture(params=["2022-11-28", "2026-03-10"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    """Under both versions of the API (D-12)."""
    with LocalGitHub() as hub:
        made = make(hub, tmp_path, request.param)
        with made.client:
            yield made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Scene]:
    """Under one version, for what does not differ."""
    with LocalGitHub() as hub:
        made = make(hub, tmp_path)
        with made.client:
            yield made


def a_check(scene: Scene, **changes: object) -> CheckWrite:
    facts = {
        "name": "Remedy",
        "head_sha": scene.sha,
        "external_id": f"pr:{scene.number}",
        "status": "in_progress",
        "title": "Reading the log",
        "summary": "One check failed.",
    }
    return CheckWrite.model_validate({**facts, **changes})


def red_check(scene: Scene) -> checks.CheckRun:
    """The check of the job that really ran and failed."""
    scene.hub.run_ci()
    return next(run for run in checks.find_check_runs(scene.reader, REPO, scene.sha) if run.conclusion == "failure")


# Reading


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


# Writing


def test_our_check_is_opened_found_and_changed(scene):
    """F-C8, PJ-12, GH-17."""
    assert checks.find_our_check(scene.writer, REPO, scene.sha, scene.app_id, f"pr:{scene.number}") is None
    opened = checks.open_check(scene.writer, REPO, a_check(scene))
    found = checks.find_our_check(scene.writer, REPO, scene.sha, scene.app_id, f"pr:{scene.number}")
    assert found is not None and found.id == opened.id
    assert checks.find_our_check(scene.writer, REPO, scene.sha, scene.app_id, "other") is None
    note = AnnotationWrite(path="check.sh", start_line=1, end_line=1, annotation_level="failure", message="exit 1")
    write = a_check(
        scene,
        status="completed",
        conclusion="neutral",
        text="more",
        details_url="https://remedy.example/runs/1",
        actions=(ActionWrite(label="Fix", description="Start a repair", identifier="fix"),),
        annotations=(note,),
    )
    changed = checks.update_check(scene.writer, REPO, opened.id, write)
    assert changed.says(write) and not found.says(write)
    assert [one.message for one in checks.find_annotations(scene.reader, REPO, opened.id)] == ["exit 1"]
    again = checks.update_check(scene.writer, REPO, opened.id, a_check(scene, status="queued"))
    assert (again.status, again.conclusion) == ("queued", None)


def test_of_two_checks_with_our_key_the_newest_counts(here):
    """F-C8: GitHub makes a second one without a word, and shows the newest."""
    first = checks.open_check(here.writer, REPO, a_check(here))
    second = checks.open_check(here.writer, REPO, a_check(here))
    found = checks.find_our_check(here.writer, REPO, here.sha, here.app_id, f"pr:{here.number}")
    assert found is not None and found.id == second.id > first.id


def test_a_check_of_another_app_cannot_be_changed(here):
    """F-C6."""
    made = here.hub.foreign_check(REPO, here.sha, "lint", "failure")
    with pytest.raises(ForeignCheck):
        checks.update_check(here.writer, REPO, made.id, a_check(here))


MARKER = "<!-- remedy:status pr:1 v1 -->"


def test_our_comment_is_opened_found_and_changed(scene):
    """GH-15, S16: a marker in somebody else's comment is ignored."""
    scene.hub.comment("amy", scene.pull.thread, f"{MARKER}\nnot by the app")
    assert comments.find_our_comment(scene.writer, REPO, scene.number, scene.app_id, MARKER) is None
    opened = comments.open_comment(scene.writer, REPO, scene.number, f"{MARKER}\nhello")
    comments.open_comment(scene.writer, REPO, scene.number, "<!-- remedy:reply 5 v1 -->\nother")
    found = comments.find_our_comment(scene.writer, REPO, scene.number, scene.app_id, MARKER)
    assert found is not None and found.id == opened.id
    changed = comments.update_comment(scene.writer, REPO, opened.id, f"{MARKER}\nchanged")
    assert changed.body == f"{MARKER}\nchanged"
    read = comments.find_comment(scene.reader, REPO, opened.id)
    assert read is not None and read.body == changed.body
    assert comments.find_comment(scene.reader, REPO, 12345) is None


def test_of_two_comments_of_ours_the_oldest_is_kept(here):
    """GH-16."""
    ids = [comments.open_comment(here.writer, REPO, here.number, f"{MARKER}\n{n}").id for n in range(3)]
    found = comments.find_our_comments(here.writer, REPO, here.number, here.app_id, MARKER)
    assert [comment.id for comment in found] == ids


def test_reactions_come_and_go(scene):
    """GH-46, F-I4."""
    comment = scene.hub.comment("amy", scene.pull.thread, "/remedy fix")
    first = comments.add_reaction(scene.writer, REPO, comment.id, "eyes")
    assert comments.add_reaction(scene.writer, REPO, comment.id, "eyes") == first
    comments.remove_own_reaction(scene.writer, REPO, comment.id, "eyes")
    assert comments.add_reaction(scene.writer, REPO, comment.id, "eyes") != first


def test_a_comment_at_a_line_is_answered(here):
    """F-I10, GH-46."""
    made = here.hub.review_comment("amy", here.pull, "/remedy fix", "check.sh")
    reply = comments.open_review_reply(here.writer, REPO, here.number, made.id, "done")
    assert reply.body == "done"
    assert comments.add_reaction(here.writer, REPO, made.id, "eyes", "review") > 0
    comments.remove_own_reaction(here.writer, REPO, made.id, "eyes", "review")


ISSUE = "<!-- remedy:issue f1 v1 -->"


def test_our_issue_is_opened_found_changed_closed_and_opened_again(scene):
    """GH-15, IT-27, IT-28."""
    scene.hub.open_issue("amy", REPO, "not ours", f"{ISSUE}\ntext")
    slug = scene.hub.app.slug
    assert issues.find_our_issue(scene.writer, REPO, slug, ISSUE) is None
    issues.open_label(scene.writer, REPO, "remedy", "d73a4a", "Found by Remedy")
    issues.open_label(scene.writer, REPO, "remedy", "d73a4a", "Found by Remedy")
    opened = issues.open_issue(scene.writer, REPO, "A test fails", f"{ISSUE}\ntext", ["remedy", "e2e-fail-1"])
    assert {label.name for label in opened.labels} == {"remedy", "e2e-fail-1"}
    for label in ("", "remedy"):
        found = issues.find_our_issue(scene.writer, REPO, slug, ISSUE, label)
        assert found is not None and found.number == opened.number
    changed = issues.update_issue(scene.writer, REPO, opened.number, "Two tests fail", f"{ISSUE}\nmore")
    assert (changed.title, len(changed.labels)) == ("Two tests fail", 2)
    closed = issues.close_issue(scene.writer, REPO, opened.number)
    assert (closed.state, closed.state_reason) == ("closed", "completed")
    found = issues.find_our_issue(scene.writer, REPO, slug, ISSUE)
    assert found is not None and found.state == "closed"
    assert issues.reopen_issue(scene.writer, REPO, opened.number).state == "open"
    assert issues.get_issue(scene.reader, REPO, opened.number).body == f"{ISSUE}\nmore"


def test_switched_off_issues_are_an_error_of_their_own(here):
    """F-I5."""
    here.hub.settings(REPO, has_issues=False)
    with pytest.raises(IssuesDisabled):
        issues.open_issue(here.writer, REPO, "t", "b")


def test_a_pull_request_is_opened_and_changed(scene):
    """F-P3, decision 63: ours, never a draft."""
    scene.hub.push("amy", REPO, "remedy/tag/run", {"check.sh": "exit 0\n"}, "Fix it", base="feature")
    write = PullWrite(title="Fix it", body="<!-- remedy:pull run v1 -->\ntext", head="remedy/tag/run", base="feature")
    opened = pulls.open_pull(scene.writer, REPO, write)
    assert (opened.is_open, opened.draft, opened.base.ref) == (True, False, "feature")
    found = pulls.find_pull_by_head(scene.writer, REPO, "remedy/tag/run")
    assert found is not None and found.number == opened.number
    with pytest.raises(GitHubError) as error:
        pulls.open_pull(scene.writer, REPO, write)
    assert error.value.status == 422
    assert pulls.update_pull(scene.writer, REPO, opened.number, "Fixed", "new").title == "Fixed"
    assert pulls.close_pull(scene.writer, REPO, opened.number).is_open is False
    assert pulls.get_pull(scene.reader, REPO, opened.number).is_merged is False


def test_a_review_carries_suggestions(here):
    """FK-2, PB-3."""
    remark = ReviewComment(path="check.sh", line=1, body="```suggestion\nexit 0\n```")
    review = pulls.open_review(here.writer, REPO, here.number, here.sha, "<!-- remedy:review r v1 -->", (remark,))
    assert review.id in [one.id for one in pulls.find_reviews(here.reader, REPO, here.number)]


def test_a_branch_is_brought_up_to_date(here):
    """IT-26."""
    here.hub.push("amy", REPO, "main", {"other": "1"}, "Move the base")
    with pytest.raises(GitHubError) as error:
        pulls.update_branch(here.writer, REPO, here.number, "0" * 40)
    assert error.value.status == 422
    before = here.sha
    pulls.update_branch(here.writer, REPO, here.number, before)
    assert here.hub.pull(f"{REPO}#{here.number}").head_sha != before


def test_failed_jobs_run_again_only_with_the_right_to_it(here):
    """Decision 6, F-A8."""
    job = actions.get_job_for_check(here.reader, REPO, red_check(here))
    assert job is not None
    with pytest.raises(PermissionMissing) as error:
        actions.rerun_failed_jobs(here.client.acting(Purpose.RERUN, here.repository_id), REPO, job.run_id)
    assert error.value.permission == "actions: write"
    here.hub.grant(REPO, "actions", "write")
    here.hub.expire_tokens()
    actions.rerun_failed_jobs(here.client.acting(Purpose.RERUN, here.repository_id), REPO, job.run_id)
    runs = actions.find_workflow_runs(here.reader, REPO, sha=here.sha)
    assert {run.id: run.run_attempt for run in runs}[job.run_id] == 2


# When things go wrong


@pytest.mark.parametrize(
    ("operation", "write"),
    [
        ("issues/create-comment", lambda s: comments.open_comment(s.writer, REPO, s.number, f"{MARKER}\nx")),
        ("issues/create", lambda s: issues.open_issue(s.writer, REPO, "t", f"{ISSUE}\nx")),
        ("checks/create", lambda s: checks.open_check(s.writer, REPO, a_check(s))),
    ],
    ids=["comment", "issue", "check"],
)
def test_a_write_whose_answer_is_lost_was_sent_once_and_can_be_found(here, operation, write):
    """GH-5, GH-13, D-35: stored, but the answer never came."""
    here.hub.lost_answer(operation)
    with pytest.raises(TransientError) as error:
        write(here)
    assert error.value.outcome == "unknown"
    assert len(here.hub.log(operation)) == 1
    found = {
        "issues/create-comment": lambda: comments.find_our_comment(here.writer, REPO, here.number, here.app_id, MARKER),
        "issues/create": lambda: issues.find_our_issue(here.writer, REPO, here.hub.app.slug, ISSUE),
        "checks/create": lambda: checks.find_our_check(here.writer, REPO, here.sha, here.app_id, f"pr:{here.number}"),
    }[operation]()
    assert found is not None


def test_an_outage_of_seconds_is_not_noticed_by_a_read(here):
    """B2."""
    here.hub.outage(times=1)
    assert pulls.get_pull(here.reader, REPO, here.number).number == here.number


@pytest.mark.parametrize("retry_after_s", [60, None])
def test_a_secondary_limit_is_for_the_installation(here, retry_after_s):
    """GH-9, D-37: with and without the header."""
    here.hub.secondary(retry_after_s, op="issues/create-comment")
    with pytest.raises(RateLimited) as error:
        comments.open_comment(here.writer, REPO, here.number, "x")
    assert error.value.told is (retry_after_s is not None)
    assert error.value.retry_at is not None
    assert here.hub.comments(here.pull.thread, by=here.hub.app.bot.login) == []


def test_expired_tokens_are_minted_anew(here):
    """F-T7, GH-8."""
    assert pulls.get_pull(here.reader, REPO, here.number)
    here.hub.expire_tokens()
    assert pulls.get_pull(here.reader, REPO, here.number)
    assert comments.open_comment(here.writer, REPO, here.number, "x")


def test_a_suspended_installation_is_gone(here):
    """GH-8."""
    here.hub.suspend(REPO)
    with pytest.raises(InstallationGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_removed_installation_is_gone(here):
    """GH-8."""
    here.client.delete(path("app", "installations", here.installation_id))
    with pytest.raises(InstallationGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_repository_that_left_the_installation_is_told_apart(here):
    """F-T3."""
    here.hub.uninstall(REPO)
    with pytest.raises(RepositoryGone):
        pulls.get_pull(here.reader, REPO, here.number)


def test_a_permission_that_was_taken_away_is_named(here):
    """GH-22, GH-34."""
    here.hub.grant(REPO, "issues", "read")
    with pytest.raises(PermissionMissing, match=r"`issues: write`.*installations"):
        issues.open_issue(here.writer, REPO, "t", "b")


def test_a_token_opens_one_repository_and_one_purpose(here):
    """GH-20, S33."""
    other = here.hub.create_repo("acme/other", {"a": "1"})
    for call in (
        lambda: repos.get_repository(here.reader, "acme/other"),
        lambda: comments.open_comment(here.reader, REPO, here.number, "x"),
        lambda: pulls.get_pull(here.client.acting(Purpose.CLONE, here.repository_id), REPO, here.number),
    ):
        with pytest.raises((GitHubError, PermissionMissing)):
            call()
    there = here.client.acting(Purpose.READ, other.id)
    assert repos.get_repository(there, "acme/other").id == other.id


def test_a_renamed_repository_is_found_by_its_old_name(here):
    """GH-32."""
    here.hub.rename(REPO, "invoices")
    repository = repos.get_repository(here.reader, REPO)
    assert (repository.id, repository.full_name) == (here.repository_id, "acme/invoices")


def test_failed_deliveries_are_listed_and_asked_for_again(here):
    """GH-35, F-W4, F-W5."""
    got: list[str] = []
    here.hub.receive_with(lambda headers, body: 500)
    here.hub.comment("amy", here.pull.thread, "hello")
    here.hub.settle()
    failed = deliveries.list_failed_deliveries(here.client, 0)
    mine = [one for one in failed if one.event == "issue_comment"]
    assert len(mine) == 1
    here.hub.receive_with(lambda headers, body: (got.append(json.dumps(dict(headers)).lower()), 202)[1])
    deliveries.request_redelivery(here.client, mine[0].id)
    here.hub.settle()
    assert any(mine[0].guid in headers for headers in got)
    newest = max(one.id for one in failed)
    assert list(deliveries.list_failed_deliveries(here.client, 0, last_seen_id=newest)) == []
    assert list(deliveries.list_failed_deliveries(here.client, here.hub.now_ms() + 60_000)) == []
    attempts = [one for one in deliveries.find_attempts(here.client, 0) if one.guid == mine[0].guid]
    assert sorted(one.redelivery for one in attempts) == [False, True]


def test_a_long_list_is_read_to_its_end(here):
    """GH-37."""
    for number in range(120):
        here.hub.comment("amy", here.pull.thread, f"comment {number}")
    comments.open_comment(here.writer, REPO, here.number, f"{MARKER}\nlast")
    found = comments.find_our_comment(here.writer, REPO, here.number, here.app_id, MARKER)
    assert found is not None and found.body.endswith("last")
