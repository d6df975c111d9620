"""A fix is read in a child with limits first (proof.md, PI-12)."""

from pathlib import Path

import pytest

from app.workspace.git import Git
from app.workspace.grid.apart import problem_of
from app.workspace.grid.trees import Three, delta_of
from tests.unit.grid.test_trees import git, tree

__all__ = ["git"]
TEST = "def test_a():\n    assert total(2) == 4\n"
MANY = "".join(f"def test_{n}():\n    assert total({n}) == {n}\n\n\n" for n in range(20_000))


@pytest.mark.parametrize(
    ("fixed", "cpu_s", "problem"),
    [("", None, ""), (MANY, 1, "the change could not be read in 1 s")],
    ids=["ordinary", "large"],
)
def test_a_change_that_takes_too_long_to_read_is_not_read_here(
    git: Git, fixed: str, cpu_s: int | None, problem: str
) -> None:
    """PI-12: a time limit on the child's processor, not on ours."""
    head = {"a.py": "x = 1\n", "tests/test_a.py": TEST}
    three = Three(tree(git, head), tree(git, head), tree(git, {**head, "a.py": "x = 2\n", "tests/test_b.py": fixed}))
    assert problem_of(git, three, delta_of(git, three, ("tests/test_a.py::test_a",), "pytest"), cpu_s) == problem


def test_what_ends_the_child_is_told(git: Git, tmp_path: Path) -> None:
    """A store that is not there stands for any fault of the child."""
    head = tree(git, {"a.py": "x = 1\n"})
    three = Three(head, head, head)
    said = problem_of(Git(tmp_path / "none"), three, delta_of(git, three, ()))
    assert said.startswith("the change could not be read: ")
