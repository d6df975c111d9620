"""Comment and check of a pull request as one text, without what differs from run to run; kept in `golden/`."""

import os
import re
from pathlib import Path

from tests.journeys.threads.place import Place

GOLDEN = Path(__file__).parent / "golden"


def assert_as_agreed(name: str, text: str) -> None:
    """The text equals its golden file; `GOLDEN=write pytest` writes it anew, and the diff is then read."""
    path = GOLDEN / f"{name}.md"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


def shown(place: Place, number: int) -> str:
    """What people see now: the check with its buttons, then every comment of ours."""
    check = place.check(number)
    buttons = ", ".join(action["label"] for action in check.actions) or "none"
    parts = [
        f"check: {check.status}, {check.conclusion}\ntitle: {check.title}\nbuttons: {buttons}\n\n{check.summary}",
        check.text or "(no text)",
        *(place.comments(number) or ["(no comment)"]),
    ]
    return _steady("\n\n---- ---- ----\n\n".join(parts)) + "\n"


def _steady(text: str) -> str:
    """Without addresses, times, ids of commits, runs, jobs and comments."""
    for pattern, instead in (
        (r"http://127\.0\.0\.1:\d+", "https://github.example"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d UTC", "yyyy-mm-dd hh:mm UTC"),
        (r"\b\d\d:\d\d UTC", "hh:mm UTC"),
        (r"(?<![0-9A-Za-z])[0-9A-HJKMNP-TV-Z]{26}\b", "RUN"),
        (r"\b[0-9a-f]{40}\b", "SHA"),
        (r"`[0-9a-f]{7}`", "`abc1234`"),
        (r"e2e-fail-[0-9a-f]{12}", "e2e-fail-TAG"),
        (r"\b4294\d{6}\b", "ID"),
        (r"git revert [0-9a-f]{7}", "git revert abc1234"),
        (r"· \d+ min ·", "· n min ·"),
    ):
        text = re.sub(pattern, instead, text)
    return text.rstrip()
