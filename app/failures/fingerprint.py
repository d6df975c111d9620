"""Identity of a failure: its test and its innermost error, with everything removed that changes by itself (6.1)."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.failures.places import is_installed, places_in

VERSION = 1
ERROR_CHARS = 400
READ_CHARS = 4_000


class Fingerprint(NamedTuple):
    """`key` is SHA-256 in hex; `unstable_id` says that the test's own name held something volatile."""

    key: str
    unstable_id: bool


@dataclass(frozen=True)
class Rule:
    """One row of the table in section 6.1. `in_id`: it also cleans test names; `volatile`: such a name is unstable."""

    name: str
    pattern: re.Pattern[str]
    becomes: str
    in_id: bool = False
    volatile: bool = False


_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
RULES: tuple[Rule, ...] = (
    Rule("FP-12", re.compile(r"\*{3,}|\[secure\]|\[redacted:[^\]]{0,60}\]"), "<mask>", True, True),
    Rule(
        "FP-7",
        re.compile(
            r"(?:/private)?/(?:tmp|var/folders|var/tmp)/[^\s'\":,;)]+"
            r"|[A-Za-z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp\\[^\s'\":,;)]+"
            r"|\bpytest-of-\w+/pytest-\d+|\btmp[a-z0-9_]{6,8}\b"
        ),
        "<tmp>",
        True,
        True,
    ),
    Rule(
        "FP-6",
        re.compile(
            r"/home/runner/work/[^/\s]+/[^/\s]+|/__w/[^/\s]+/[^/\s]+"
            r"|/Users/runner/work/[^/\s]+/[^/\s]+|[A-Za-z]:\\a\\[^\\\s]+\\[^\\\s]+"
            r"|/github/workspace|/home/travis/build/[^/\s]+/[^/\s]+|/Users/travis/build/[^/\s]+/[^/\s]+"
        ),
        "<ws>",
        True,
        True,
    ),
    Rule(
        "FP-6h",
        re.compile(r"/(?:home|Users)/[^/\s'\":]+|[A-Za-z]:\\Users\\[^\\\s'\":]+|(?<![\w/])/root(?=/)"),
        "<home>",
        True,
        True,
    ),
    Rule(
        "FP-11",
        re.compile(
            r"(?:/[\w.@+-]{1,40}){0,12}/(?:site-packages|dist-packages"
            r"|node_modules|\.m2/repository|\.cargo/registry/src"
            r"|gems)/"
        ),
        "<pkg>/",
    ),
    Rule("FP-5", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>", True, True),
    Rule(
        "FP-2",
        re.compile(
            r"\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
            rf"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}),? \d{{4}}\b"
            r"|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M)?\b|\b1[5-9]\d{8}(?:\.\d{1,9}|\d{3})?\b"
        ),
        "<time>",
        True,
        True,
    ),
    Rule("FP-4", re.compile(r"\b0x[0-9a-fA-F]{4,16}\b|@[0-9a-f]{6,8}\b"), "<addr>", True, True),
    Rule("FP-5h", re.compile(r"\b(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{12,64}\b"), "<hash>", True, True),
    Rule("FP-10", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)|\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b"), "<ip>"),
    Rule("FP-10h", re.compile(r"\b(?:fv-az|ip|runner|host)-?\d[\w-]{2,40}\b"), "<host>"),
    Rule(
        "FP-3",
        re.compile(r"\b\d[\d,]*(?:\.\d+)? ?(?:ns|µs|us|ms|msecs?|secs?|seconds?|s|mins?|minutes?|m|hours?|h)\b"),
        "<dur>",
        True,
        True,
    ),
    Rule("FP-3s", re.compile(r"\b\d[\d,]*(?:\.\d+)? ?(?:[KMGT]i?B|bytes|kB)\b"), "<size>", True, True),
    Rule(
        "FP-9",
        re.compile(
            r"\b(pid|process|thread|worker|goroutine|port"
            r"|gw|Thread|Process|ForkPoolWorker|pool-\d+-thread)([ =:#-]{0,2})\d+\b"
        ),
        r"\1\2<n>",
        True,
        True,
    ),
    Rule(
        "FP-9p",
        re.compile(r"(?<=localhost:)\d{2,5}\b|(?<=<ip>:)\d{2,5}\b|(?<=\$\$Lambda)[/$]\d+|(?<=lambda\$)\d+"),
        "<n>",
        True,
        True,
    ),
    Rule("FP-8", re.compile(r"(?<=\.)([A-Za-z]{1,5}):\d+(?::\d+)?\b|(?<=, )(line) \d+"), r"\1\2:<n>", True),
)
_CHAIN_PYTHON = ("The above exception was the direct cause", "During handling of the above exception")
_CHAIN_INNER = re.compile(r"\s*(?:Caused by:|Caused by |\[cause\]:|---> ?)\s*(.*)")
_ASSERTS_NOTHING = re.compile(
    r"(?:\w+(?:Error|Exception|Failure)?:? ?)?(?:assert(?:ion failed)?:? ?)?(?:false"
    r"|true|none|null|0|1|expected true|failed)?\W*$",
    re.IGNORECASE,
)
SPECIFIC_CHARS = 12


def normalise(text: str, *, is_id: bool = False) -> str:
    """Text with the volatile parts replaced, white space folded, at most 400 characters (FP-1 to FP-13)."""
    text = text[:READ_CHARS]
    text = " ".join(text.replace("\\", "/").split()) if is_id else " ".join(text.split())
    for rule in RULES:
        if rule.in_id or not is_id:
            text = rule.pattern.sub(rule.becomes, text)
    return text if is_id else text[:ERROR_CHARS]


def is_unstable(test_id: str) -> bool:
    """Does the test's own name hold a time, an address, a number of a process or a temporary path?"""
    return any(rule.volatile and rule.pattern.search(test_id) for rule in RULES)


def innermost_error(message: str, detail: str) -> str:
    """The first error in the chain of causes, type and text, without frames."""
    lines = detail.splitlines()
    inner = ""
    for at, line in enumerate(lines):
        if any(mark in line for mark in _CHAIN_PYTHON):
            return _last_error_of(lines[:at]) or message
        found = _CHAIN_INNER.match(line)
        if found and found[1].strip():
            inner = found[1].strip()
    return inner or message


def innermost_frame(detail: str, message: str = "") -> str:
    """`function file` of the deepest project frame, without folder and line; empty when the text has none."""
    lines = detail.splitlines()
    places = [place for place in places_in([*lines, message]) if not is_installed(place.file)]
    if not places:
        return ""
    deepest_last = any('File "' in line or line.startswith(("E  ", ">  ")) for line in lines)
    place = places[-1] if deepest_last else places[0]
    return f"{place.function} {place.file.replace(chr(92), '/').rsplit('/', 1)[-1]}".strip()


def fingerprint(test_id: str, message: str, detail: str = "") -> Fingerprint:
    """Identity of one failure: the same on two runners, two workspaces and two days (FP-20)."""
    parts = (normalise(test_id, is_id=True), normalise(innermost_error(message, detail)))
    return Fingerprint(_digest(parts), is_unstable(test_id))


def group_key(message: str, detail: str) -> str:
    """Root cause of one failure; empty when the error is too bare to say that two failures are one (6.2, step 3)."""
    error = normalise(innermost_error(message, detail))
    frame = innermost_frame(detail, message)
    if not frame and (len(error) < SPECIFIC_CHARS or _ASSERTS_NOTHING.match(error)):
        return ""
    return _digest((error, frame)) if error else ""


def dedup_tag(prefix: str, ids: Iterable[str]) -> str:
    """Prefix and the first 12 hex digits of sha256 over all sorted test ids joined by newline (IT-20, A7)."""
    return prefix + hashlib.sha256("\n".join(sorted(ids)).encode("utf-8", "replace")).hexdigest()[:12]


def _last_error_of(lines: Sequence[str]) -> str:
    """The error that a traceback without its followers ends with: its last group of `E` lines, else its last line."""
    message, inside = "", False
    for line in lines:
        is_error = line.startswith("E ")
        if is_error and not inside:
            message = line[1:].strip()
        inside = is_error
    return message or next((line.strip() for line in reversed(lines) if line.strip()), "")


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((str(VERSION), *parts)).encode("utf-8", "replace")).hexdigest()
