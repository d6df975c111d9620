"""The stripped patch is offered where the rest of a fix holds without it (proof.md, DM-2)."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from app.integrity.combine import judge
from app.integrity.model import Finding
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid import cells
from app.workspace.grid.cells import Request
from app.workspace.grid.stripped import offer
from app.workspace.grid.trees import Three, delta_of, six
from app.workspace.rooms import Rooms
from app.workspace.sandbox.model import Sandbox
from app.workspace.tests.frameworks.model import Row
from app.workspace.tests.model import TestJob
from app.workspace.tests.suite import SuiteRun
from tests.unit.grid.test_trees import git, tree
from tests.unit.integrity.fixes import Words, grid

__all__ = ["git"]
NAMED = ("tests/test_a.py::test_a",)
HEAD = {
    "a.py": "def total(n):\n    return n\n",
    "tests/test_a.py": "from a import total\n\n\ndef test_a():\n    assert total(2) == 4\n",
    "pytest.ini": "[pytest]\n",
}
FIXED = {"a.py": "def total(n):\n    return 2 * n\n"}
NARROWED = {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_b.py\n"}
UNCHECKED = {"a.py": "# flake8: noqa\n" + FIXED["a.py"]}
MORE = {"tests/test_c.py": "from a import total\n\n\ndef test_c():\n    assert total(3) == 6\n"}


@pytest.mark.parametrize(
    ("fixed", "original", "dropped", "left"),
    [
        ({**FIXED, **NARROWED, **MORE}, "pass", "pytest.ini", {**FIXED, **MORE}),
        (UNCHECKED, "pass", "a.py", FIXED),
        ({**FIXED, **NARROWED}, "fail", "", None),
        (FIXED, "pass", "", None),
        ({**HEAD, **NARROWED}, "pass", "", None),
    ],
    ids=["configuration", "mark", "needed", "clean", "nothing else"],
)
def test_what_a_fix_can_do_without_is_offered(
    fixed: Mapping[str, str],
    original: str,
    dropped: str,
    left: Mapping[str, str] | None,
    git: Git,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DM-2: source and added tests alone, run once; the verdict on the patch as it came stays."""
    three = Three(tree(git, HEAD), tree(git, HEAD), tree(git, {**HEAD, **fixed}))
    seen: list[dict[str, str]] = []

    async def suite(_: Sandbox, job: TestJob, whole: bool = False) -> SuiteRun:
        files = (path for path in job.files.rglob("*") if path.is_file())
        seen.append({path.relative_to(job.files).as_posix(): path.read_text() for path in files})
        return SuiteRun((Row(NAMED[0], "passed"),))

    monkeypatch.setattr(cells, "run_suite", suite)
    rooms = Rooms(tmp_path / "data", None)
    rooms.prepare()
    delta = delta_of(git, three, NAMED, "pytest")
    request = Request(Mirror(git.git_dir), rooms, six(git, three), delta)
    cells_seen = grid(Words(without_source="fail", original=original), NAMED)  # type: ignore[arg-type]
    judgement = judge(delta, cells_seen)
    found: Finding | None = asyncio.run(offer(cast(Sandbox, object()), request, cells_seen, judgement))
    assert (found.file if found is not None else "") == dropped, judgement.findings
    assert seen == ([] if left is None else [{**HEAD, **left}])
    if found is not None:
        assert judge(delta, cells_seen, [found]).verdict == judgement.verdict == "block"
        assert found.explanation.endswith(f"without what it changes in {dropped}.")
