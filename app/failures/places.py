"""Find places (file, line, function) in the text of a failure and choose the one to show."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Place(NamedTuple):
    file: str
    line: int | None
    function: str = ""


# One row per spelling of a frame: a literal that must stand in the line, and the pattern with file, line, function.
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (", line ", re.compile(r"\s*File \"(?P<file>[^\"]+)\", line (?P<line>\d+)(?:,? in (?P<function>\S+))?")),
    ("at ", re.compile(r"\s*(?:│\s*)?at (?P<function>[\w$.<>/@ -]+)\((?P<file>[\w$+-]+\.\w+):(?P<line>\d+)\)")),
    (
        "at ",
        re.compile(
            r"\s*(?:│\s*)?at (?:async )?(?:(?P<function>[^()]{1,200}) )?\((?P<file>[^()]{1,400}?):(?P<line>\d+):\d+\)"
        ),
    ),
    ("at ", re.compile(r"\s*(?:│\s*)?at (?:async )?(?P<file>[^\s():][^\s()]{0,400}?):(?P<line>\d+):\d+$")),
    (":line ", re.compile(r"\s*at (?P<function>[^ ]{1,300}[^\n]{0,300}?) in (?P<file>.{1,400}):line (?P<line>\d+)")),
    ("panicked at ", re.compile(r".{0,400}?panicked at (?:'.{0,900}', )?(?P<file>[^\s:']+):(?P<line>\d+)")),
    (":in ", re.compile(r"\s*(?:# ?|from )?(?P<file>[^\s:]+):(?P<line>\d+):in [`'](?P<function>[^']+)'")),
    (".php(", re.compile(r"#\d+ (?P<file>[^\s(]+\.php)\((?P<line>\d+)\): (?P<function>[\w\\:>-]+)")),
    (
        ":",
        re.compile(
            r"\s*(?:# |❯ (?:[\w.<>]+ )?|→ |└─ )?(?P<file>(?:[A-Za-z]:)?[^\s:()'\"]{1,300}\.[A-Za-z]{1,"
            r"5}):(?P<line>\d+)(?![\d.])"
        ),
    ),
)
_INSTALLED = re.compile(
    r"site-packages|dist-packages|node_modules|/lib/python\d|\.cargo/registry|/gems/|/vendor/|node:|internal/|/usr/lib"
    r"|<frozen|/rustc/|<string>|<anonymous>|\.pyenv|/python\d\.\d+/lib"
    r"|^(?:timers|events|fs|net|module|util|vm|child_process|bootstrap_node|async_hooks|domain|_stream_\w+)\.js$|jest-circus|jasmine|/GOROOT|/usr/local/go/|_testmain\.go"
)

_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|testing)/|(?:^|[/._-])(?:test"
    r"|spec)s?[._-]|[a-z]Tests?\.|(?:^|/)Test[A-Z]|Spec\.|[._-](?:test"
    r"|spec)s?\.|Tests?\.\w+$"
)


def place_of(text: str) -> Place | None:
    """The frame that one line of a traceback names."""
    for literal, pattern in _SHAPES:
        if literal in text:
            found = pattern.match(text)
            if found:
                function = found.groupdict().get("function") or ""
                return Place(found["file"], int(found["line"][:9]), function.strip())
    return None


def places_in(lines: Iterable[str]) -> list[Place]:
    """All frames of a text, in order of print."""
    found = (place_of(line) for line in lines if ":" in line or ", line " in line or ".php(" in line)
    return [place for place in found if place]


def is_installed(file: str) -> bool:
    """Is this the file of an installed package or of the language itself, not of the project?"""
    return _INSTALLED.search(file) is not None


def same_file(one: str, other: str) -> bool:
    """Do two spellings name one file: equal, or one a tail of the other at a folder border?"""
    a, b = one.replace("\\", "/").removeprefix("./"), other.replace("\\", "/").removeprefix("./")
    return a == b or a.endswith("/" + b) or b.endswith("/" + a)


def looks_like_test(file: str) -> bool:
    """Does the path say that it is a test: a folder or a name with test or spec in it?"""
    return _TEST_FILE.search(file.replace("\\", "/")) is not None


def choose(places: list[Place], *, test_file: str = "", deepest_last: bool = False) -> Place | None:
    """The deepest frame in the test file, else in a file that looks like a test, else of the project (section 3.6)."""
    ordered = list(reversed(places)) if deepest_last else places
    for place in ordered:
        if test_file and same_file(place.file, test_file):
            return place
    project = [place for place in ordered if not is_installed(place.file)]
    return next((place for place in project if looks_like_test(place.file)), project[0] if project else None)
