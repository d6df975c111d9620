"""The retry table of github.md B2 and B3, as pure data: GH-5, GH-6, GH-7, GH-9."""

import pytest

from app.github.retry import (
    IN_PLACE_S,
    IN_PLACE_SUM_S,
    Answer,
    Attempt,
    GiveUp,
    Lost,
    Wait,
    judge,
    limit_wait_s,
    unknown_limit_wait_s,
)

NOW_MS = 1_767_225_600_000
NOT_CONNECTED = Lost("not_connected", "no route")
NO_ANSWER = Lost("no_answer", "read timeout")


def attempt(repeatable: bool = True, tries: int = 0, waited_s: float = 0, chance: float = 0.5) -> Attempt:
    return Attempt(repeatable, tries, waited_s, NOW_MS, chance)


def limited(status: int = 403, message: str = "no", **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, {"message": message})


# what happened, repeatable -> what follows
TABLE = [
    ("a read that did not connect", NOT_CONNECTED, True, Wait(0.5)),
    ("a write that did not connect: it never left", NOT_CONNECTED, False, Wait(0.5)),
    ("a read without answer", NO_ANSWER, True, Wait(0.5)),
    ("a write without answer", NO_ANSWER, False, GiveUp("read timeout", "unknown")),
    ("a read answered 502", Answer(502, {}), True, Wait(0.5)),
    ("a write answered 502", Answer(502, {}), False, GiveUp("GitHub answered 502", "unknown")),
    ("a short limit on a write: not executed", limited(retry_after="2"), False, Wait(2.2)),
]


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case[0])
def test_what_follows_the_first_try(case):
    """GH-5: a write is repeated only when it surely never left."""
    _, result, repeatable, follows = case
    assert judge(attempt(repeatable), result) == follows


@pytest.mark.parametrize("status", [200, 204, 302, 401, 403, 404, 409, 410, 422, 451])
@pytest.mark.parametrize("repeatable", [True, False])
def test_an_answer_is_final(status, repeatable):
    result = Answer(status, {}, {"message": "Resource not accessible by integration"})
    assert judge(attempt(repeatable), result) is result


@pytest.mark.parametrize("result", [NOT_CONNECTED, NO_ANSWER, Answer(500, {})])
def test_there_are_three_more_tries(result):
    waits = [judge(attempt(tries=tries), result) for tries in range(4)]
    assert waits[:3] == [Wait(seconds) for seconds in IN_PLACE_S]
    assert isinstance(waits[3], GiveUp)


def test_the_end_of_the_tries_says_whether_it_left():
    last = len(IN_PLACE_S)
    assert judge(attempt(False, last), NOT_CONNECTED) == GiveUp("no route", "not_done")
    assert judge(attempt(True, last), NO_ANSWER) == GiveUp("read timeout", "unknown")


def test_waits_carry_jitter_within_a_fifth():
    """GH-7."""
    assert judge(attempt(chance=0), NOT_CONNECTED) == Wait(0.4)
    assert judge(attempt(chance=1), NOT_CONNECTED) == Wait(0.6)


def test_waits_in_place_never_pass_ten_seconds_in_sum():
    """GH-6."""
    assert sum(IN_PLACE_S) * 1.2 <= IN_PLACE_SUM_S
    assert isinstance(judge(attempt(tries=2, waited_s=6), NO_ANSWER), GiveUp)
    assert judge(attempt(waited_s=7), limited(retry_after="3")) == GiveUp(
        "GitHub's rate limit is reached", "not_done", NOW_MS + 3300, limited=True, told=True
    )


LIMITS = [
    ("retry-after", limited(429, retry_after="60"), 60),
    ("retry-after on 403", limited(403, retry_after="30"), 30),
    ("retry-after before the reset", limited(retry_after="30", x_ratelimit_remaining="0", x_ratelimit_reset="1"), 30),
    (
        "reset when nothing remains",
        limited(x_ratelimit_remaining="0", x_ratelimit_reset=str(NOW_MS // 1000 + 600)),
        600,
    ),
    ("a reset in the past", limited(x_ratelimit_remaining="0", x_ratelimit_reset="1"), 1),
    ("a reset while calls remain", limited(x_ratelimit_remaining="10", x_ratelimit_reset="1"), None),
    ("neither header", limited(403, "You have exceeded a secondary rate limit."), 60),
    ("429 without a word", limited(429), 60),
    ("a date in retry-after", limited(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), 60),
    ("another 403", limited(403, "Resource not accessible by integration"), None),
    ("a limit word in a 422", limited(422, "rate limit"), None),
]


@pytest.mark.parametrize("case", LIMITS, ids=lambda case: case[0])
def test_the_time_to_wait_for_a_limit(case):
    """GH-9, F-R3."""
    _, answer, seconds = case
    assert limit_wait_s(answer, NOW_MS) == seconds


def test_a_limit_without_a_time_says_so():
    """GH-9: then the caller counts, from 60 s doubling to 15 min."""
    verdict = judge(attempt(), limited(403, "secondary rate limit"))
    assert verdict == GiveUp("GitHub's rate limit is reached", "not_done", NOW_MS + 66_000, limited=True, told=False)
    assert [unknown_limit_wait_s(earlier) for earlier in (0, 1, 2, 3, 4, 99)] == [60, 120, 240, 480, 900, 900]
