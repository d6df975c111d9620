"""Actor x form: who is heard where, and what is never a command (CM-1 to CM-11, W89 to W92, W97, S19, S29)."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.ledger.schema import commands
from tests.journeys.threads.place import Place
from tests.journeys.world import AUTHOR, REPO

POLICY = """enabled: true
allowed_bots:
  - {{login: "good-bot[bot]", id: {good}}}
  - {{login: "weak-bot[bot]", id: {weak}}}
"""
ROLES = {"root": "admin", "mai": "maintain", "wri": "write", "tri": "triage", "rea": "read", "eve": None}
BOTS = {"good-bot[bot]": "write", "weak-bot[bot]": None, "other-bot[bot]": "admin"}
YES, NO, SILENT = "no_effect", "refused", None
"""`/remedy cancel` without a run: heard and allowed, heard and refused, not heard at all."""


@dataclass(frozen=True)
class Thread:
    place: Place
    number: int

    @property
    def name(self) -> str:
        return self.place.thread(self.number)

    def outcomes(self, source: str, source_id: int) -> list[str | None]:
        """The outcomes of the commands of one comment, in their order."""
        rows = select(commands.c.outcome).where(commands.c.source == source, commands.c.source_id == str(source_id))
        with self.place.world.services.read() as conn:
            found = conn.execute(rows.order_by(commands.c.ordinal)).scalars().all()
        return [None if outcome is None else outcome.value for outcome in found]


@pytest.fixture(scope="module")
def thread() -> Iterator[Thread]:
    """One pull request of ann's, in a repository with people of every role and three bots."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-matrix-"))
    place = Place(folder)
    ids = {}
    for login, role in {**ROLES, **BOTS}.items():
        ids[login] = place.github.user(login).id
        if role is not None:
            place.github.collaborator(REPO, login, role)
    text = POLICY.format(good=ids["good-bot[bot]"], weak=ids["weak-bot[bot]"])
    place.github.push("root", REPO, "main", {".github/remedy.yml": text})
    number = place.pull()
    place.settle()
    yield Thread(place, number)
    place.world.close()
    shutil.rmtree(folder, ignore_errors=True)
    assert place.github.violations() == []


def _say(thread: Thread, actor: str, form: str, body: str) -> list[str | None]:
    github = thread.place.github
    if form == "comment":
        said: Any = github.comment(actor, thread.name, body)
    elif form == "review":
        said = github.review(actor, thread.name, body)
    else:
        said = github.review_comment(actor, thread.name, body, "feature.txt")
    thread.place.settle()
    return thread.outcomes(form, said.id)


