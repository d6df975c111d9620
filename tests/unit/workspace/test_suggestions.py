"""A fix as suggestions: each at lines that the pull request's diff shows, all of them together the whole fix (PB-3)."""

import difflib

import pytest

from app.render.suggestion import is_sayable, suggestion_block
from app.workspace.suggestions import Suggestion, suggestions_of

HEAD = [f"line {n}\n" for n in range(1, 31)]


def diff(old: list[str], new: list[str], context: int = 3, path: str = "a.py") -> bytes:
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=context)
    return "".join(lines).encode()


def pull(*changed: int) -> bytes:
    """A pull request that wrote these lines of the head anew."""
    return diff([f"old {n}\n" if n in changed else line for n, line in enumerate(HEAD, 1)], HEAD)


def applied(found: tuple[Suggestion, ...]) -> list[str]:
    lines = list(HEAD)
    for one in sorted(found, key=lambda s: s.start, reverse=True):
        lines[one.start - 1 : one.line] = one.text.splitlines(keepends=True)
    return lines


def changed(**lines: str | None) -> list[str]:
    """The head with some lines (`l5=...`) replaced, or taken away."""
    new = {int(name[1:]): text for name, text in lines.items()}
    texts = [new.get(n, line) or "" for n, line in enumerate(HEAD, 1)]
    return "".join(texts).splitlines(keepends=True)


FIXES = {
    "a line": changed(l10="new\n"),
    "two places": changed(l10="new\n", l12="new too\n"),
    "a line gone": changed(l10=None),
    "lines added": changed(l10="line 10\nand\nmore\n"),
    "one becomes three": changed(l10="a\nb\nc\n", l11=None),
}


@pytest.mark.parametrize("name", FIXES)
def test_all_suggestions_together_are_the_fix(name: str) -> None:
    found = suggestions_of(diff(HEAD, FIXES[name]), pull(10))
    assert found
    assert applied(found) == FIXES[name]


def test_a_line_that_the_pull_request_does_not_show_cannot_be_suggested_at() -> None:
    """Only what lies within its hunks; one place outside and nothing is suggested."""
    assert suggestions_of(diff(HEAD, changed(l20="new\n")), pull(10)) == ()
    assert suggestions_of(diff(HEAD, changed(l10="new\n", l20="new\n")), pull(10)) == ()
    assert suggestions_of(diff(HEAD, changed(l10="new\n"), path="b.py"), pull(10)) == ()


@pytest.mark.parametrize(
    "fix",
    [
        b"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n",
        b"--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        b"--- a/a.py\n+++ b/a.py\n@@ -10 +10 @@\n-line 10\n+x\n\\ No newline at end of file\n",
        b"--- a/a.py\n+++ b/a.py\n@@ -10 +10 @@\n-line 10\n+x\r\n",
        b"diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n" + diff(HEAD, changed(l10="x\n")),
        b"\xff no diff",
        b"",
    ],
)
def test_what_a_suggestion_cannot_say(fix: bytes) -> None:
    assert suggestions_of(fix, pull(10)) == ()


def test_a_suggestion_with_a_fence_in_it_does_not_end_early() -> None:
    assert suggestion_block("```\nx\n") == "````suggestion\n```\nx\n````"
    assert suggestion_block("") == "```suggestion\n```"
    assert not is_sayable("a‮b\n")
    assert is_sayable("\tx = 1\n")
