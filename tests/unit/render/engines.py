"""What two Markdown engines make of a text: the parts that a reader or GitHub would act on."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt

_IT = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"])
ENGINES = {
    "markdown-it": _IT.render,
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE),
}


@dataclass
class Page(HTMLParser):
    """Text outside code, links, tags in order of opening, cells per table row."""

    text: str = ""
    code: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._inside_code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ("code", "pre"):
            self._inside_code += 1
            self.code.append("")
        elif tag == "tr":
            self.rows.append(0)
        elif tag in ("td", "th"):
            self.rows[-1] += 1
        elif tag == "a":
            self.links.append(dict(attrs).get("href") or "")
        assert tag != "img", "an image is live"
        assert not any(name.startswith("on") for name, _ in attrs), "a handler is live"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("code", "pre"):
            self._inside_code -= 1

    def handle_data(self, data: str) -> None:
        if self._inside_code:
            self.code[-1] += data
        else:
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def read(engine: str, text: str) -> Page:
    """The page that `engine` makes of a Markdown text."""
    page = Page()
    html = ENGINES[engine](text)
    page.feed(html)
    page.close()
    assert html.count("<details>") == html.count("</details>") == html.count("<summary>")
    return page


ALLOWED_TAGS = frozenset(
    {
        *("p", "h3", "strong", "em", "code", "pre", "br", "a", "hr", "ol", "li", "blockquote", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
)
LIVE = re.compile(
    r"@\w|(?<![\w/])#\d|\bGH-\d|https?://|www\.\w|\b\w+@\w|(?<!`)/remedy|:[a-z0-9_+-]+:(?!\d)|\b[0-9a-f]{40}\b",
    re.IGNORECASE,
)


def assert_inert(page: Page, hosts: tuple[str, ...] = ("https://github.com/", "https://remedy.acme.example/")) -> None:
    """Nothing of the outside acts: no foreign tag, no link but ours, nothing that GitHub would link or notify."""
    foreign = set(page.tags) - ALLOWED_TAGS
    assert not foreign, foreign
    assert all(link.startswith(hosts) for link in page.links), page.links
    found = LIVE.findall(page.text)
    assert not found, found
    hidden = re.search("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u2028\u2029\x00-\x08\x0b-\x1f\x7f]", page.text)
    assert hidden is None, hidden
