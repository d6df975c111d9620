"""Groups by root cause: each says why, none loses a test, and the order given changes nothing (6.2, GR-1 to GR-3)."""

import random

from hypothesis import given
from hypothesis import strategies as st

from app.failures.grouping import Group, group_failures
from app.failures.model import Failure

FRAME = '  File "/src/app/cart.py", line 3, in total\n'


def failing(test_id: str, error: str = "", detail: str = "", **more: object) -> Failure:
    return Failure(test_id, "pytest", "fail", error, detail, **more)  # type: ignore[arg-type]


def shape(groups: list[Group]) -> set[frozenset[str]]:
    return {frozenset(group.test_ids) for group in groups}


def test_one_error_at_one_place_is_one_group_that_says_why() -> None:
    groups = group_failures(
        [failing("test_a", "KeyError: 'cart'", FRAME), failing("test_b", "KeyError: 'cart'", FRAME)]
    )
    assert [group.test_ids for group in groups] == [("test_a", "test_b")]
    assert groups[0].why_grouped == "2 tests: same error at the same place"
    assert "KeyError: 'cart'" in groups[0].title


def test_different_errors_stay_apart() -> None:
    groups = group_failures(
        [failing("test_a", "KeyError: 'cart'", FRAME), failing("test_b", "KeyError: 'shop'", FRAME)]
    )
    assert shape(groups) == {frozenset({"test_a"}), frozenset({"test_b"})}
    assert [group.why_grouped for group in groups] == ["", ""]
    assert groups[0].title == "test_a"


def test_a_bare_assertion_groups_nothing() -> None:
    groups = group_failures([failing("test_a", "assert False"), failing("test_b", "assert False")])
    assert len(groups) == 2


def test_the_same_test_of_two_jobs_is_one_group_of_two_members() -> None:
    """Step 2: a matrix."""
    groups = group_failures(
        [failing("test_a", "no cart", scope="linux"), failing("test_a", "no cart", scope="windows")]
    )
    assert [len(group.members) for group in groups] == [2]
    assert groups[0].test_ids == ("test_a",)
    assert groups[0].why_grouped == ""


def test_tests_of_one_hook_are_one_group() -> None:
    """Step 4."""
    hook = 'Cart "before all" hook for "adds"'
    groups = group_failures([failing(hook, "one", file="a.js"), failing(hook + " ", "two", file="a.js")])
    assert len(groups) == 1
    assert "the same set-up failed" in groups[0].why_grouped


def test_one_missing_module_is_one_group() -> None:
    """Step 5."""
    files = ("tests/a_test.py", "tests/b_test.py")
    failures = [
        Failure(file, "pytest", "collection_error", f"ModuleNotFoundError: No module named 'nope' in {file}")
        for file in files
    ]
    groups = group_failures(failures)
    assert shape(groups) == {frozenset(files)}
    assert "the same thing is missing" in groups[0].why_grouped


def test_700_tests_of_one_reason_are_one_group() -> None:
    """GR-3."""
    groups = group_failures([failing(f"test_{at}", "KeyError: 'cart'", FRAME) for at in range(700)])
    assert [len(group.members) for group in groups] == [700]


def test_nothing_gives_no_groups() -> None:
    assert group_failures([]) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"),
            st.sampled_from(["KeyError: 'cart'", "assert False", "no module named x"]),
            st.sampled_from(["", FRAME]),
        ),
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_changes_no_group_and_no_id_is_lost(rows: list[tuple[str, str, str]], chance: random.Random) -> None:
    """GR-1, GR-2."""
    failures = [failing(f"test_{name}", error, detail) for name, error, detail in rows]
    groups = group_failures(failures)
    shuffled = list(failures)
    chance.shuffle(shuffled)
    again = group_failures(shuffled)
    assert shape(again) == shape(groups)
    assert {group.fingerprint for group in again} == {group.fingerprint for group in groups}
    assert sorted(member.test_id for group in groups for member in group.members) == sorted(
        one.test_id for one in failures
    )
