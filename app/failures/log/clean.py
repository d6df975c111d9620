"""Clean one raw log line: stamp, workflow level, terminal codes, carriage returns (section 4.2)."""

import re

LINE_CAP = 4096
HEAD, TAIL = 3072, 1024
CUT = " [...] "
_CUT_BYTES = CUT.encode()

LEVELS = ("error", "warning", "notice", "group", "endgroup", "command", "debug", "section")

# The erasing and homing codes act as a carriage return: what follows rewrites the line.
_REWRITES = re.compile(r"\x1b\[(?:[012]?K|[01]?G)")
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07"
    r"|\x1b\\|$)|_[^\x07\x1b]{0,256}(?:\x07|\x1b\\|$)|[()][0-9A-Za-z]"
    r"|[=>78cDEHMNOZ])"
)
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|travis_")
_CONTROL = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])
_TRAVIS = re.compile(r"travis_(?:fold|time):\w{1,8}:[^\r\n]{0,200}?\r")


# Text, the ISO time in front of the line or "", a workflow command's word or None, the job's name or "".
Cleaned = tuple[str, str, str | None, str]


def cap(raw: bytes) -> bytes:
    """Head and tail of an over-long line, so that no pattern sees more than 4 KB (ST-L5)."""
    return raw if len(raw) <= LINE_CAP else raw[:HEAD] + _CUT_BYTES + raw[-TAIL:]


def clean(raw: bytes) -> Cleaned:
    """One line without its newline; bad UTF-8 becomes U+FFFD. Container prefixes are cut elsewhere (prefix.py)."""
    if raw.endswith(b"\r"):
        raw = raw.rstrip(b"\r")
    if len(raw) > LINE_CAP:
        raw = cap(raw)
    stamp, job, level = "", "", None
    if raw[27:29] == b"Z " and raw[10:11] == b"T" and raw[4:5] == b"-":  # the runner's own stamp, 28 bytes
        stamp, text = raw[:28].decode("ascii", "replace"), raw[29:].decode("utf-8", "replace")
        if text[:3] == "##[":
            level, text = workflow_level(text)
        if not text.isprintable() and _ODD.search(text):
            text = strip_terminal(text)
        return text, stamp, level, ""
    text = raw.decode("utf-8", "replace")
    if text[:1] == "\ufeff":
        text = text[1:]
    if "\t" in text and not _stamped(text):
        job, text = _columns(text)
        text = text.removeprefix("\ufeff")
    if text[10:11] == "T" and _stamped(text):
        cut = text.index("Z", 19)
        stamp, text = text[: cut + 1], text[cut + 2 :]
        if text[:1] == "\ufeff":
            text = text[1:]
    if text[:3] == "##[":
        level, text = workflow_level(text)
    if not text.isprintable() and _ODD.search(text):
        text = strip_terminal(text)
    return text, stamp, level, job


def strip_terminal(text: str) -> str:
    """Text as a terminal would leave it: no colours, no control characters, the last rewrite of the line."""
    if "travis_" in text:
        text = _TRAVIS.sub("", text)
    if "\x1b" in text:
        text = _ANSI.sub("", _REWRITES.sub("\r", text))
    if "\r" in text:
        parts = [part for part in text.split("\r") if part.strip()]
        text = parts[-1] if parts else ""
    return text.translate(_CONTROL)


def _stamped(text: str) -> bool:
    """Is there an Actions time stamp in front: `YYYY-MM-DDTHH:MM:SS[.fraction]Z `?"""
    return len(text) >= 20 and text[4] == "-" and text[10] == "T" and text[:4].isdigit() and "Z" in text[19:30]


def _columns(text: str) -> tuple[str, str]:
    """The job and the rest of a line of `gh run view --log`: job TAB step TAB stamp."""
    columns = text.split("\t", 2)
    if len(columns) == 3 and _stamped(columns[2].lstrip("\ufeff")[:40]):
        return columns[0], columns[2]
    return "", text


def workflow_level(text: str) -> tuple[str | None, str]:
    """The word of `##[word]text` and the text behind it."""
    word, bracket, rest = text[3:].partition("]")
    return (word, rest) if bracket and word in LEVELS else (None, text)
