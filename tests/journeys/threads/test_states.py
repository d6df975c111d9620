"""A journey per state that needs no agent: comment and check as people see them, kept as text (UX-S1, UX-S4)."""

from collections.abc import Callable

import pytest

from app.ledger import diagnoses
from app.runs.model import Outcome
from jobs.sweep import close_left_open
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.threads.shown import assert_as_agreed, shown
from tests.journeys.threads.test_people import _stop_for_a_person
from tests.journeys.world import AUTHOR, MAINTAINER

Walk = Callable[[Place], int]


def _diagnosing(place: Place) -> int:
    number = place.red_pull()
    place.world.step("intake")
    place.settle_to("diagnose")
    place.world.step("deliver")
    return number


def _red(place: Place) -> int:
    number = place.red_pull()
    place.settle()
    return number


def _red_base(place: Place) -> int:
    place.base("failure", logs.red())
    return _red(place)


def _stale(place: Place) -> int:
    place.base("failure", logs.red())
    number = place.pull()
    place.github.push(MAINTAINER, "acme/listing", "main", {"fix.txt": "fixed"})
    place.base("success")
    place.fail(number)
    place.settle()
    return number


def _machine(place: Place) -> int:
    number = place.red_pull(logs.broken_machine())
    place.settle()
    return number


def _fork(place: Place) -> int:
    number = place.fork_pull()
    place.fail(number)
    place.settle()
    return number


def _blocked(place: Place) -> int:
    number = _red(place)
    _stop_for_a_person(place, number)
    place.settle()
    return number


def _said(command: str) -> Walk:
    def walk(place: Place) -> int:
        number = _red(place)
        place.github.comment(MAINTAINER, place.thread(number), command)
        place.settle()
        return number

    return walk


def _closed(place: Place) -> int:
    number = _red(place)
    place.github.close(AUTHOR, place.thread(number))
    place.settle()
    return number


def _no_log(place: Place) -> int:
    number = place.red_pull()
    place.github.expire_log(place.github.check(place.thread(number), "unit"))
    place.settle()
    return number


def _no_test(place: Place) -> int:
    number = place.red_pull(logs.nothing_known())
    place.settle()
    return number


STATES: dict[str, tuple[str, bool, Walk]] = {
    "01-diagnosing": ("enabled: true\n", True, _diagnosing),
    "02-not-decided": ("enabled: true\n", False, _red),
    "03-not-yours-base-red": ("enabled: true\n", False, _red_base),
    "04-not-yours-infra": ("enabled: true\n", True, _machine),
    "05-not-yours-stale-base": ("enabled: true\n", False, _stale),
    "06-fork-waits": ("enabled: true\n", True, _fork),
    "07-fixing": ("enabled: true\n", True, _red),
    "09-blocked": ("enabled: true\n", True, _blocked),
    "18-closed": ("enabled: true\n", True, _closed),
    "19-stopped": ("enabled: true\n", True, _said("/remedy block it is rewritten")),
    "19-cancelled": ("enabled: true\n", True, _said("/remedy cancel")),
    "20-misconfigured": ("enabled: true\nmax_failures: many\n", True, _red),
    "21-log-unavailable": ("enabled: true\n", True, _no_log),
    "21-no-tests": ("enabled: true\n", True, _no_test),
}


@pytest.mark.parametrize("name", STATES)
def test_the_state_is_shown_as_it_was_agreed_ux_s1(a_place: Callable[..., Place], name: str) -> None:
    policy, green, walk = STATES[name]
    place = a_place(policy, green=green)
    number = walk(place)
    assert_as_agreed(name, shown(place, number))


def test_a_check_that_was_left_open_is_closed_by_the_sweep_pj13(place: Place) -> None:
    """As if the process had died between the end of the work and the word about it."""
    number = place.red_pull()
    place.settle_to("diagnose")
    while place.world.step("deliver"):
        pass
    assert place.check(number).status == "in_progress"
    services = place.world.services
    with services.write() as conn:
        told = diagnoses.last(conn, place.world.scope(number).id)
        assert told is not None
        diagnoses.end(conn, told.id, Outcome.NOT_OURS, services.clock())
    assert close_left_open(services) == 0, "it may only just have ended"

    place.world.pass_time(301)
    assert close_left_open(services) == 1
    place.settle()
    assert place.check(number).status == "completed"
    assert close_left_open(services) == 0