WHO = [
    ("root", YES), ("mai", YES), ("wri", YES), (AUTHOR, YES), ("tri", NO), ("rea", NO), ("eve", NO),
    ("good-bot[bot]", YES), ("weak-bot[bot]", NO), ("other-bot[bot]", SILENT),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("form", ["comment", "review", "review_comment"])
@pytest.mark.parametrize(("actor", "expected"), WHO)
def test_who_may_command_in_which_form_cm4_cm5_cm6(thread: Thread, actor: str, expected: str | None, form: str) -> None:
    assert _say(thread, actor, form, "/remedy cancel") == ([] if expected is None else [expected])


READS = [
    ("root", True),
    ("wri", True),
    ("tri", True),
    ("rea", True),
    (AUTHOR, True),
    ("eve", False),
    ("weak-bot[bot]", False),
]


@pytest.mark.long
@pytest.mark.parametrize("verb", ["status", "help", "ping"])
@pytest.mark.parametrize(("actor", "may"), READS)
def test_readers_may_ask(thread: Thread, actor: str, may: bool, verb: str) -> None:
    assert _say(thread, actor, "comment", f"/remedy {verb}") == ["accepted" if may else "refused"]


RUNS = {
    "plain": "/remedy cancel",
    "CRLF": "well\r\n\r\n/remedy cancel\r\nthanks",
    "indent of three": "   /remedy cancel",
    "upper case": "/REMEDY CANCEL",
    "accents": "/remedy Cancél",
    "a reason with signs": "/remedy cancel *because_of* `this`",
    "after a sentence": "I saw it.\n\n/remedy cancel",
    "second line of a paragraph": "I saw it.\n/remedy cancel",
    "with tabs": "/remedy\tcancel\tnow",
    "after a closed comment of HTML": "<!-- x -->\n\n/remedy cancel",
    "a synonym": "/remedy Cancel",
}


@pytest.mark.long
@pytest.mark.parametrize("body", RUNS.values(), ids=RUNS.keys())
def test_these_shapes_are_commands_cm1_w89(thread: Thread, body: str) -> None:
    assert _say(thread, "wri", "comment", body) == [YES]


SILENCE = {
    "backtick fence": "```\n/remedy cancel\n```",
    "tilde fence": "~~~\n/remedy cancel\n~~~",
    "indented code": "    /remedy cancel",
    "quote": "> /remedy cancel",
    "lazy quote": "> a quote\n/remedy cancel",
    "inline code": "`/remedy cancel`",
    "HTML comment": "<!-- /remedy cancel -->",
    "open HTML comment": "text <!--\n/remedy cancel",
    "HTML block": "<div>\n/remedy cancel\n</div>",
    "details": "<details>\n<summary>x</summary>\n\n/remedy cancel\n\n</details>",
    "mid-sentence": "please say /remedy cancel",
    "list item": "- /remedy cancel",
    "numbered list": "1. /remedy cancel",
    "longer name": "/remedyx cancel",
    "another word": "/remedies cancel",
    "our own marker": "<!-- remedy:status pr:1 v1 -->\n\n/remedy cancel",
    "ordinary talk": "the remedy is to cancel",
    "a scanner's report": "| file | remedy |\n|--|--|\n| a | /remedy cancel |",
    "heading": "# /remedy cancel",
    "a path": "see src/remedy cancel",
}


@pytest.mark.long
@pytest.mark.parametrize("body", SILENCE.values(), ids=SILENCE.keys())
def test_these_shapes_are_silence_cm3_w87_w89(thread: Thread, body: str) -> None:
    before = len(thread.place.comments(thread.number))
    assert _say(thread, "wri", "comment", body) == []
    assert len(thread.place.comments(thread.number)) == before


def test_an_edit_a_deletion_and_hiding_run_nothing_cm4_w90(thread: Thread) -> None:
    github = thread.place.github
    said = github.comment("wri", thread.name, "nothing yet")
    thread.place.settle()
    github.edit_comment("wri", said, "/remedy cancel")
    github.edit_comment("root", said, "/remedy cancel")
    thread.place.settle()
    assert thread.outcomes("comment", said.id) == []
    github.delete_comment("wri", said)
    thread.place.settle()
    assert thread.outcomes("comment", said.id) == []


def test_two_commands_run_in_their_order_and_are_answered_once_cm2_cm8(thread: Thread) -> None:
    def replies() -> int:
        return sum("remedy:reply" in body for body in thread.place.comments(thread.number))

    before = replies()
    assert _say(thread, "wri", "comment", "/remedy block\n\n/remedy block") == ["accepted", "no_effect"]
    assert _say(thread, "wri", "comment", "/remedy resume") == ["accepted"]
    assert replies() == before + 1


def test_a_mistyped_command_is_never_met_with_silence_w91(thread: Thread) -> None:
    assert _say(thread, "wri", "comment", "/remedy cancle") == ["not_understood"]
    assert "`/remedy cancel`" in thread.place.comments(thread.number)[-1]
    assert _say(thread, "wri", "comment", "/remedy") == ["not_understood"]


def test_a_failing_question_means_no_cm6_s29(thread: Thread) -> None:
    fault = thread.place.github.fault(op="repos/get-collaborator-permission-level", status=500, times=8, optional=True)
    assert _say(thread, "root", "comment", "/remedy cancel") == [NO]
    thread.place.github.lift(fault)


@pytest.mark.parametrize(
    ("actor", "expected"), [("root", YES), ("mai", YES), ("wri", NO), (AUTHOR, NO), ("good-bot[bot]", NO)]
)
def test_policy_may_narrow_commanders_to_a_role_w92(thread: Thread, actor: str, expected: str) -> None:
    _policy(thread, "commanders: maintain")
    assert _say(thread, actor, "comment", "/remedy cancel") == ([expected] if "[bot]" not in actor else [])


@pytest.mark.parametrize(("actor", "expected"), [("root", NO), ("wri", YES), (AUTHOR, NO), ("eve", NO)])
def test_policy_may_narrow_commanders_to_people_and_never_widens_w92(thread: Thread, actor: str, expected: str) -> None:
    ids = [thread.place.github.user(login).id for login in ("wri", "eve")]
    people = ", ".join(f"{{login: x, id: {number}}}" for number in ids)
    _policy(thread, f"commanders:\n  people: [{people}]")
    assert _say(thread, actor, "comment", "/remedy cancel") == [expected]


def test_ping_names_the_version_and_what_waits(thread: Thread) -> None:
    _policy(thread, "drafts: true")
    _say(thread, "wri", "comment", "/remedy ping")
    assert "answers. No delivery waits." in thread.place.comments(thread.number)[-1]


def _policy(thread: Thread, line: str) -> None:
    if thread.place.github.read_file(REPO, ".github/remedy.yml") != f"enabled: true\n{line}\n":
        thread.place.github.push("root", REPO, "main", {".github/remedy.yml": f"enabled: true\n{line}\n"})
