"""A proof whose worker died goes on with the runs that it left (proof.md, PT-9; CR-6)."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from app.proving.draft import draft_of, sweep_drafts
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid import cells
from app.workspace.grid.cells import Request, Runs, run_grid
from app.workspace.grid.trees import Three, delta_of, six
from app.workspace.rooms import Rooms
from app.workspace.sandbox.model import Sandbox
from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.model import TestJob
from app.workspace.tests.suite import SuiteRun
from tests.unit.grid.test_trees import git, tree

__all__ = ["git"]
NAMED = ("tests/test_a.py::test_a",)


class Died(BaseException):
    """The worker is gone in the middle of a proof."""


def test_only_what_was_not_run_is_run_again(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, good = {"a.py": "bad", "tests/test_a.py": "def test_a(): pass"}, {"a.py": "good"}
    three = Three(tree(git, {**head, "a.py": "base"}), tree(git, head), tree(git, {**head, **good}))
    ran: list[str] = []
    dies_at = [4]

    async def suite(_: Sandbox, job: TestJob, whole: bool = False) -> SuiteRun:
        if len(ran) == dies_at[0]:
            raise Died
        text = (job.files / "a.py").read_text()
        ran.append(f"{text}{' whole' if whole else ''}")
        return SuiteRun((Row(NAMED[0], "failed" if text == "bad" else "passed"),))

    monkeypatch.setattr(cells, "run_suite", suite)
    rooms = Rooms(tmp_path / "data", None)
    rooms.prepare()
    draft = draft_of(tmp_path / "data", "run", "here", NAMED)
    delta = delta_of(git, three, NAMED, "pytest")
    request = Request(Mirror(git.git_dir), rooms, six(git, three), delta, keep=draft.write)

    def prove(asked: Request) -> Any:
        return asyncio.run(run_grid(cast(Sandbox, object()), asked))

    with pytest.raises(Died):
        prove(request)
    before = list(ran)
    assert len(before) == 4
    dies_at[0] = 99
    again = prove(replace(request, known=draft.read(set(request.trees.values()))))
    resumed = ran[4:]

    ran.clear()
    anew = prove(request)
    assert [cell.result for cell in again.grid.cells.values()] == [cell.result for cell in anew.grid.cells.values()]
    assert sorted(before + resumed) == sorted(ran), "nothing is run twice and nothing is left out"


def test_a_draft_of_something_else_counts_for_nothing(tmp_path: Path) -> None:
    draft = draft_of(tmp_path, "run", "here", NAMED)
    draft.write({"t1": Runs((SuiteRun((Row("a", "passed"),)),))})
    assert list(draft.read({"t1"})) == ["t1"]
    assert draft.read({"t2"}) == {}
    assert draft_of(tmp_path, "run", "elsewhere", NAMED).read({"t1"}) == {}
    assert draft_of(tmp_path, "run", "here", ("other",)).read({"t1"}) == {}
    assert draft.path.stat().st_mode & 0o777 == 0o600
    assert sweep_drafts(tmp_path) == 0
    draft.path.write_text("{")
    assert draft.read({"t1"}) == {}
    draft.drop()
    assert draft.read({"t1"}) == {}
    draft.write({})
    assert sweep_drafts(tmp_path, -1) == 1
    assert not draft.path.exists()
