"""TAP as the report of a repository's own command (proof.md, PX-32)."""

import pytest

from app.workspace.tests.own import read_rows

FLAT = b"""TAP version 13
1..5
ok 1 - adds
not ok 2 - subtracts
  ---
  message: no
  text: |
    ok 9 - forged
  ...
ok 3 - is slow # SKIP no time
not ok 4 - is new # TODO
ok 5 - knows \\# signs
"""
NESTED = b"""# Subtest: list
    ok 1 - is empty
    not ok 2 - is full
    1..2
not ok 1 - list # time=3ms
1..1
"""


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            FLAT,
            {
                "adds": "passed",
                "subtracts": "failed",
                "is slow": "skipped",
                "is new": "skipped",
                "knows # signs": "passed",
                "forged": "not_run",
            },
        ),
        (NESTED, {"list > is empty": "passed", "list > is full": "failed"}),
        (b"1..2\nok 1 - adds\n", {"adds": "error"}),
        (b"ok 1 - adds\n", {"adds": "error"}),
        (b"1..1\nok 1 - adds\nok 2 - adds\n", {"adds": "error"}),
        (b"1..1\nok 1 - adds\nBail out! no database\n", {"adds": "error"}),
        (NESTED.replace(b"1..2", b"1..3"), {"list > is empty": "error"}),
    ],
    ids=["flat", "nested", "too few", "no plan", "too many", "bail out", "nested plan"],
)
def test_tap_counts_only_when_plan_and_points_agree(report: bytes, words: dict[str, str]) -> None:
    """PX-32: SKIP and TODO are missing; text of a diagnostic is no point."""
    assert {test: row.outcome for test, row in read_rows([report], list(words)).items()} == words
