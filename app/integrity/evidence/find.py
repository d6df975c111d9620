"""Evidence of the pull request for a fix of the test side: PE-1 to PE-5 (proof.md, 7.1)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.integrity.checks.model import Check
from app.integrity.classes import is_snapshot
from app.integrity.evidence.documents import documents, whole_word
from app.integrity.evidence.signs import changed_values, sign, swaps
from app.integrity.facts import only_expected
from app.integrity.model import Finding
from app.integrity.rules.case import Case, FileView, lines_of
from app.integrity.sentences import SENTENCES
from app.integrity.syntax import Words, parse, text_of, walk
from app.integrity.units import Pair

CLAIMS: Mapping[str, tuple[str, ...]] = {
    "wrong_test": ("PE-1", "PE-2", "PE-4"),
    "wrong_new_test": ("PE-1", "PE-2"),
    "snapshot_outdated": ("PE-1", "PE-2", "PE-3"),
    "test_replaced": ("PE-4",),
    "flaky_test": ("PE-5",),
}
EXPLAINS: Mapping[str, tuple[str, ...]] = {
    "PE-1": ("TI010", "TI123", "TI500"),
    "PE-2": ("TI010", "TI123", "TI500"),
    "PE-3": ("TI010", "TI500"),
    "PE-4": ("TI010", "TI101", "TI125"),
    "PE-5": ("TI010", "TI123"),
}


@dataclass(frozen=True)
class Asked:
    """A claim for which evidence is looked for; `head` is the word of the head cell."""

    claim: str
    head: str


def evidence_for(case: Case, asked: Asked) -> tuple[list[Finding], tuple[str, ...]]:
    """Findings at info, and the rules that the evidence explains; without one, a finding that says so (PE-21)."""
    rules = CLAIMS.get(asked.claim, ())
    for rule in rules:
        found = _LOOK[rule](case, asked)
        if found is not None:
            return [found], EXPLAINS[rule]
    if not rules:
        return [], ()
    looked = ", ".join(SENTENCES[rule][0] for rule in rules)
    return [
        Finding(
            rules[0],
            "info",
            title="no evidence",
            explanation=f"Nothing in the pull request explains the new test: looked for {looked}.",
        )
    ], ()


def _documented(case: Case, asked: Asked) -> Finding | None:
    """PE-1: every changed value has its new part in documentation."""
    values = changed_values(case)
    texts = list(documents(case.delta))
    if not values or not texts or not _values_only(case):
        return None
    for value in values:
        part = value.new_part
        if not part or not all(any(_stands(word, text.new) for text in texts) for word in part):
            return None
    text = next(text for text in texts if any(_stands(word, text.new) for value in values for word in value.new_part))
    return sign("PE-1", text.path, text.numbers[0], values[0].old[:1], values[0].new[:1])


def _stands(word: str, lines: tuple[str, ...]) -> bool:
    return len(word) > 0 and any(whole_word(word, line) for line in lines)


def _values_only(case: Case) -> bool:
    """The fix changes expected values and output, nothing else of the test side."""
    for file in case.of("test", "harness"):
        if file.cls == "harness":
            return False
        if (file.old_units or file.new_units) and not only_expected(case, file):
            return False
    return True


def _carried(case: Case, asked: Asked) -> Finding | None:
    """PE-2: one literal was replaced in source and documentation; the fix changes expected values only."""
    if not _values_only(case):
        return None
    for swap in swaps(case):
        if swap.old in ("0", "1", "-1", "") or swap.new in ("0", "1", "-1", ""):
            continue
        for text in documents(case.delta):
            lost = _stands(swap.old, text.old) and not _stands(swap.old, text.new)
            if lost and _stands(swap.new, text.new) and _is_imported(case, swap.path):
                return sign("PE-2", text.path, text.numbers[0], (swap.old,), (swap.new,))
    return None


def _is_imported(case: Case, path: str) -> bool:
    """A changed test file names the module or its package, or stands in the same folder."""
    stem = re.sub(r"(?:/index|/__init__|/mod|/lib)?\.\w+$", "", path)
    names = {part for part in re.split(r"[/.]", stem) if part not in ("src", "lib", "")}
    for file in case.of("test"):
        if file.path.rpartition("/")[0] == path.rpartition("/")[0]:
            return True
        if file.new is None or any(name in line for line in file.new_lines for name in names):
            return True
    return False


def _additive(case: Case, asked: Asked) -> Finding | None:
    """PE-3: all old lines of the output are kept in order, and each new key is announced."""
    files = [file for file in case.of("test") if is_snapshot(file.path) or file.new is None]
    if not files or len(files) != len(case.of("test", "harness")):
        return None
    added = [line for _, line in _pull_source(case)]
    told = [line for text in documents(case.delta) for line in text.new] + [case.delta.title]
    for file in files:
        keys = _new_keys(file)
        if not keys or not _keeps_order(file.old_lines, file.new_lines):
            return None
        if not all(
            any(whole_word(key, line) for line in added) and any(whole_word(key, line) for line in told) for key in keys
        ):
            return None
    return sign("PE-3", files[0].path, None, (), tuple(_new_keys(files[0])))


def _keeps_order(old: list[str], new: list[str]) -> bool:
    rest = iter(line.strip().rstrip(",") for line in new)
    return all(any(line.strip().rstrip(",") == other for other in rest) for line in old)


def _new_keys(file: FileView) -> list[str]:
    """The first word of three letters or more of each new line."""
    found = []
    for _, line in file.added:
        words = re.findall(r"[A-Za-z_][\w-]{2,}", line)
        if not words:
            return []
        found.append(words[0])
    return found


def _pull_source(case: Case) -> list[tuple[str, str]]:
    rows = []
    for change in case.delta.pull:
        if change.new is None or case.head_class(change.new) != "source":
            continue
        known = {line.strip() for line in lines_of(case.delta.base.get(change.old or ""))}
        rows += [(change.new, line) for line in lines_of(case.delta.head.get(change.new)) if line.strip() not in known]
    return rows


def _symbol_gone(case: Case, asked: Asked) -> Finding | None:
    """PE-4: the pull request removed or renamed a symbol, and every assertion is kept or has a stronger successor."""
    if asked.claim == "wrong_test" and asked.head != "error":
        return None
    gone = case.symbols.gone
    used = {word for file in case.tests for unit in file.old_units for word in unit.words}
    outside = {word.text for file in case.tests for word in file.outside("old")}
    names = sorted(gone & (used | outside))
    if not names:
        return None
    for file in case.tests:
        if not _assertions_kept(case, file, frozenset(names)):
            return None
    return sign("PE-4", next(iter(sorted(case.pull_paths)), None), None, tuple(names[:1]), ())


def _assertions_kept(case: Case, file: FileView, gone: frozenset[str]) -> bool:
    pairs = file.pairs
    fresh = [pair.new for pair in pairs if pair.old is None and pair.new is not None]
    for pair in pairs:
        if pair.old is None:
            continue
        old = case.checks(pair.old, case.parsed_of(file, pair.old))
        if pair.new is not None:
            if not _all_kept(old, case.checks(pair.new, case.parsed_of(file, pair.new))):
                return False
            continue
        if not gone & set(pair.old.words):
            return False
        heirs = [case.checks(unit, case.parsed_of(file, unit)) for unit in fresh]
        if not any(_all_kept(old, new) for new in heirs):
            return False
    return True


def _all_kept(old: list[Check], new: list[Check]) -> bool:
    """Each old assertion has a new one with the same expected value and at least the same strength."""
    left = list(new)
    for check in old:
        other = next(
            (
                one
                for one in left
                if one.kind == check.kind and one.strength >= check.strength and _same_value(check, one)
            ),
            None,
        )
        if other is None:
            return False
        left.remove(other)
    return True


def _same_value(old: Check, new: Check) -> bool:
    return old.expected == new.expected or (old.kind == "raises" and not old.expected)


_UNORDERED = re.compile(
    r"\b(?:set|Set|frozenset|HashMap|HashSet|map|Map|dict|Hash|keys|Keys|values|items|unordered|any order|no order|"
    r"no particular order|arbitrary|random)\b"
)
_ORDERED = re.compile(
    r"(?i)\b(?:sorted|ordered|in order|sort|first|stable|ascending|descending|chronological|order of (?:appearance|"
    r"first|insertion))\b"
)
_SORTS = re.compile(
    r"\b(?:sort|sorted|Strings|Ints|Slice|set|Set|ElementsMatch|assertCountEqual|match_array|contain_exactly|"
    r"toSorted|arrayContaining|HashSet|BTreeSet|Counter|frozenset|containsExactlyInAnyOrder)\b"
)


def _free_order(case: Case, asked: Asked) -> Finding | None:
    """PE-5: the same members are compared as often as before, only their order no longer matters."""
    named = [(file, pair) for file, pair in case.pairs if pair.old and pair.new and pair.old.words != pair.new.words]
    if not named or any(pair.old is None or pair.new is None for _, pair in case.pairs):
        return None
    for file, pair in named:
        if not _same_members(case, file, pair):
            return None
        if not _subject_is_unordered(case, file, pair):
            return None
    return sign("PE-5", named[0][0].path, None, (), ())


def _same_members(case: Case, file: FileView, pair: Pair) -> bool:
    assert pair.old is not None and pair.new is not None
    old, new = (case.checks(unit, case.parsed_of(file, unit)) for unit in (pair.old, pair.new))
    added = [word for word in pair.new.words if word not in pair.old.words]
    if re.search(r"\b(?:retry|sleep|range|while|for)\b", " ".join(added)):
        return False
    if len(old) != len(new) or any(a.strength > b.strength for a, b in zip(old, new, strict=True)):
        return False
    members = [(_members(a.expected), _members(b.expected)) for a, b in zip(old, new, strict=True)]
    sorts = bool(_SORTS.search(" ".join(added))) or "{" in added
    return sorts and all(a == b for a, b in members)


def _members(words: Words) -> list[str]:
    return sorted(word for word in words if word[0] == '"' or word[:1].isdigit())


def _subject_is_unordered(case: Case, file: FileView, pair: Pair) -> bool:
    """The function's own text at head: its type has no order or its documentation says so, and nothing promises one."""
    assert pair.old is not None and pair.new is not None
    names = {word for word in pair.new.words if word.isidentifier() and len(word) > 2 and word != pair.new.own}
    texts = [
        row for path in case.delta.head if case.head_class(path) == "source" for row in _functions(case, path, names)
    ]
    promised = any(_ORDERED.search(f"{re.sub('_', ' ', name)} {documented}") for name, documented, _ in texts)
    return bool(texts) and not promised and any(_UNORDERED.search(f"{text} {code}") for _, text, code in texts)


