"""GitHub's moods: limits, faults with and without effect, late data, renamed places, old servers, and a storm."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from tests.github import Options
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import MAINTAINER, REPO

WRITES = ("checks/create", "issues/create", "issues/create-comment")


def _once(place: Place, number: int) -> None:
    """What people see after any mood: one comment, one check, one issue."""
    assert len(place.comments(number)) == 1
    assert place.check(number) is not None
    assert len(place.issues()) == 1
    assert place.outcome(number) == "run_started"


@pytest.mark.parametrize("op", WRITES)
def test_an_answer_that_was_lost_makes_nothing_twice_d35_ob5_w13(place: Place, op: str) -> None:
    number = place.pull()
    place.settle()
    place.github.lost_answer(op)
    place.fail(number)
    place.settle()
    _once(place, number)


@pytest.mark.parametrize("op", WRITES)
def test_a_5xx_without_effect_is_tried_again(place: Place, op: str) -> None:
    number = place.pull()
    place.settle()
    place.github.fault(op=op, status=502, times=2)
    place.fail(number)
    place.settle()
    _once(place, number)


@pytest.mark.parametrize("retry_after_s", [60, None])
def test_a_secondary_limit_holds_the_installation_and_loses_nothing_gh9_gh10_ob6(
    place: Place, retry_after_s: int | None
) -> None:
    number = place.pull()
    place.settle()
    place.github.secondary(retry_after_s, op="checks/create")
    started = place.world.now()
    place.fail(number)
    place.settle()
    _once(place, number)
    assert place.world.now() - started >= 60_000


def test_a_limit_while_reading_is_waited_for(place: Place) -> None:
    number = place.pull()
    place.settle()
    place.github.secondary(60, op="actions/download-job-logs-for-workflow-run")
    place.fail(number)
    place.settle()
    _once(place, number)


def test_data_that_comes_after_its_event_is_asked_for_again_gh12_w10(place: Place) -> None:
    number = place.pull()
    place.settle()
    place.github.fault(
        op="repos/list-pull-requests-associated-with-commit", status=404, body={"message": "Not Found"}, times=2
    )
    place.fail(number)
    place.settle()
    _once(place, number)


def test_a_whole_outage_is_sat_out(place: Place) -> None:
    number = place.pull()
    place.settle()
    place.github.outage(times=25)
    place.fail(number)
    place.settle()
    _once(place, number)


def test_dead_tokens_are_minted_again_gh19(place: Place) -> None:
    number = place.red_pull()
    place.github.expire_tokens()
    place.settle()
    _once(place, number)


def test_a_suspended_installation_is_left_alone_and_goes_on_afterwards_gh8(place: Place) -> None:
    number = place.red_pull()
    place.world.step("intake")
    place.github.suspend(REPO)
    place.settle()
    assert place.comments(number) == []

    place.github.unsuspend(REPO)
    place.settle()
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()
    assert len(place.comments(number)) == 1 and len(place.issues()) == 1


def test_a_repository_that_is_taken_out_ends_its_runs_t24(place: Place) -> None:
    place.red_pull()
    place.settle()
    place.github.uninstall(REPO)
    place.settle()
    (run,) = place.runs()
    assert (run.status.value, run.cancel_reason) == ("CANCELLED", "installation_gone")


def test_a_renamed_repository_is_followed_gh32(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    place.github.rename(REPO, "catalogue")
    place.github.comment(MAINTAINER, f"acme/catalogue#{number}", "/remedy block")
    place.settle()

    login = f"{place.github.app.slug}[bot]"
    (comment,) = place.github.comments(f"acme/catalogue#{number}", login)
    assert f"stopped by `{MAINTAINER}`" in comment.body.lower()


def test_a_write_after_a_rename_that_nobody_told_us_of_still_arrives_gh32(place: Place) -> None:
    number = place.red_pull()
    place.settle_to("deliver")
    place.github.rename(REPO, "catalogue")
    place.settle()
    login = f"{place.github.app.slug}[bot]"
    assert len(place.github.comments(f"acme/catalogue#{number}", login)) == 1


def test_an_enterprise_server_is_spoken_to_below_api_v3_d13_f_s1(a_place: Callable[..., Place]) -> None:
    place = a_place(options=Options(auto_ci=False, ghes=True))
    number = place.red_pull()
    place.settle()
    _once(place, number)
    assert all(asked.path.startswith("/api/v3/") for asked in place.github.log() if asked.operation != "git")


@pytest.mark.parametrize("version", ["2022-11-28", "2026-03-10"])
def test_both_api_versions_give_the_same_d12_f_v2(a_place: Callable[..., Place], version: str) -> None:
    place = a_place(options=Options(auto_ci=False), api_version=version)
    number = place.red_pull()
    place.settle()
    _once(place, number)


def test_job_ids_that_are_no_check_ids_are_followed_d28_f_a1(a_place: Callable[..., Place]) -> None:
    place = a_place(options=Options(auto_ci=False, id_rule=False))
    number = place.red_pull()
    place.settle()
    _once(place, number)


def test_a_comment_that_a_person_deleted_is_not_posted_again_in_this_run_ob10(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    (comment,) = place.github.comments(place.thread(number), f"{place.github.app.slug}[bot]")
    place.github.delete_comment(MAINTAINER, comment)
    place.github.comment(MAINTAINER, place.thread(number), "/remedy block")
    place.settle()
    assert place.comments(number) == [] and place.check(number).conclusion == "cancelled"


def test_a_marker_of_a_stranger_means_nothing_s16_w15_w80(place: Place) -> None:
    number = place.pull()
    place.github.comment("eve", place.thread(number), "<!-- remedy:status pr:1 v1 -->\nI am Remedy")
    place.fail(number)
    place.settle()
    _once(place, number)


def test_one_delivery_many_times_is_one_it2_it3_w101(place: Place) -> None:
    number = place.pull()
    place.github.hook_fault("duplicate", event="check_run", times=None)
    place.fail(number)
    for delivery in list(place.github.deliveries("check_run", "completed")):
        place.github.redeliver(delivery.guid)
    place.settle()
    _once(place, number)


@pytest.mark.parametrize(
    ("pulls", "failures"),
    [(8, 4), pytest.param(50, 20, marks=[pytest.mark.long, pytest.mark.timeout(900)])],
)
def test_a_storm_of_pull_requests_is_one_incident(a_place: Callable[..., Place], pulls: int, failures: int) -> None:
    """The same failures of the base, delivered twice, shuffled, with 10 % faults and secondary limits."""
    tests = [f"tests/test_part_{n}.py::test_case_{n}" for n in range(failures)]
    log = logs.many([(test, f"assert {n} == {n + 1}") for n, test in enumerate(tests)])
    place = a_place(green=False, times={"quiet_s": 2, "siblings_s": 20, "comment_pace_s": 0, "write_pace_s": 1})
    place.base("failure", log)
    numbers = [place.pull(f"branch-{n}") for n in range(pulls)]
    place.settle()

    place.github.shuffle_hooks(7)
    place.github.hook_fault("duplicate", event="check_run", times=None)
    place.github.flaky(0.1, seed=3)
    place.github.fault(
        limit="secondary",
        times=3,
        p=0.02,
        seed=5,
        op="issues/create|issues/create-comment|checks/create",
        optional=True,
    )
    order = list(numbers)
    random.Random(1).shuffle(order)
    for number in order:
        place.fail(number, log)
    place.settle(20_000)
    place.github.lift()
    place.settle(20_000)

    titles = Counter(issue.title for issue in place.issues())
    assert len(titles) == failures and set(titles.values()) == {1}
    for number in numbers:
        assert len(place.comments(number)) == 1, number
        assert place.causes(number) == ["base_red"] * failures
        check = place.check(number)
        assert (check.status, check.conclusion) == ("completed", "neutral")
    assert _most_in_a_minute(place) <= 60


def _most_in_a_minute(place: Place) -> int:
    """The largest number of content writes of ours within any 60 s (GH-11)."""
    times = [asked.at for asked in place.github.log(writes_only=True) if "access_tokens" not in asked.path]
    return max(sum(start <= at < start + 60_000 for at in times) for start in times)


def test_a_status_comment_that_was_posted_twice_is_one_again_gh16_row81(place: Place) -> None:
    """GitHub stored it and lost the answer, and its list did not show it yet when we looked."""
    number = place.pull()
    place.settle()
    place.github.lost_answer("issues/create-comment")
    place.github.fault(op="issues/list-comments$", status=200, body=[], times=2)
    place.fail(number)
    place.settle()
    assert len(place.comments(number)) == 2

    place.github.comment(MAINTAINER, place.thread(number), "/remedy block")
    place.settle()
    first, second = sorted(place.comments(number), key=len)
    assert first == "<!-- remedy:notice pr:1 v1 -->\nSee the status comment.\n"
    assert "stopped by" in second


def test_few_calls_left_hold_back_new_diagnoses_gh11(place: Place) -> None:
    number = place.pull()
    place.settle()
    limits = place.github.world.limits
    limits.per_hour = 150
    place.fail(number)
    place.settle_to("diagnose")
    assert place.world.step("diagnose") is not None
    assert place.world.step("diagnose") is None and place.issues() == [], "it waits"

    limits.per_hour = 5000
    place.settle()
    _once(place, number)


def test_an_hour_holds_no_more_writes_than_allowed_gh11(a_place: Callable[..., Place]) -> None:
    place = a_place(limits={"running": 100, "writes_an_hour": 12})
    numbers = [place.red_pull(branch=f"branch-{n}") for n in range(6)]
    place.settle()
    for number in numbers:
        assert len(place.comments(number)) == 1
    times = [asked.at for asked in place.github.log(writes_only=True) if "access_tokens" not in asked.path]
    assert len(times) > 12
    assert max(sum(start <= at < start + 3_600_000 for at in times) for start in times) <= 12


def test_a_transferred_repository_goes_on_in_its_new_installation_gh32(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    place.github.transfer(REPO, "beta")
    place.settle()
    (run,) = place.runs()
    assert (run.status.value, run.cancel_reason) == ("CANCELLED", "installation_gone")

    place.github.comment(MAINTAINER, f"beta/listing#{number}", "/remedy fix")
    place.settle()
    assert [run.status.value for run in place.runs()] == ["CANCELLED", "RUNNING"]
    login = f"{place.github.app.slug}[bot]"
    (comment,) = place.github.comments(f"beta/listing#{number}", login)
    assert "the plan is being read" in comment.body.lower()


def test_an_app_that_is_installed_again_is_heard_again_gh8(place: Place) -> None:
    number = place.red_pull()
    place.settle()
    place.github.remove(REPO)
    place.settle()
    assert [run.status.value for run in place.runs()] == ["CANCELLED"]

    place.github.install(REPO)
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix")
    place.settle()
    assert [run.status.value for run in place.runs()] == ["CANCELLED", "RUNNING"]
