"""Read `/remedy` commands out of a comment; pure, and linear in the length of the comment."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

MOST_BYTES = 65_536
MOST_COMMANDS = 20
MOST_PLAN_BYTES = 64 * 1024

_COMMAND = re.compile(r" {0,3}/(\S+)[ \t]*(.*)")
_SPACE = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class ParsedCommand:
    """One command as it was written: `argument` is the raw rest of the line, `line` counts from 1.

    `verb_text` is normalised (PL-6) and may be no verb at all; empty means `/remedy` alone. `fenced_yaml` is the first
    fenced `yaml` block after the command and before the next one, or None (CM-13).
    """

    verb_text: str
    argument: str
    line: int
    fenced_yaml: str | None = None
    written: str = ""


def parse_commands(body: str) -> list[ParsedCommand]:
    """The commands of a comment in order, at most 20.

    A command is a line of a top-level paragraph (CM-1). HTML comments are blanked first, then CommonMark is parsed,
    then the raw source lines are matched, because token text would lose `*_*` (CM-3, GH-42). What stands inside
    `<details>` is no command. Never raises; more than 64 KiB are not read.
    """
    text = body.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    text = _without_html_comments(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "/" not in text:
        return []
    lines = text.split("\n")
    found: list[ParsedCommand] = []
    for token in _top_level(_markdown().parse(text)):
        if token.type == "fence":
            _attach_plan(found, token)
        elif token.map is not None and len(found) < MOST_COMMANDS:
            found += _commands_of(lines, *token.map)
    return found[:MOST_COMMANDS]


def normalise(word: str) -> str:
    """Letters and digits without accents and case: `Résume` is `resume` (PL-6); `-` stays, as in `dry-run`."""
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in plain if char.isalnum() or char == "-")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _top_level(tokens: list[Token]) -> Iterator[Token]:
    """Paragraphs and fences that stand neither in another block nor between `<details>` and its end."""
    depth = 0
    for token in tokens:
        if token.level == 0 and depth == 0 and token.type in ("paragraph_open", "fence"):
            yield token
        depth = max(0, depth + _details(token))


def _details(token: Token) -> int:
    """How many `<details>` more are open after this token."""
    html = [token.content] if token.type == "html_block" else []
    html += [child.content for child in token.children or () if child.type == "html_inline"]
    text = "\n".join(html).casefold()
    return text.count("<details") - text.count("</details")


def _commands_of(lines: list[str], start: int, end: int) -> Iterator[ParsedCommand]:
    for number in range(start, min(end, len(lines))):
        match = _COMMAND.fullmatch(lines[number])
        if match is None or not _is_our_name(match[1]):
            continue
        verb, argument = _split(match[2].strip(" \t"))
        yield ParsedCommand(normalise(verb), argument, number + 1, written=verb)


def _is_our_name(word: str) -> bool:
    return normalise(word) == "remedy" and all(char.isalpha() or unicodedata.combining(char) for char in word)


def _split(rest: str) -> tuple[str, str]:
    parts = _SPACE.split(rest, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _attach_plan(found: list[ParsedCommand], token: Token) -> None:
    language = token.info.strip().split(" ")[0].casefold()
    if not found or language not in ("yaml", "yml") or found[-1].fenced_yaml is not None:
        return
    if len(token.content.encode()) <= MOST_PLAN_BYTES:
        found[-1] = replace(found[-1], fenced_yaml=token.content)


def _without_html_comments(text: str) -> str:
    """Every `<!-- ... -->` as blanks of the same shape; an open one reaches to the end of the text."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 4)
        stop = len(text) if end < 0 else end + 3
        parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:stop])]
        at = stop
    return "".join([*parts, text[at:]])
