"""Whose fault: the first cause whose needs are met wins; missing evidence never counts (6.3, IT-22, BL-1 to BL-16)."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.failures.blame import Cause, CauseFacts, decide, excuse_holds

BASE = CauseFacts()
GREEN_BASE = CauseFacts(base_tip="green", head_red=2)
ROWS: list[tuple[str, CauseFacts, Cause]] = [
    ("nothing known", BASE, "not_decided"),
    ("green base, two red attempts", GREEN_BASE, "this_change"),
    ("green base, one red attempt", replace(GREEN_BASE, head_red=1), "not_decided"),
    ("green base, one red attempt and a local run", replace(GREEN_BASE, head_red=1, reproduced=True), "this_change"),
    (
        "green base, one attempt, nothing can be measured (decision 59)",
        replace(GREEN_BASE, head_red=1, measured=False),
        "this_change",
    ),
    ("green merge base alone", CauseFacts(merge_base="green", head_red=2), "this_change"),
    ("both bases green", CauseFacts(base_tip="green", merge_base="green", head_red=3), "this_change"),
    ("new test that fails (decision 59)", CauseFacts(absent_on_base=True, head_red=2), "this_change"),
    ("new test, one attempt", CauseFacts(absent_on_base=True, head_red=1), "not_decided"),
    ("new test, reproduced", CauseFacts(absent_on_base=True, reproduced=True), "this_change"),
    ("no failing attempt", replace(GREEN_BASE, head_red=0), "not_decided"),
    ("red on the base tip", CauseFacts(base_tip="red", head_red=2), "base_red"),
    ("red on both bases", CauseFacts(base_tip="red", merge_base="red"), "base_red"),
    (
        "red on the tip, green on the merge base (BL-1)",
        CauseFacts(base_tip="red", merge_base="green", head_red=2),
        "base_red",
    ),
    ("red on the merge base, tip not run", CauseFacts(merge_base="red"), "base_red"),
    (
        "red on the merge base, green since, behind",
        CauseFacts(merge_base="red", base_tip="green", behind=3),
        "stale_base",
    ),
    (
        "red on the merge base, green since, not behind",
        CauseFacts(merge_base="red", base_tip="green", head_red=2),
        "not_decided",
    ),
    (
        "red on the base it contains, green since",
        CauseFacts(contained_base="red", base_tip="green", behind=1),
        "stale_base",
    ),
    ("behind alone", CauseFacts(behind=40, base_tip="green", head_red=1), "not_decided"),
    ("behind alone, two attempts", CauseFacts(behind=40, base_tip="green", head_red=2), "this_change"),
    ("passes merged with the base", CauseFacts(base_tip="green", cured_by_merge=3, behind=2), "stale_base"),
    (
        "passes merged, the tip has not run yet",
        CauseFacts(merge_base="green", cured_by_merge=3, behind=2),
        "stale_base",
    ),
    ("passes merged, base not run (BL-14)", CauseFacts(cured_by_merge=3), "not_decided"),
    ("passes merged, red on the tip", CauseFacts(base_tip="red", cured_by_merge=3, behind=2), "base_red"),
    (
        "passes merged, and flaky",
        replace(GREEN_BASE, cured_by_merge=3, flaky_commits=2, runs=40, flakes=4),
        "stale_base",
    ),
    ("fails merged too", CauseFacts(base_tip="green", cured_by_merge=0, head_red=2, behind=2), "this_change"),
    ("passed on a re-run of this commit (BL-3)", CauseFacts(head_red=1, head_green=1), "known_flaky"),
    ("passed once in four", CauseFacts(head_red=3, head_green=1, runs=4, flakes=3, streak=1), "known_flaky"),
    ("flaky elsewhere", CauseFacts(flaky_commits=2, runs=40, flakes=4, streak=1), "known_flaky"),
    ("flaky on one other commit only (BL-4)", CauseFacts(flaky_commits=1, runs=40, flakes=1), "not_decided"),
    (
        "flaky on one other commit, policy says one",
        CauseFacts(flaky_commits=1, flaky_needed=1, runs=40, flakes=4),
        "known_flaky",
    ),
    (
        "flaky, but five in a row here (BL-6)",
        CauseFacts(flaky_commits=3, runs=100, flakes=3, streak=5, base_tip="green", head_red=5),
        "this_change",
    ),
    ("flaky, two in a row at a high rate", CauseFacts(flaky_commits=3, runs=10, flakes=5, streak=2), "known_flaky"),
    (
        "flaky without runs, three in a row",
        CauseFacts(flaky_commits=2, streak=3, base_tip="green", head_red=3),
        "this_change",
    ),
    (
        "flaky beats this change",
        CauseFacts(base_tip="green", head_red=2, flaky_commits=4, runs=20, flakes=6, streak=2),
        "known_flaky",
    ),
    ("base red beats flaky", CauseFacts(base_tip="red", flaky_commits=4, runs=20, flakes=6), "base_red"),
    ("base red beats stale", CauseFacts(base_tip="red", merge_base="red", behind=3), "base_red"),
    (
        "stale beats flaky",
        CauseFacts(base_tip="green", merge_base="red", behind=1, flaky_commits=4, runs=20, flakes=6),
        "stale_base",
    ),
    (
        "a green attempt never blames the change",
        CauseFacts(base_tip="green", head_red=2, head_green=1, runs=100, flakes=1, streak=4),
        "not_decided",
    ),
    ("network job, explained", CauseFacts(job_kind="infrastructure", explained_by_job=True), "infrastructure"),
    (
        "network job, a plain assertion failed",
        CauseFacts(job_kind="infrastructure", base_tip="green", head_red=2),
        "this_change",
    ),
    ("network job, no test ran (IT-23)", CauseFacts(job_kind="infrastructure", tests_ran=False), "infrastructure"),
    ("memory ran out, no test ran", CauseFacts(job_kind="oom_killed", tests_ran=False), "infrastructure"),
    ("memory ran out, explained", CauseFacts(job_kind="oom_killed", explained_by_job=True), "infrastructure"),
    (
        "network job, all failed in set-up",
        CauseFacts(job_kind="infrastructure", all_failed_in_setup=True),
        "infrastructure",
    ),
    ("plain job, all failed in set-up (G25)", CauseFacts(all_failed_in_setup=True), "infrastructure"),
    (
        "all failed in set-up, once, green base",
        CauseFacts(all_failed_in_setup=True, base_tip="green"),
        "infrastructure",
    ),
    (
        "all failed in set-up, twice, green base",
        CauseFacts(all_failed_in_setup=True, base_tip="green", head_red=2),
        "this_change",
    ),
    ("network job, 81 % fail alike", CauseFacts(job_kind="infrastructure", same_error_share=0.81), "infrastructure"),
    ("network job, 80 % fail alike", CauseFacts(job_kind="infrastructure", same_error_share=0.8), "not_decided"),
    ("plain job, 90 % fail alike", CauseFacts(same_error_share=0.9, base_tip="green", head_red=2), "this_change"),
    (
        "infrastructure beats base red",
        CauseFacts(job_kind="infrastructure", explained_by_job=True, base_tip="red"),
        "infrastructure",
    ),
    ("compile error without tests", CauseFacts(job_kind="compile_error", tests_ran=False), "not_decided"),
    (
        "compile error, green base, two attempts",
        CauseFacts(job_kind="compile_error", tests_ran=False, base_tip="green", head_red=2),
        "this_change",
    ),
    ("compile error, red base", CauseFacts(job_kind="compile_error", tests_ran=False, base_tip="red"), "base_red"),
    (
        "timeout in an assertion is no infrastructure",
        CauseFacts(job_kind="timeout", base_tip="green", head_red=2),
        "this_change",
    ),
    (
        "dependency install is the change's until shown",
        CauseFacts(job_kind="dependency_install", tests_ran=False),
        "not_decided",
    ),
    ("cancelled job", CauseFacts(job_kind="cancelled", tests_ran=False), "not_decided"),
    ("merge base green, tip missing, one attempt", CauseFacts(merge_base="green"), "not_decided"),
    ("merge base green, tip missing, reproduced", CauseFacts(merge_base="green", reproduced=True), "this_change"),
    ("tip green, merge base missing, reproduced", CauseFacts(base_tip="green", reproduced=True), "this_change"),
    ("contained base red, tip missing", CauseFacts(contained_base="red", behind=4), "not_decided"),
    ("contained base red, tip red", CauseFacts(contained_base="red", base_tip="red", behind=4), "base_red"),
    ("contained base green", CauseFacts(contained_base="green", base_tip="green", behind=4, head_red=2), "this_change"),
    ("flaky needed zero counts as one", CauseFacts(flaky_commits=0, flaky_needed=0), "not_decided"),
    ("seven red attempts, nothing else", CauseFacts(head_red=7), "not_decided"),
    ("reproduced, nothing else", CauseFacts(reproduced=True), "not_decided"),
]


@pytest.mark.parametrize(("facts", "cause"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_first_cause_whose_needs_are_met_wins(facts: CauseFacts, cause: Cause) -> None:
    found = decide(facts)
    assert found.cause == cause
    assert found.how_we_know
    assert "\n" not in found.how_we_know


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 60


def test_not_decided_lists_what_is_missing() -> None:
    assert decide(BASE).how_we_know == "missing: a run of the base branch, a second attempt on this head"


def test_counts_stand_in_the_sentence() -> None:
    """UX-C7."""
    assert decide(CauseFacts(head_red=1, head_green=2)).how_we_know == "passed 2 of 3 times on this commit"
    assert "3 commits behind" in decide(CauseFacts(merge_base="red", base_tip="green", behind=3)).how_we_know
    both = CauseFacts(merge_base="red", base_tip="green", behind=3, cured_by_merge=3)
    assert "; merged with it this passes 3 of 3 times in our sandbox; 3" in decide(both).how_we_know
    merged = CauseFacts(base_tip="green", cured_by_merge=3, behind=1, tip_sha="abc1234567")
    assert decide(merged).how_we_know == (
        "in our sandbox it fails here 3 of 3 times and passes merged with the base branch (`abc1234`) 3 of 3 times; "
        "1 commit behind"
    )


def test_an_excuse_ends_with_its_plausibility() -> None:
    """BL-6: u^k < 0.05."""
    assert excuse_holds(flakes=5, runs=10, streak=3)
    assert not excuse_holds(flakes=1, runs=100, streak=3)
    assert excuse_holds(flakes=0, runs=0, streak=2)
    assert not excuse_holds(flakes=0, runs=0, streak=3)


COLOURS = st.sampled_from(["red", "green", "missing"])
ANY_FACTS = st.builds(
    CauseFacts,
    job_kind=st.sampled_from(["test_failure", "infrastructure", "timeout", "oom_killed", "mixed"]),
    explained_by_job=st.booleans(),
    tests_ran=st.booleans(),
    base_tip=COLOURS,
    merge_base=COLOURS,
    contained_base=COLOURS,
    behind=st.integers(0, 5),
    cured_by_merge=st.integers(0, 3),
    absent_on_base=st.booleans(),
    head_red=st.integers(0, 4),
    head_green=st.integers(0, 3),
    reproduced=st.booleans(),
    measured=st.booleans(),
    flaky_commits=st.integers(0, 4),
    runs=st.integers(0, 50),
    flakes=st.integers(0, 50),
    streak=st.integers(1, 6),
)


@given(ANY_FACTS)
def test_without_base_rows_the_base_is_never_blamed_nor_the_change(facts: CauseFacts) -> None:
    blind = replace(facts, base_tip="missing", merge_base="missing", contained_base="missing", absent_on_base=False)
    assert decide(blind).cause not in ("stale_base", "base_red", "this_change")


@given(ANY_FACTS)
def test_without_history_it_is_never_known_flaky(facts: CauseFacts) -> None:
    """BL-13."""
    assert decide(replace(facts, flaky_commits=0, head_green=0)).cause != "known_flaky"


@given(ANY_FACTS)
def test_every_set_of_facts_has_one_cause(facts: CauseFacts) -> None:
    assert decide(facts) == decide(replace(facts))
    assert {field.name for field in fields(facts)} >= {"base_tip", "head_red"}
