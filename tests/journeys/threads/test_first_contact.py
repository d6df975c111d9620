"""What a first real user meets: files with mistakes, permissions that are missing, logs that are not there."""

from collections.abc import Callable

import pytest

from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO, STRANGER

POLICY = ".github/remedy.yml"


@pytest.mark.parametrize(
    "policy", [None, "enabled: '1'\n", "enabled: yes-please\n", "enabled: false\n", "enabled: yes\n", ""]
)
def test_without_exactly_true_there_is_silence_a1_it8_w88(a_place: Callable[..., Place], policy: str | None) -> None:
    place = a_place(policy)
    number = place.red_pull()
    place.settle()

    assert place.comments(number) == [] and place.check(number) is None and place.issues() == []
    assert not [asked for asked in place.github.log(writes_only=True) if "access_tokens" not in asked.path]


def test_a_mistake_in_the_policy_is_named_with_file_and_line_a16_it9(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nmax_failures: many\n")
    number = place.red_pull()
    place.settle()

    check = place.check(number)
    assert (check.conclusion, check.title) == ("neutral", "Configuration mistake, .github/remedy.yml:2")
    (comment,) = place.comments(number)
    assert f"[`{POLICY}`]" in comment and f"/blob/main/{POLICY}#L2" in comment
    assert "A maintainer's turn" in comment and "max_failures: many" in comment
    assert place.issues() == []


def test_resume_reads_a_corrected_policy_again(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\nmax_failures: many\n")
    number = place.red_pull()
    place.settle()

    place.github.push(MAINTAINER, REPO, "main", {POLICY: "enabled: true\n"})
    place.github.comment(MAINTAINER, place.thread(number), "/remedy resume")
    place.settle()

    assert place.outcome(number) == "run_started"


def test_a_pull_request_that_breaks_its_policy_is_told_at_once_w94_row72(place: Place) -> None:
    number = place.pull("typo", files={POLICY: "enabled: true\nrepair_onn: 2\n"})
    place.settle()

    check = place.check(number)
    assert (check.conclusion, check.title) == ("neutral", "Configuration mistake, .github/remedy.yml:2")
    assert "repair_on" in check.summary and "Your turn" in check.summary
    assert place.comments(number) == []

    place.github.push(AUTHOR, REPO, "typo", {POLICY: "enabled: true\nrepair_on: 2\n"})
    place.settle()
    assert place.check(number) is None


def test_a_correct_edit_of_the_policy_says_nothing_row72(place: Place) -> None:
    number = place.pull("tune", files={POLICY: "enabled: true\nrepair_on: 2\n"})
    place.settle()
    assert place.check(number) is None and place.comments(number) == []


def test_a_head_cannot_change_the_rules_it_is_judged_by_w93_s37(place: Place) -> None:
    """Its own broken file adds one line to the check, and the base's policy goes on to count."""
    number = place.pull("rules", files={POLICY: "enabled: true\ncauses: [everything]\n"})
    place.fail(number)
    place.settle()

    assert place.outcome(number) == "run_started"
    assert f"`{POLICY}` of this pull request has a mistake on line 2" in place.check(number).summary


def test_the_first_pull_request_with_a_policy_is_checked_too_and_a_stranger_s_is_not(
    a_place: Callable[..., Place],
) -> None:
    place = a_place(None)
    number = place.pull("begin", files={POLICY: "enabled: true\nbranchs: [main]\n"})
    place.github.fork(STRANGER, REPO)
    place.github.push(STRANGER, f"{STRANGER}/listing", "begin", {POLICY: "enabled: true\nbranchs: [main]\n"})
    strange = place.github.open_pull(STRANGER, REPO, f"{STRANGER}:begin").thread.number
    place.settle()

    assert place.check(number).title == "Configuration mistake, .github/remedy.yml:2"
    assert place.check(strange) is None


def test_the_organisation_fills_what_the_repository_leaves_out_row78(a_place: Callable[..., Place]) -> None:
    place = a_place("enabled: true\n")
    place.github.create_repo("acme/.github", {POLICY: "enabled: false\nissues: never\n"})
    number = place.red_pull()
    place.settle()

    assert place.outcome(number) == "run_started"
    assert place.issues() == []


def test_a_missing_permission_to_read_is_named_with_its_link_w95(place: Place) -> None:
    number = place.red_pull()
    place.github.grant(REPO, "actions", None)
    place.settle()

    check = place.check(number)
    assert check.conclusion == "neutral"
    (comment,) = place.comments(number)
    assert "Remedy lacks the permission actions: read on this repository." in comment
    assert "[accept the permission](" in comment and "/installations/" in comment


def test_a_missing_permission_to_write_issues_is_said_where_it_can_be_w95(place: Place) -> None:
    place.github.grant(REPO, "issues", "read")
    number = place.red_pull()
    place.settle()

    assert place.issues() == []
    check = place.check(number)
    assert check is None or "issues: write" in check.summary


def test_issues_that_are_switched_off_are_said_in_the_comment_f_i5(place: Place) -> None:
    place.github.settings(REPO, has_issues=False)
    number = place.red_pull()
    place.settle()

    (comment,) = place.comments(number)
    assert "Issues are switched off in this repository" in comment
    assert place.outcome(number) == "run_started"


@pytest.mark.long
@pytest.mark.parametrize(
    ("wish", "cause", "count"),
    [("always", "pull", 1), ("base", "pull", 0), ("base", "base", 1), ("never", "pull", 0), ("never", "base", 0)],
)
def test_policy_says_for_what_there_are_issues_row23(
    a_place: Callable[..., Place], wish: str, cause: str, count: int
) -> None:
    place = a_place(f"enabled: true\nissues: {wish}\n", green=cause == "pull")
    if cause == "base":
        place.base("failure", logs.red())
    number = place.red_pull()
    place.settle()

    assert place.causes(number) == ["this_change" if cause == "pull" else "base_red"]
    assert len(place.issues()) == count


@pytest.mark.parametrize(("wish", "count"), [("always", 1), ("when_needed", 0), ("never", 0)])
def test_policy_says_when_there_is_a_comment_ux_n5(a_place: Callable[..., Place], wish: str, count: int) -> None:
    place = a_place(f"enabled: true\ncomment: {wish}\n")
    number = place.red_pull()
    place.settle()
    assert len(place.comments(number)) == count
    assert place.check(number).status == "in_progress"


def test_a_log_that_never_comes_is_unavailable_and_says_what_was_asked_a3_it14_w9(place: Place) -> None:
    number = place.pull()
    place.fail(number, None)
    place.github.hold_log(place.github.check(place.thread(number), "unit"), 1000)
    place.settle()

    assert place.outcome(number) == "log_unavailable"
    (comment,) = place.comments(number)
    assert "| `unit` | 6 times in 4 minutes | 404, not there |" in comment
    assert "This does **not** mean that no test failed." in comment
    assert (place.check(number).conclusion, place.check(number).title) == (
        "neutral",
        "Log cannot be read, nothing started",
    )


def test_an_expired_log_is_treated_alike_f_a5(place: Place) -> None:
    number = place.red_pull()
    place.github.expire_log(place.github.check(place.thread(number), "unit"))
    place.settle()
    assert place.outcome(number) == "log_unavailable"
    assert "410, no longer kept" in place.comments(number)[0]


def test_a_log_that_comes_late_is_read_w9(place: Place) -> None:
    number = place.red_pull()
    place.github.hold_log(place.github.check(place.thread(number), "unit"), 2)
    place.settle()
    assert place.outcome(number) == "run_started"


def test_a_log_without_a_test_starts_nothing_a2_it17_w2(place: Place) -> None:
    number = place.red_pull(logs.nothing_known())
    place.settle()

    assert place.outcome(number) == "no_tests_recognised"
    assert (place.check(number).conclusion, place.check(number).title) == ("neutral", "No failing tests recognised")
    assert place.world.run_of(number) is None


def test_a_broken_build_is_told_by_its_first_error(place: Place) -> None:
    number = place.red_pull(logs.broken_build())
    place.settle()

    assert place.outcome(number) == "no_tests_recognised"
    said = "src/cart.ts, line 12: TS2322 Type 'string' is not assignable to type 'number'. (and 1 more)"
    assert f"The log shows: {said}" in place.comments(number)[0]


def test_a_log_too_long_to_be_read_whole_says_so_w4_it15(a_place: Callable[..., Place]) -> None:
    place = a_place(limits={"running": 100, "log_bytes": 4000})
    number = place.red_pull(logs.red() + "filler\n" * 1000 + logs.red())
    place.settle()

    assert "The log is too long to be read whole: " in place.comments(number)[0]


@pytest.mark.parametrize("conclusion", ["success", "neutral", "skipped", "cancelled"])
def test_what_is_not_red_asks_github_nothing_a2_it6(place: Place, conclusion: str) -> None:
    number = place.pull()
    place.settle()
    before = len(place.github.log())
    place.github.report_job(place.thread(number), name="unit", conclusion=conclusion, log="")
    place.settle()
    assert len(place.github.log()) == before and place.check(number) is None


WORKFLOW = "name: CI\non: pull_request\njobs:\n  unit:\n    name: unit\n    steps:\n      - run: exit 0\n"


def test_ci_that_waits_for_a_person_is_not_a_failure_w48_f_a11(place: Place) -> None:
    place.github.push(MAINTAINER, REPO, "main", {".github/workflows/ci.yml": WORKFLOW})
    place.github.ci_needs_approval(AUTHOR)
    number = place.pull()
    place.settle()

    assert (place.check(number).conclusion, place.check(number).title) == ("neutral", "CI waits for approval")
    assert place.comments(number) == []

    place.github.approve_ci(MAINTAINER, place.thread(number))
    place.github.run_ci()
    place.settle()
    assert place.outcome(number) == "nothing_failed"