def _functions(case: Case, path: str, names: set[str]) -> list[tuple[str, str, str]]:
    """Name, documentation and whole text of the functions of a file that the test names."""
    blob = case.delta.head[path]
    parsed = parse(path, blob.data) if any(name.encode() in blob.data for name in names) else None
    if parsed is None:
        return []
    lines = lines_of(blob)
    found = []
    for node in walk(parsed.root):
        name = node.child_by_field_name("name")
        if node.type not in parsed.language.functions or name is None or text_of(name) not in names:
            continue
        start = node.start_point[0]
        above = start
        while above > 0 and _COMMENT.match(lines[above - 1]):
            above -= 1
        own = lines[start : node.end_point[0] + 1]
        quoted = own[1:2] if parsed.language.name == "python" and re.match(r"\s*[rR]?[\"']", "".join(own[1:2])) else []
        found.append((text_of(name), "\n".join([*lines[above:start], *quoted]), "\n".join(own)))
    return found


_COMMENT = re.compile(r"\s*(?:#|//|\*|/\*)")


_LOOK: Mapping[str, Callable[[Case, Asked], Finding | None]] = {
    "PE-1": _documented,
    "PE-2": _carried,
    "PE-3": _additive,
    "PE-4": _symbol_gone,
    "PE-5": _free_order,
}
