"""Reading `/remedy` lines out of comments (CM-1 to CM-3, CM-13; GH-40 to GH-42)."""

import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands.parser import MOST_COMMANDS, normalise, parse_commands

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    name: str
    body: str
    commands: list[str]


CASES = [
    Case("plain", "/remedy resume", ["resume"]),
    Case("text before and after", "Thanks.\n\n/remedy resume\n\nBye.", ["resume"]),
    Case("CRLF", "/remedy fix\r\n/remedy block now\r\n", ["fix", "block now"]),
    Case("lone carriage return", "/remedy fix\r/remedy block", ["fix", "block"]),
    Case("indent of three", "   /remedy resume", ["resume"]),
    Case("two lines in order", "/remedy block\n/remedy status", ["block", "status"]),
    Case("upper case", "/REMEDY Resume", ["resume"]),
    Case("accents (C1)", "/remedy Résume", ["resume"]),
    Case("argument keeps its stars", "/remedy resume tests/*_*.py", ["resume tests/*_*.py"]),
    Case("argument keeps its blanks", "/remedy resume a  b\tc  ", ["resume a  b\tc"]),
    Case("a line inside a paragraph", "I think\n/remedy resume\nis right", ["resume"]),
    Case("hyphen in the verb", "/remedy dry-run", ["dry-run"]),
    Case("alone", "/remedy", [""]),
    Case("unknown verb is still a command (CM-8)", "/remedy resum", ["resum"]),
    Case("in backtick fence (W89)", "```\n/remedy resume\n```", []),
    Case("in tilde fence (W89)", "~~~\n/remedy resume\n~~~", []),
    Case("fence that never ends", "```\n/remedy resume", []),
    Case("indented code", "    /remedy resume", []),
    Case("tab indent", "\t/remedy resume", []),
    Case("inline code", "`/remedy resume`", []),
    Case("inline code over two lines", "`a\n/remedy resume`", []),
    Case("after inline code over two lines", "`a\n/remedy block`\n/remedy resume", ["resume"]),
    Case("tag over two lines", '<a title="\n/remedy resume\n">', []),
    Case("tag inside a sentence", 'see <a title="\n/remedy resume\n">x</a>', []),
    Case("title of a link", '[x](y "\n/remedy resume\n")', []),
    Case("text of a link", "[x\n/remedy resume\n](y)", []),
    Case("text of an image", "![x\n/remedy resume\n](y)", []),
    Case("definition", '[x]: /y "\n/remedy resume\n"', []),
    Case("after a backslash at the line's end", "a\\\n/remedy resume", ["resume"]),
    Case("escaped tick before it", "\\`a\n/remedy resume b`", ["resume b`"]),
    Case("emphasised verb", "/remedy **resume** now", ["resume now"]),
    Case("quoted in a reply (W89)", "> /remedy resume\n\nno", []),
    Case("lazy quote", "> hello\n/remedy resume", []),
    Case("list item", "- /remedy resume", []),
    Case("lazy list", "- a\n/remedy resume", []),
    Case("numbered list", "1. /remedy resume", []),
    Case("in mid-sentence", "say /remedy resume", []),
    Case("another word", "/remedyx resume", []),
    Case("two slashes", "//remedy resume", []),
    Case("space after the slash", "/ remedy resume", []),
    Case("heading", "# /remedy resume", []),
    Case("setext heading", "/remedy resume\n======", []),
    Case("HTML comment", "<!-- /remedy resume -->", []),
    Case("HTML comment opened inside a paragraph", "hello <!--\n/remedy resume\n--> bye", []),
    Case("HTML comment that never ends", "hello <!--\n\n/remedy resume", []),
    Case("after an HTML comment", "<!-- x -->\n\n/remedy resume", ["resume"]),
    Case("HTML block", "<div>\n/remedy resume\n</div>", []),
    Case("inside details", "<details>\n\n/remedy resume\n\n</details>", []),
    Case(
        "inside details with a summary",
        "<details><summary>x</summary>\n\n/remedy fix\n\n</details>\n\n/remedy block",
        ["block"],
    ),
    Case("details opened in a sentence", "see <details>\n\n/remedy resume", []),
    Case("details in capitals", "<DETAILS>\n\n/remedy resume", []),
    Case("table cell", "| /remedy resume |\n|---|\n", []),
    Case("right-to-left sign before it", "\u202e/remedy resume", []),
    Case("empty", "", []),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_commands_are_read_cm_1_cm_2_cm_3_gh_40_gh_42(case: Case) -> None:
    found = parse_commands(case.body)
    assert [f"{command.verb_text} {command.argument}".strip() for command in found] == case.commands


def test_lines_are_counted_from_one_and_the_word_is_kept_as_written() -> None:
    first, second = parse_commands("a\n\n/remedy BLOCK because\n/remedy resum")
    assert (first.line, first.written, first.verb_text) == (3, "BLOCK", "block")
    assert (second.line, second.written) == (4, "resum")


def test_the_plan_is_the_first_yaml_fence_after_the_command_cm_13() -> None:
    body = (
        "```yaml\nbefore: 1\n```\n/remedy resume\n\n```\nplain\n```\n\n```yaml\n- id: s1\n```\n\n"
        "```yaml\nlater: 1\n```\n/remedy block"
    )
    resume, block = parse_commands(body)
    assert resume.fenced_yaml == "- id: s1\n"
    assert block.fenced_yaml is None


def test_a_plan_that_is_too_long_is_not_read_cm_13() -> None:
    (command,) = parse_commands("/remedy resume\n\n```yaml\n" + "é" * 40_000 + "\n```\n")
    assert command.fenced_yaml is None


def test_names_are_normalised_pl_6() -> None:
    assert normalise("Agent Bibliothécaire") == "agentbibliothecaire"
    assert normalise("RÉSUME!") == "resume"


def test_at_most_twenty_commands_are_taken() -> None:
    assert len(parse_commands("/remedy status\n" * 500)) == MOST_COMMANDS


HOSTILE = {
    "backticks": "`" * 65_000,
    "growing backticks": "".join("`" * n + " a " for n in range(340)),
    "quotes": ">" * 65_000,
    "lists": "- " * 32_000,
    "open comments": "<!--" * 16_000,
    "brackets": "[" * 65_000,
    "links": "[a](" * 16_000,
    "images": "![" * 32_000,
    "emphasis": "*a_" * 20_000,
    "tags": "<a " * 20_000,
    "open attribute": '<a x="' * 9_000,
    "entities": "&#" * 30_000,
    "backslashes": "\\" * 65_000,
    "definitions": "[a]: b\n" * 9_000,
    "details": "<details>\n\n" * 5_000,
    "deep list": "".join(" " * n + "- x\n" for n in range(300)),
    "lazy quote": "> " * 300 + "\n" + "x\n" * 20_000,
    "tabs": "/remedy" + "\t" * 60_000 + "x",
    "blanks": "/remedy x" + " " * 60_000 + "y",
    "accents": "/remedy " + "é" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_64_kib_of_anything_is_read_quickly(name: str) -> None:
    """A comment of GitHub's greatest length costs a worker seconds at most; a quadratic reader would need minutes."""
    started = time.process_time()
    parse_commands(HOSTILE[name] + "\n\n/remedy fix")
    assert time.process_time() - started < 8


def test_more_than_a_comment_can_hold_is_not_read() -> None:
    assert parse_commands("/remedy fix\n\n" + "x" * 70_000) == []
    assert len(parse_commands("/remedy fix\n\n" + "é" * 60_000)) == 1


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for command in parse_commands(text):
        assert "\n" not in command.argument and command.line >= 1


@given(st.text(alphabet="/remdy fix\n`>-*<!details\t#1.|", max_size=120))
def test_a_command_is_always_a_line_of_the_text(text: str) -> None:
    lines = text.split("\n")
    for command in parse_commands(text):
        assert lines[command.line - 1].lstrip(" ").casefold().startswith("/remedy")
