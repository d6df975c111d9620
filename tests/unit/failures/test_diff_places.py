"""Lines that a diff shows on its new side, and failures that stand at one of them."""

from hypothesis import given
from hypothesis import strategies as st

from app.failures.diff_places import place_in, shown_by
from app.failures.model import Failure

PATCH = "@@ -1,3 +1,4 @@ def a():\n one\n+two\n three\n four\n@@ -20 +21,2 @@\n-@@ -1 +900 @@\n+@@ -1 +800 @@\n x"


def at(file: str | None, line: int | None) -> Failure:
    return Failure("t", "pytest", "fail", file=file, line=line)


def test_lines_of_the_hunks_and_no_others() -> None:
    shown = shown_by([("a.py", PATCH), ("gone.py", "@@ -1,2 +0,0 @@\n-a\n-b"), ("image.png", "")])
    lines = [line for line in range(1000) if place_in(shown, [at("a.py", line)])]
    assert lines == [1, 2, 3, 4, 21, 22]
    assert place_in(shown, [at("gone.py", 0), at("gone.py", 1), at("image.png", 1), at("lib/a.py", 1)]) is None


def test_the_first_failure_inside_the_diff_gives_the_place() -> None:
    shown = shown_by([("a.py", PATCH)])
    assert place_in(shown, [at("b.py", 1), at(None, None), at("./a.py", 2), at("a.py", 3)]) == ("a.py", 2)


@given(st.text())
def test_any_patch_is_read(patch: str) -> None:
    shown_by([("a.py", patch)])
