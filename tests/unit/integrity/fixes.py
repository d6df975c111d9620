"""Build a fix from plain texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.integrity.gate import check
from app.integrity.model import Blob, Cell, Census, Change, Delta, Finding, Grid, Seen, Word

Texts = Mapping[str, str | Blob]


def files(texts: Texts) -> dict[str, Blob]:
    return {path: text if isinstance(text, Blob) else Blob(text.encode()) for path, text in texts.items()}


def changes(old: Mapping[str, Blob], new: Mapping[str, Blob]) -> tuple[Change, ...]:
    """Renames are files with equal content."""
    gone = [path for path in old if path not in new]
    come = [path for path in new if path not in old]
    found = [Change(path, path) for path in old if path in new and old[path] != new[path]]
    for path in list(gone):
        twin = next((other for other in come if new[other].data == old[path].data), None)
        if twin is not None:
            found.append(Change(path, twin))
            gone.remove(path)
            come.remove(twin)
    return (*found, *(Change(path, None) for path in gone), *(Change(None, path) for path in come))


def fix(head: Texts, fixed: Texts, base: Texts | None = None, named: tuple[str, ...] = (), title: str = "") -> Delta:
    """`fixed` holds only what the fix changes; a file that is gone is the empty Blob with mode `gone`."""
    before = files(head)
    after = {path: blob for path, blob in {**before, **files(fixed)}.items() if blob.mode != "gone"}
    root = files(base) if base is not None else before
    return Delta(root, before, after, changes(before, after), changes(root, before), named, "", title)


GONE = Blob(b"", "gone")


def said(delta: Delta, grid: Grid | None = None) -> list[tuple[str, str]]:
    """Rule and severity of each finding."""
    return [(one.rule, one.severity) for one in check(delta, grid)]


def of_rule(delta: Delta, rule: str, grid: Grid | None = None) -> list[Finding]:
    return [one for one in check(delta, grid) if one.rule == rule]


WORDS: Mapping[Word, Seen] = {
    "pass": Seen(3, passes=3),
    "fail": Seen(3, fails=3),
    "error": Seen(3, errors=3),
    "missing": Seen(3, missing=3),
    "flaky": Seen(3, passes=1, fails=2),
}


@dataclass(frozen=True)
class Words:
    """The word of each cell, in the order of the claim table; `n/a` was not run."""

    base: Word = "pass"
    head: Word = "fail"
    fixed: Word = "pass"
    without_source: Word = "n/a"
    base_source: Word = "n/a"
    original: Word = "n/a"
    reported: bool = True
    census: Census | None = None
    timeout: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)


def grid(words: Words, tests: tuple[str, ...] = ("t",)) -> Grid:
    """One word for every named test."""
    given: dict[str, Word] = {
        "base": words.base,
        "head": words.head,
        "fixed": words.fixed,
        "fixed_without_source": words.without_source,
        "base_source_with_fixed_tests": words.base_source,
        "fixed_source_with_original_tests": words.original,
    }
    cells = {}
    for name, word in given.items():
        if word == "n/a":
            continue
        seen = WORDS[word]
        if name == "head" and words.timeout:
            seen = Seen(3, fails=3, timeouts=3)
        cells[name] = Cell(dict.fromkeys(tests, seen), 3, reported=words.reported or name != "fixed")
    return Grid(cells, words.census)
