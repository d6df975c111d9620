"""Scripted histories: whose fault it is, from collected checks, logs and history, with noise (IT-22, W21 to W24)."""

# ruff: noqa: E501  (one script per line reads as a table)

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from app.diagnosis.base_branch import BaseSeen, CheckSeen
from app.diagnosis.blaming import Known, blame_groups
from app.diagnosis.reading import CheckRead, failures_of
from app.failures.grouping import group_failures
from app.failures.model import JobInfo
from app.failures.read import read_log
from app.github.checks import CheckRun
from tests.journeys.threads import logs

HEAD, UNIT = "head", "unit"
A, B = logs.PAGES, logs.OTHER
SAME, ANOTHER = "assert 3 == 2", "KeyError: 'size'"


@dataclass(frozen=True)
class Script:
    """What happened before: the check on the base's tip and on the merge base, and outcomes as (commit, attempt, sign).

    A sign is `-` for this failure, `x` for the same test with another error, `+` for a pass. `log` is that of the head.
    `cured` is how often the first test failed here and passed merged with the tip.
    """

    name: str
    cause: str
    tip: str = "green"
    merge: str = "green"
    behind: int = 0
    past: Sequence[tuple[str, int, str]] = ()
    tests: Sequence[str] = (A,)
    error: str = SAME
    log: str | None = None
    cured: int = 0
    needed: int = 2
    others: Sequence[tuple[str, int, str]] = field(default=())
    """Outcomes in another job, which say nothing about this one."""


FLAKES = (("c1", 1, "-"), ("c1", 2, "+"), ("c2", 1, "-"), ("c2", 2, "+"))
STEADY = tuple((f"old{n}", 1, "+") for n in range(12))

