"""Every writer of `app/github` against the local GitHub, which refuses what GitHub's own description refuses."""

import pytest

from app.github import actions, checks, comments, issues, pulls
from app.github.checks import ActionWrite, AnnotationWrite
from app.github.errors import (
    ForeignCheck,
    GitHubError,
    IssuesDisabled,
    PermissionMissing,
)
from app.github.pulls import PullWrite, ReviewComment
from app.github.tokens import Purpose
from tests.contracts.github_client.scene import ISSUE, MARKER, REPO, a_check, red_check


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
    changed = issues.update_issue(scene.writer, REPO, opened.number, f"{ISSUE}\nmore")
    assert (changed.title, len(changed.labels)) == ("A test fails", 2)
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
