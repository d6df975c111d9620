"""A comment's Markdown as GitHub shows it: tables, line breaks, folds; HTML only from a short list."""

import html
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup

_PLAIN = frozenset(
    {
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "blockquote", "pre", "hr", "br", "details", "summary"),
        *("a", "b", "code", "del", "em", "i", "img", "ins", "kbd", "s", "samp", "span", "strong", "sub", "sup"),
        *("dl", "dt", "dd", "li", "ol", "ul", "table", "thead", "tbody", "tr", "th", "td"),
    }
)
_ATTRIBUTES = frozenset(
    {"align", "alt", "class", "colspan", "height", "href", "open", "rowspan", "src", "title", "width"}
)
_EMPTY = frozenset({"br", "hr", "img"})
_HIDDEN = frozenset({"script", "style", "title", "textarea", "iframe"})
_MARKDOWN = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])


_ALERT = re.compile(r"<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*<br />")


def to_html(text: str | None) -> Markup:
    """Safe HTML; nothing of the text can run or load from elsewhere but an image."""
    cleaner = _Cleaner()
    cleaner.feed(_ALERT.sub(_alert, _MARKDOWN.render(text or "")))
    cleaner.close()
    return Markup(cleaner.text())


def _alert(found: re.Match[str]) -> str:
    """`> [!IMPORTANT]` is a box with a heading."""
    return f'<blockquote class="alert"><p><strong>{found[1].capitalize()}</strong></p><p>'


class _Cleaner(HTMLParser):
    """Keeps the tags of the list, closes what is left open, drops comments (our markers) and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._open: list[str] = []
        self._hidden = 0

    def text(self) -> str:
        return "".join(self._out) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        if self._hidden or tag not in _PLAIN:
            return
        kept = [(name, value or "") for name, value in attrs if name in _ATTRIBUTES and _is_safe(name, value or "")]
        shown = "".join(f' {name}="{html.escape(value)}"' for name, value in kept)
        self._out.append(f"<{tag}{shown}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(self._hidden - 1, 0)
        if tag not in self._open:
            return
        while (top := self._open.pop()) != tag:
            self._out.append(f"</{top}>")
        self._out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._out.append(html.escape(data, quote=False))


def _is_safe(name: str, value: str) -> bool:
    return name not in ("href", "src") or urlsplit(value.strip()).scheme in ("", "http", "https", "mailto")
