"""Make text from outside harmless in Markdown: an identifier, a block of lines, or one plain paragraph."""

import re
import unicodedata
from collections.abc import Iterator

from markupsafe import Markup

_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
_KEPT = {0x09: "    ", 0x0A: "\n"}

# What GitHub makes live in a paragraph (ux.md, section 9). Bounded runs of plain classes: matching stays linear.
_LIVE = re.compile(
    r"""[a-z][a-z0-9+.-]{0,30}://[^\s|]+ | www\.[^\s|]+ | mailto:[^\s|]+
      | [\w.+-]{0,64}@[\w./+-]*
      | (?:[\w.-]{1,80}/[\w.-]{1,80})?\#\d+ | GH-\d+
      | /remedy[^\n|]{0,40}
      | [0-9a-f]{7,}
      | :[a-z0-9_+-]{1,40}:
      | [\w.-]{1,80}/[\w.-]{1,80}@[0-9a-f]{7,40}""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKDOWN_SIGNS = re.compile(r"[\\`*_\[\]|~$]")
LONGEST_RUN = 40
_LONG_RUN = re.compile(f"`{{{LONGEST_RUN + 1},}}")
"""cmark-gfm knows no code span between runs of more than 80 backticks: what stands in one would be live."""
_BLOCK_START = re.compile(r"^(?:[-+#>=]|(\d{1,9})(?=[.)](?:\s|$)))")


class _Visible(dict[int, str]):
    """Translation table, filled as characters come by: what cannot be seen becomes its escape."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        shown = char
        if unicodedata.category(char) in _HIDDEN_CATEGORIES:
            shown = f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
        self[point] = shown
        return shown


_VISIBLE = _Visible(_KEPT)


def clean(text: str) -> str:
    """Without colour codes and with every invisible character shown as `\\u202e`; line ends are `\\n`."""
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """`clean` text with each run of white space as one space."""
    return " ".join(clean(text).split())


def cut_middle(text: str, size: int) -> str:
    """At most `size` characters; test names differ at the end, so the middle goes."""
    if len(text) <= size:
        return text
    tail = (size - 1) // 2
    return text[: size - 1 - tail] + "…" + text[len(text) - tail :]


def cut_line(line: str, width: int) -> str:
    """At most `width` characters, the beginning stays."""
    return line if len(line) <= width else line[: width - 1] + "…"


def cut_end(text: str, size: int) -> str:
    """At most `size` characters, cut after a word where one ends nearby."""
    if len(text) <= size:
        return text
    head = text[: size - 1]
    space = head.rfind(" ", size * 3 // 4)
    return (head[:space] if space > 0 else head) + "…"


def longest_run(text: str, char: str = "`") -> int:
    """Length of the longest run of `char` in `text`."""
    return max((len(run) for run in re.findall(re.escape(char) + "+", text)), default=0)


def _code_span(text: str, *, table: bool) -> str:
    text = _LONG_RUN.sub("`" * LONGEST_RUN + "…", text)
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    span = f"{ticks}{pad}{text or ' '}{pad}{ticks}"
    return span.replace("|", "\\|") if table else span


def code(text: object, n: int = 120, table: bool = False) -> Markup:
    """An identifier as one code span of at most `n` characters, safe in a table cell when `table`."""
    return Markup(_code_span(cut_middle(one_line(str(text)), n), table=table))


def cell(text: object, n: int = 60) -> Markup:
    """`code` for a table cell."""
    return code(text, n, table=True)


def fence(text: object, lines: int = 20, width: int = 200, lang: str = "text") -> Markup:
    """A fenced block of at most `lines` lines (first and last halves) of `width` characters.

    The fence is longer than any run of backticks that is left after the cut.
    """
    kept = [
        line if len(line) <= width else line[: width - 1] + "…" for line in clean(str(text)).strip("\n").split("\n")
    ]
    if len(kept) > lines:
        head, tail = lines - lines // 2, lines // 2
        left_out = f"… {len(kept) - head - tail} lines left out …"
        kept = [*kept[:head], left_out, *(kept[-tail:] if tail else [])]
    body = "\n".join(kept)
    ticks = "`" * max(3, longest_run(body) + 1)
    return Markup(f"{ticks}{lang}\n{body}\n{ticks}")


def _plain(text: str) -> str:
    escaped = _MARKDOWN_SIGNS.sub(r"\\\g<0>", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def _live_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where live pieces stand; touching ones as one, because two code spans side by side would not close."""
    start = end = 0
    for live in _LIVE.finditer(text):
        if live.start() > end:
            if end > start:
                yield start, end
            start = live.start()
        end = live.end()
    if end > start:
        yield start, end


def _inert(text: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in _live_spans(text):
        parts += [_plain(text[at:start]), _code_span(text[start:end], table=True)]
        at = end
    return "".join([*parts, _plain(text[at:])])


def _no_block_start(text: str) -> str:
    def escape(start: re.Match[str]) -> str:
        return f"{start[1]}\\" if start[1] else f"\\{start[0]}"

    return _BLOCK_START.sub(escape, text)


def prose(text: object, n: int = 400) -> Markup:
    """One plain paragraph of a person or a model, at most `n` characters of it, with nothing live."""
    return Markup(_no_block_start(_inert(cut_end(one_line(str(text)), n))))


def facts(text: object, n: int = 200) -> Markup:
    """A sentence of ours about outside things: `prose`, but its code spans stay code spans; safe in a table cell."""
    pieces = cut_end(one_line(str(text)), n).split("`")
    if len(pieces) % 2 == 0:
        return prose(text, n)
    shown = [_code_span(piece, table=True) if i % 2 else _inert(piece) for i, piece in enumerate(pieces)]
    return Markup(_no_block_start("".join(shown)))