SCRIPTS = (
    # this change: green on the base, red here
    Script("green tip and merge base", "this_change"),
    Script("green tip, the merge base never ran", "this_change", merge="none"),
    Script("green merge base, the tip has not run yet", "this_change", tip="none"),
    Script("behind, but green on both", "this_change", behind=7),
    Script("two tests of one cause", "this_change", tests=(A, B)),
    Script("red again in a second attempt", "this_change", past=((HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("red again in a third attempt", "this_change", past=((HEAD, 1, "-"), (HEAD, 2, "-"), (HEAD, 3, "-"))),
    Script("it failed once elsewhere, with another error", "this_change", past=(("c1", 1, "x"), ("c1", 2, "+"))),
    Script("it flaked twice, with another error", "this_change", past=(("c1", 1, "x"), ("c1", 2, "+"), ("c2", 1, "x"), ("c2", 2, "+"))),
    Script("one flake is below the threshold of two", "this_change", past=FLAKES[:2]),
    Script("two flakes, the threshold is three", "this_change", past=FLAKES, needed=3),
    Script("it only passed elsewhere", "this_change", past=STEADY),
    Script("it failed elsewhere and never passed there", "this_change", past=(("c1", 1, "-"), ("c2", 1, "-"))),
    Script("failed here, passed there: no commit has both", "this_change", past=(("c1", 1, "-"), ("c2", 1, "+"))),
    Script("another job flaked", "this_change", others=FLAKES),
    Script("the excuse is used up by a long streak", "this_change", past=(*FLAKES[:1], ("c1", 2, "+"), *FLAKES[2:], *STEADY, *((f"p{n}", 1, "+") for n in range(60)), *((HEAD, n, "-") for n in range(1, 7)))),
    Script("a parametrised case", "this_change", tests=("tests/test_pages.py::test_pages[20-10]",)),
    Script("a name in another folder", "this_change", tests=("deep/er/tests/test_pages.py::test_last_page_is_full",)),
    # already red on the base
    Script("same failure on tip and merge base", "base_red", tip="same", merge="same"),
    Script("same failure on the tip, green merge base", "base_red", tip="same"),
    Script("same failure on the tip, merge base never ran", "base_red", tip="same", merge="none"),
    Script("same failure on the merge base, tip never ran", "base_red", tip="none", merge="same"),
    Script("red base while behind", "base_red", tip="same", merge="same", behind=4),
    Script("red base and flaky as well", "base_red", tip="same", merge="same", past=FLAKES),
    Script("red base and red again here", "base_red", tip="same", merge="same", past=((HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("red base, two tests", "base_red", tip="same", merge="same", tests=(A, B)),
    Script("red base, another error in history", "base_red", tip="same", past=(("c1", 1, "x"),)),
    Script("red base, another job flaked", "base_red", tip="same", others=FLAKES),
    Script("red tip, the merge base red with another error", "base_red", tip="same", merge="other"),
    Script("red base of a parametrised case", "base_red", tip="same", tests=("tests/test_pages.py::test_pages[20-10]",)),
    # stale base
    Script("fixed on the base since", "stale_base", merge="same", behind=3),
    Script("fixed on the base by the last commit", "stale_base", merge="same", behind=1),
    Script("fixed on the base, two tests", "stale_base", merge="same", behind=2, tests=(A, B)),
    Script("fixed on the base, and flaky as well", "stale_base", merge="same", behind=2, past=FLAKES),
    Script("fixed on the base, red again here", "stale_base", merge="same", behind=9, past=((HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("fixed on the base, noise of another job", "stale_base", merge="same", behind=2, others=FLAKES),
    Script("green on both, cured by a merge", "stale_base", behind=7, cured=3),
    Script("cured by a merge, red again in a second attempt", "stale_base", behind=2, cured=3, past=((HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("one test of two is cured by a merge", "this_change", tests=(A, B), behind=2, cured=3),
    Script("cured by a merge, red on the tip in CI", "base_red", tip="same", behind=2, cured=3),
    # known flaky
    Script("failed and passed on this commit", "known_flaky", past=((HEAD, 1, "-"), (HEAD, 2, "+"))),
    Script("passed first, failed then, on this commit", "known_flaky", past=((HEAD, 1, "+"), (HEAD, 2, "-"))),
    Script("two flaky commits in the window", "known_flaky", past=FLAKES),
    Script("three flaky commits", "known_flaky", past=(*FLAKES, ("c3", 1, "-"), ("c3", 2, "+"))),
    Script("two flaky commits among many passes", "known_flaky", past=(*FLAKES, *STEADY)),
    Script("two flaky commits, the base never ran", "known_flaky", tip="none", merge="none", past=FLAKES),
    Script("one flaky commit, the threshold is one", "known_flaky", past=FLAKES[:2], needed=1),
    Script("flaky, behind", "known_flaky", past=FLAKES, behind=3),
    Script("flaky, both tests of the group", "known_flaky", tests=(A, B), past=FLAKES),
    Script("flaky, with other errors between", "known_flaky", past=(*FLAKES, ("c4", 1, "x"))),
    Script("flaky within one attempt of other commits", "known_flaky", past=(("c1", 1, "-"), ("c1", 1, "+"), ("c2", 1, "-"), ("c2", 1, "+"))),
    Script("flaky, red twice here", "known_flaky", past=(*FLAKES, (HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("flaky, base red with another error", "known_flaky", tip="other", merge="other", past=FLAKES),
    # not decided
    Script("the base never ran", "not_decided", tip="none", merge="none"),
    Script("the base is red with another error", "not_decided", tip="other", merge="other"),
    Script("the base was cancelled", "not_decided", tip="cancelled", merge="cancelled"),
    Script("the base's log could not be read", "not_decided", tip="unread", merge="unread"),
    Script("no base, one flake", "not_decided", tip="none", merge="none", past=FLAKES[:2]),
    Script("no base, passes elsewhere", "not_decided", tip="none", merge="none", past=STEADY),
    Script("no base, red again here", "not_decided", tip="none", merge="none", past=((HEAD, 1, "-"), (HEAD, 2, "-"))),
    Script("no base, another error flaked", "not_decided", tip="none", merge="none", past=(("c1", 1, "x"), ("c1", 2, "+"))),
    Script("base red by others only, never ran before", "not_decided", tip="other", merge="none"),
    Script("the base waits for approval", "not_decided", tip="action_required", merge="none"),
    Script("no base, another job flaked", "not_decided", tip="none", merge="none", others=FLAKES),
    # infrastructure: the machine, and no expectation failed
    Script("set-up errors after a full disk", "infrastructure", log="disk"),
    Script("set-up errors after a full disk, red base", "infrastructure", log="disk", tip="none", merge="none"),
    Script("set-up errors after a full disk, flaky before", "infrastructure", log="disk", past=FLAKES),
    Script("set-up errors after a full disk, behind", "infrastructure", log="disk", behind=3),
)  # fmt: skip


def _read(script: Script, error: str, name: str = UNIT) -> CheckRead:
    reading = read_log([logs.red(script.tests, error).encode()], job=JobInfo(name, 1, "failure"))
    if script.log == "disk":
        errors = tuple(replace(failure, failure_kind="error") for failure in reading.findings)
        reading = replace(reading, job_kind="infrastructure", findings=errors)
    return CheckRead(CheckRun(id=1, name=name, conclusion="failure"), 1, reading)


def _seen(script: Script, word: str) -> dict[str, CheckSeen]:
    if word == "none":
        return {}
    if word == "green":
        return {UNIT: CheckSeen("success")}
    if word in ("same", "other"):
        read = _read(script, script.error if word == "same" else ANOTHER).reading
        assert read is not None
        return {UNIT: CheckSeen("failure", frozenset(one.fingerprint for one in read.failures))}
    return {UNIT: CheckSeen("failure" if word == "unread" else word)}


def _history(script: Script) -> dict[str, list[Any]]:
    here, other = _read(script, script.error).reading, _read(script, ANOTHER).reading
    assert here is not None and other is not None
    prints = {
        "-": {f.test_id: f.fingerprint for f in here.failures},
        "x": {f.test_id: f.fingerprint for f in other.failures},
    }
    rows: dict[str, list[Any]] = {}
    for test in prints["-"]:
        for env, outcomes in ((UNIT, script.past), ("windows", script.others)):
            for sha, attempt, sign in outcomes:
                outcome = "passed" if sign == "+" else "failed"
                print_ = "" if sign == "+" else prints[sign].get(test, "")
                row = SimpleNamespace(env=env, sha=sha, attempt=attempt, outcome=outcome, fingerprint=print_)
                rows.setdefault(test, []).append(row)
    return rows


def cause_of(script: Script, seed: int = 0) -> tuple[str, str]:
    """The one cause that all groups of a script have, and how it is explained."""
    read = [_read(script, script.error)]
    failing = failures_of(read)
    assert len(failing) == len(script.tests)
    past = _history(script)
    for rows in past.values():
        random.Random(seed).shuffle(rows)
    base = BaseSeen("tip", "merge", _seen(script, script.tip), _seen(script, script.merge), script.behind)
    cured = {script.tests[0]: script.cured}
    known = Known(HEAD, base, past, script.needed, cured=cured)
    blamed = blame_groups(group_failures([f for _, f in failing]), {f.test_id: one for one, f in failing}, known)
    causes = {one.blame.cause for one in blamed}
    assert len(causes) == 1
    return causes.pop(), blamed[0].blame.how_we_know


def test_there_are_sixty_scripts_of_every_cause() -> None:
    assert len(SCRIPTS) >= 60
    assert {script.cause for script in SCRIPTS} == {
        "this_change", "base_red", "stale_base", "known_flaky", "not_decided", "infrastructure",
    }  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_the_cause_is_the_scripted_one_it22(script: Script) -> None:
    cause, how = cause_of(script)
    assert cause == script.cause, how
    assert how


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter_and_95_percent_are_right_w21_w24(seed: int) -> None:
    right = sum(cause_of(script, seed)[0] == script.cause for script in SCRIPTS)
    assert right >= 0.95 * len(SCRIPTS)


@pytest.mark.parametrize("script", [one for one in SCRIPTS if one.tip == "same"], ids=lambda script: script.name)
def test_a_red_base_is_never_this_change_w23(script: Script) -> None:
    assert cause_of(script)[0] != "this_change"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_without_base_rows_nobody_is_blamed_by_the_base_bl14(script: Script) -> None:
    """Nor is anything flaky without history."""
    bare = replace(script, tip="none", merge="none", past=(), others=())
    assert cause_of(bare)[0] in ("not_decided", "infrastructure")
