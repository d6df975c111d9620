"""A branch that is behind: its failing tests are tried merged with the base before an agent starts (IT-26, BL-8)."""

from collections.abc import Callable
from typing import Any

import pytest

from app.ledger import diagnoses, runs
from app.runs.model import DiagnosisState
from jobs import diagnose
from tests.demo import shop
from tests.journeys import quick
from tests.journeys.threads import logs
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, MAINTAINER, REPO

Make = Callable[..., Place]
EMPTY = "tests/test_pages.py::test_empty_list_has_one_page"
ASKS_MORE = {"tests/test_pages.py": shop.TESTS + shop.NEW_TEST}
"""A pull request that only adds a test, of something that the base gets wrong when the branch starts."""
ON_THE_BASE = {"listing/pages.py": shop.PAGES.replace("-(-total // size)", "max(1, -(-total // size))")}


@pytest.fixture
def a_quick_place(a_place: Make) -> Make:
    def make(keys: str = "") -> Place:
        place = a_place(quick.POLICY + keys)
        place.github.push(MAINTAINER, REPO, "main", {"check.py": quick.CHECK})
        place.base("success")
        return place

    return make


@pytest.fixture
def place(a_quick_place: Make) -> Place:
    return a_quick_place()


def behind(place: Place, log: str = "", on_the_base: dict[str, Any] = ON_THE_BASE, branch: str = "feature") -> int:
    """A pull request whose branch started before this commit of the base; its CI is red, that of the base is green."""
    number = place.pull(branch, files=ASKS_MORE)
    place.github.push(MAINTAINER, REPO, "main", on_the_base)
    place.base("success")
    place.fail(number, log or logs.red((EMPTY,), "assert 0 == 1"))
    return number


def test_what_the_merge_cures_starts_no_agent_and_is_explained_it26(place: Place) -> None:
    number = behind(place)
    place.settle()

    assert place.causes(number) == ["stale_base"] and place.outcome(number) == "stale_base"
    assert place.world.run_of(number) is None and place.issues() == []
    check = place.check(number)
    assert (check.conclusion, check.title) == ("action_required", "Branch is behind main: update it")
    tip = str(place.github.world.state.find_repository(REPO).git.resolve("main"))[:7]
    (comment,) = place.comments(number)
    assert "**Your turn:** update the branch" in comment
    assert (
        f"in our sandbox it fails here 3 of 3 times and passes merged with the base branch (`{tip}`) 3 of 3 times; "
        "1 commit behind"
    ) in comment


def test_what_the_base_has_repaired_since_is_tried_merged_as_well_state_05(a_quick_place: Make) -> None:
    place = a_quick_place()
    place.base("failure", logs.red((EMPTY,), "assert 0 == 1"))
    number = behind(place)
    place.settle()
    assert place.causes(number) == ["stale_base"]
    assert "merged with it this passes 3 of 3 times in our sandbox; 1 commit behind" in place.comments(number)[0]


def test_once_updated_it_is_green_and_nothing_is_left_to_say_w22(place: Place) -> None:
    number = behind(place)
    place.settle()
    place.github.comment(AUTHOR, place.thread(number), "/remedy resume")
    place.settle()
    place.github.report_job(place.thread(number), name="unit", conclusion="success", log="")
    place.settle()

    assert len(place.github.log("pulls/update-branch")) == 1
    assert place.world.run_of(number) is None
    assert place.check(number) is None and place.outcome(number) == "nothing_failed"
    (comment,) = place.comments(number)
    assert "nothing fails any more" in comment and "Nothing for you to do." in comment


def test_what_fails_merged_too_is_of_this_change_and_is_repaired(place: Place) -> None:
    number = place.pull(files=shop.CHANGE)
    place.github.push(MAINTAINER, REPO, "main", {"more.txt": "more"})
    place.base("success")
    place.fail(number)
    place.settle()

    assert place.causes(number) == ["this_change"]
    assert place.world.run_of(number) is not None


def test_only_the_group_that_the_merge_cures_is_left_out(place: Place) -> None:
    """Two failures in one pull request: one is of its own making, the other is of the base that it has."""
    test = "def test_it_is_there():\n    from pathlib import Path\n    assert Path('listing/more.py').exists()\n"
    number = place.pull(files={**shop.CHANGE, "tests/test_more.py": test})
    place.github.push(MAINTAINER, REPO, "main", {"listing/more.py": "more = 1\n"})
    place.base("success")
    place.fail(
        number, logs.many([(logs.PAGES, "assert 3 == 2"), ("tests/test_more.py::test_it_is_there", "assert False")])
    )
    place.settle()

    assert sorted(place.causes(number)) == ["stale_base", "this_change"]
    run = place.world.run_of(number)
    assert run is not None
    with place.world.services.read() as conn:
        assert [step.title for step in runs.steps_of(conn, run.id)] == [logs.PAGES]


def test_a_merge_that_a_person_has_to_make_decides_nothing(place: Place) -> None:
    number = behind(place, on_the_base={**ON_THE_BASE, "tests/test_pages.py": shop.TESTS + "\n# the end\n"})
    place.settle()
    assert place.causes(number) == ["this_change"]


def test_a_test_that_passes_here_in_the_sandbox_was_not_cured_by_the_merge(place: Place) -> None:
    """Red in CI alone: the machine differs, so what passes merged says nothing about the base."""
    number = behind(place, log=logs.red())
    place.settle()
    assert place.causes(number) == ["this_change"]


@pytest.mark.parametrize("keys", ["causes: [base_red]\n", "repair: [lint]\n"])
def test_nothing_is_tried_where_no_agent_would_start(keys: str, a_quick_place: Make) -> None:
    place = a_quick_place(keys)
    number = behind(place)
    place.settle()
    assert place.causes(number) == ["this_change"] and place.world.run_of(number) is None


def test_nothing_of_a_fork_is_tried_before_a_maintainer_starts_it_fk1(place: Place) -> None:
    number = place.fork_pull(files=ASKS_MORE)
    place.github.push(MAINTAINER, REPO, "main", ON_THE_BASE)
    place.base("success")
    place.fail(number, logs.red((EMPTY,), "assert 0 == 1"))
    place.settle()

    assert place.outcome(number) == "needs_maintainer"
    assert not (place.world.folder / "data" / "repos").exists()


def test_whoever_was_asked_for_is_repaired_without_a_trial_row69(place: Place) -> None:
    number = behind(place)
    place.github.comment(MAINTAINER, place.thread(number), "/remedy fix we merge it as it is")
    place.settle()
    assert place.causes(number) == ["this_change"] and place.world.run_of(number) is not None
    assert not (place.world.folder / "data" / "repos").exists()


def test_people_see_what_takes_its_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the tests run the check says so, and a worker that is killed then leaves nothing half done."""
    seen: list[str] = []

    def killed(*_: object) -> dict[str, int]:
        place.github.settle()
        with place.world.services.read() as conn:
            (told,) = diagnoses.open_of_scope(conn, place.world.scope(number).id)
        assert told.state is DiagnosisState.MEASURING
        place.world.run("deliver", str(told.installation_id))
        seen.append(place.check(number).summary)
        raise KeyboardInterrupt

    number = behind(place)
    with monkeypatch.context() as patched:
        patched.setattr(diagnose, "cured_by_merge", killed)
        with pytest.raises(KeyboardInterrupt):
            place.settle()
    assert "The branch is behind `main`, so the failing tests are tried on this pull request merged with it." in seen[0]
    place.world.pass_time(3600)
    place.settle()
    assert place.outcome(number) == "stale_base"
