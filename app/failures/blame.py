"""Whose fault a failure group is, from counted evidence; the first cause whose needs are met wins (6.3)."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

Cause = Literal["infrastructure", "base_red", "stale_base", "known_flaky", "this_change", "not_decided"]
Colour = Literal["red", "green", "missing"]
INFRASTRUCTURE_KINDS = ("infrastructure", "oom_killed")
SAME_ERROR_SHARE = 0.8
END_OF_EXCUSE = 0.05


@dataclass(frozen=True)
class CauseFacts:
    """Evidence about one failure group at one head SHA; the caller collects it, a row it could not get is `missing`.

    `base_tip` and `merge_base` are the check's colour for this very fingerprint; `cured_by_merge` counts runs of ours
    that failed on the head, each with one that passed on the head merged with the tip of the base; `head_red` and
    `head_green` count attempts on the head's tree; `flaky_commits` counts other commits on which the fingerprint both
    failed and passed on one tree; `runs` and `flakes` are the history behind the rate. `tip_sha` and `merge_base_sha`
    are only told.
    """

    job_kind: str = "test_failure"
    explained_by_job: bool = False
    tests_ran: bool = True
    all_failed_in_setup: bool = False
    same_error_share: float = 0.0
    base_tip: Colour = "missing"
    merge_base: Colour = "missing"
    contained_base: Colour = "missing"
    behind: int = 0
    cured_by_merge: int = 0
    absent_on_base: bool = False
    head_red: int = 1
    head_green: int = 0
    reproduced: bool = False
    measured: bool = True
    flaky_commits: int = 0
    flaky_needed: int = 2
    runs: int = 0
    flakes: int = 0
    streak: int = 1
    tip_sha: str = ""
    merge_base_sha: str = ""


class Blame(NamedTuple):
    """The cause and one line that gives the counts behind it."""

    cause: Cause
    how_we_know: str


def decide(facts: CauseFacts) -> Blame:
    """The cause of one group. Missing evidence gives `not_decided`, never "green" (BL-14)."""
    for rule in (_infrastructure, _base_red, _stale_base, _known_flaky, _this_change):
        found = rule(facts)
        if found is not None:
            return found
    return Blame("not_decided", "missing: " + ", ".join(_missing(facts)))


def _infrastructure(facts: CauseFacts) -> Blame | None:
    by_kind = facts.job_kind in INFRASTRUCTURE_KINDS
    if by_kind and facts.explained_by_job:
        return Blame(
            "infrastructure", f"the job ended as {facts.job_kind.replace('_', ' ')}, which explains the failure"
        )
    if not facts.tests_ran and by_kind:
        return Blame("infrastructure", f"no test ran: the job ended as {facts.job_kind.replace('_', ' ')}")
    # Red again where the base is green: what a second attempt does not heal is not the machine's mood.
    again = facts.base_tip == "green" and (facts.head_red >= 2 or facts.reproduced)
    if facts.all_failed_in_setup and (by_kind or not again):
        return Blame("infrastructure", "every test failed in set-up, before it began")
    if by_kind and facts.same_error_share > SAME_ERROR_SHARE:
        return Blame("infrastructure", f"{facts.same_error_share:.0%} of the tests fail with this one error")
    return None


def _base_red(facts: CauseFacts) -> Blame | None:
    if facts.base_tip == "red":
        return Blame("base_red", f"fails with the same error on the tip of the base branch{_at(facts.tip_sha)}")
    if facts.merge_base == "red" and facts.base_tip == "missing":
        return Blame(
            "base_red", f"fails with the same error on the merge base{_at(facts.merge_base_sha)}, not seen green since"
        )
    return None


def _stale_base(facts: CauseFacts) -> Blame | None:
    times = f"{facts.cured_by_merge} of {facts.cured_by_merge} times"
    behind = "1 commit behind" if facts.behind == 1 else f"{facts.behind} commits behind"
    now, before = _at(facts.tip_sha), _at(facts.merge_base_sha)
    was_red = "red" in (facts.contained_base, facts.merge_base)
    if facts.base_tip == "green" and was_red and facts.behind > 0:
        seen = f"red on the base this head has{before}, green on the base branch now{now}"
        merged = f"; merged with it this passes {times} in our sandbox" if facts.cured_by_merge else ""
        return Blame("stale_base", f"{seen}{merged}; {behind}")
    if facts.cured_by_merge and "green" in (facts.base_tip, facts.merge_base):
        seen = f"in our sandbox it fails here {times} and passes merged with the base branch{now} {times}"
        return Blame("stale_base", f"{seen}; {behind}")
    return None


def _at(sha: str) -> str:
    return f" (`{sha[:7]}`)" if sha else ""


def _known_flaky(facts: CauseFacts) -> Blame | None:
    on_head = facts.head_red > 0 and facts.head_green > 0
    if not on_head and facts.flaky_commits < max(1, facts.flaky_needed):
        return None
    if not excuse_holds(facts.flakes, facts.runs, facts.streak):
        return None
    if on_head:
        tries = facts.head_red + facts.head_green
        return Blame("known_flaky", f"passed {facts.head_green} of {tries} times on this commit")
    return Blame(
        "known_flaky", f"failed and passed on {facts.flaky_commits} commits, {facts.flakes} of {facts.runs} runs"
    )


def _this_change(facts: CauseFacts) -> Blame | None:
    green_base = "green" in (facts.base_tip, facts.merge_base) and "red" not in (facts.base_tip, facts.merge_base)
    if facts.head_green or not facts.head_red:
        return None
    attempts = "1 of 1 attempt" if facts.head_red == 1 else f"{facts.head_red} of {facts.head_red} attempts"
    enough = facts.head_red >= 2 or facts.reproduced or not facts.measured
    if not enough:
        return None
    seen = f"red in {attempts} on this head" + (" and again in our sandbox" if facts.reproduced else "")
    if facts.absent_on_base:
        return Blame("this_change", f"new in this pull request, {seen}")
    return Blame("this_change", f"green on base, {seen}") if green_base else None


def excuse_holds(flakes: int, runs: int, streak: int) -> bool:
    """Is a streak of failures still plausible for this flake rate: `u^k >= 0.05` (BL-6)?

    `u` is the upper end of the 95 % Wilson interval of flakes in runs; without history one streak of any length up
    to 2 is plausible.
    """
    if runs <= 0:
        return streak <= 2
    z, rate = 1.96, min(1.0, flakes / runs)
    middle = rate + z * z / (2 * runs)
    spread = z * math.sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    upper = min(1.0, (middle + spread) / (1 + z * z / runs))
    return upper ** max(1, streak) >= END_OF_EXCUSE


def _missing(facts: CauseFacts) -> list[str]:
    wanted = {
        "a run of the base branch": facts.base_tip == "missing" and facts.merge_base == "missing",
        "a second attempt on this head": facts.head_red < 2 and not facts.reproduced and facts.measured,
        "a failing attempt on this head": facts.head_red == 0,
        "history that agrees": facts.head_green > 0,
    }
    return [what for what, is_missing in wanted.items() if is_missing] or ["evidence that agrees"]
