"""Read `/remedy` commands out of a comment; pure, and linear in the length of the comment."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

MOST_CHARACTERS = 65_536
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
    `<details>`, or inside code, a tag or a link that runs over lines, is no command. Never raises. A text longer than
    a comment can be (65,536 characters) holds none.
    """
    if len(body) > MOST_CHARACTERS or "/" not in body:
        return []
    text = _without_html_comments(body.replace("\r\n", "\n").replace("\r", "\n"))
    lines = text.split("\n")
    found: list[ParsedCommand] = []
    for token, inline in _top_level(_markdown().parse(text)):
        if token.type == "fence":
            _attach_plan(found, token)
        elif token.map is not None and inline is not None and len(found) < MOST_COMMANDS:
            found += _commands_of(lines, token.map, inline)
    return found[:MOST_COMMANDS]


def normalise(word: str) -> str:
    """Letters and digits without accents and case: `Résume` is `resume` (PL-6); `-` stays, as in `dry-run`."""
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in plain if char.isalnum() or char == "-")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _top_level(tokens: list[Token]) -> Iterator[tuple[Token, Token | None]]:
    """Paragraphs with their inline token, and fences, that stand neither in another block nor inside `<details>`."""
    depth = 0
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        if token.level == 0 and depth == 0 and token.type in ("paragraph_open", "fence"):
            yield token, following
        depth = max(0, depth + _details(token))


def _details(token: Token) -> int:
    """How many `<details>` more are open after this token."""
    html = [token.content] if token.type == "html_block" else []
    html += [child.content for child in token.children or () if child.type == "html_inline"]
    text = "\n".join(html).casefold()
    return text.count("<details") - text.count("</details")


def _commands_of(lines: list[str], span: list[int], inline: Token) -> Iterator[ParsedCommand]:
    starts = list(_line_starts(inline))
    for number in range(span[0], min(span[1], len(lines))):
        match = _COMMAND.fullmatch(lines[number])
        if match is None or not _is_our_name(match[1]):
            continue
        shown = next((at for at, start in enumerate(starts) if _fits(start, match)), None)
        if shown is None:
            continue
        del starts[: shown + 1]
        verb, argument = _split(match[2].strip(" \t"))
        yield ParsedCommand(normalise(verb), argument, number + 1, written=verb)


def _line_starts(inline: Token) -> Iterator[str]:
    """The plain text that begins each line of a paragraph; lines inside code, tags and links have none."""
    at_start, in_link = True, 0
    for child in inline.children or ():
        if at_start and child.type == "text" and not in_link:
            yield child.content.lstrip(" ")
        in_link += {"link_open": 1, "link_close": -1}.get(child.type, 0)
        at_start = child.type in ("softbreak", "hardbreak")


def _fits(start: str, match: re.Match[str]) -> bool:
    """Whether a line that is shown as `start` can be the command line; emphasis may cut it after the first word."""
    shown = _COMMAND.match(start)
    if shown is None or shown[1] != match[1]:
        return False
    verb = shown[2].split(" ", 1)[0]
    return not verb or match[2].lstrip(" \t").startswith(verb)


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
