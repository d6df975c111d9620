"""Marks that switch tests off, focus some, or repeat them: TI110, TI111, TI112, TI250."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.integrity.languages import Language, is_javascript
from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.syntax import Parsed, Word, bare_stream, line_at, words_of
from app.integrity.units import Unit

# Patterns for the words of code with one blank between them; strings are empty there.
SKIPS: Mapping[str, str] = {
    "python": r"(?:mark \. (?:skip|skipif|xfail)|(?:pytest|unittest) \. (?:skip|skipIf|skipUnless|xfail|importorskip|"
    r"expectedFailure|SkipTest|skip_if|exit)|self \. skipTest|raise SkipTest|@ (?:skip|skipIf|skipUnless|skipif|"
    r"xfail|expectedFailure|"
    r"unittest_skip)|__test__ = False|__unittest_skip__ = True|collect_ignore(?:_glob)? =|load_tests|pytest_skip)\b",
    "javascript": r"(?:\. (?:skip|todo|failing|fails|skipIf|runIf)\b(?= [(\[.]| $)|\b(?:xit|xtest|xdescribe|xspecify|"
    r"xcontext) [(.]|"
    r"\b(?:skip|todo) : (?:true|\"\")|this \. skip \(|\bpending \()",
    "go": r"(?:\w+ \. (?:Skip|Skipf|SkipNow) \(|testing \. Short \()",
    "rust": r"(?:# \[ (?:ignore|should_panic)\b|# \[ cfg_attr \( .{0,60}? ignore|# \[ cfg \( (?!test \))|"
    r"unimplemented !|todo !)",
    "java": r"(?:@ (?:Ignore|Disabled\w*|EnabledIf\w*|EnabledOn\w*|EnabledFor\w*)\b|\b(?:assume\w+|"
    r"assumingThat) \(|Assume \. |Assumptions \. |abort \()",
    "ruby": r"(?:(?<![\w.:] )(?<!\. )\b(?:skip|omit|pending)\b(?! :|=| =)|\b(?:xit|xdescribe|xcontext|xspecify|"
    r"xexample|xscenario)\b|"
    r"\"\" => true|\b(?:skip|pending) : |, \"\" (?=do|\{))",
}
FOCUS: Mapping[str, str] = {
    "javascript": r"(?:\b(?:it|test|describe|context|suite|specify) \. only\b|\b(?:fit|fdescribe|ftest) \(|"
    r"\bonly : true)",
    "ruby": r"(?:\b(?:fit|fdescribe|fcontext|fspecify|fexample) |\bfocus : true|\bfilter_run_when_matching|"
    r"\bfilter_run \()",
}
RETRIES: Mapping[str, str] = {
    "python": r"(?:mark \. (?:flaky|repeat)|@ (?:flaky|retry|retrying|reruns)\b|tenacity|\bflaky \(|\breruns\b|"
    r"\brerun_filter\b)",
    "javascript": r"(?:\. retries \(|retryTimes \(|\bretry : [1-9]|\bretries : [1-9]|currentRetry|\bretryable \()",
    "go": r"(?:\bretry\w* \. |\bretry\w* \(|backoff \. Retry)",
    "rust": r"(?:\bflaky_test\b|# \[ retry|\bretry ::)",
    "java": r"(?:@ (?:RetryingTest|RepeatedIfExceptionsTest|Retry\w*|Flaky\w*)\b|RetryRule|new Retry)",
    "ruby": r"(?:(?<![.\w] )\bretry\b(?! \()|\bretry : [1-9]|rspec_retry|\bretries : [1-9]|run_with_retry)",
}
_CONDITIONS = re.compile(
    r"Short|short|platform|darwin|win32|windows|linux|os \. name|GOOS|runtime|which|shutil|find_spec|importorskip|"
    r"slow|integration|"
    r"LookPath|version|SKIP_|EnabledOnOs|DisabledOnOs|root|getuid|RUBY_PLATFORM|env|target_os|feature"
)


def key_of(language: Language) -> str:
    return "javascript" if is_javascript(language) else language.name


@dataclass(frozen=True)
class _Hit:
    text: str
    line: int


def _hits(table: Mapping[str, str], words: list[Word], language: Language) -> list[_Hit]:
    pattern = table.get(key_of(language))
    if pattern is None or not words:
        return []
    if language.name == "ruby":
        words = _with_breaks(words)
    text = bare_stream(words)
    return [_Hit(found[0].strip(), line_at(words, text, found.start())) for found in re.finditer(pattern, text)]


def _with_breaks(words: list[Word]) -> list[Word]:
    """A sign where a line ends: Ruby has statements without brackets."""
    found: list[Word] = []
    for word in words:
        if found and word.line != found[-1].line:
            found.append(Word(";", found[-1].line))
        found.append(word)
    return found


def unit_words(unit: Unit, parsed: Parsed) -> list[Word]:
    """The words of a unit with its marks in front."""
    return [word for node in (*reversed(unit.marks), unit.node) for word in words_of(node, parsed.language)]


def _new_hits(old: list[_Hit], new: list[_Hit]) -> list[_Hit]:
    """Hits that were not there before, by what they say."""
    left = Counter(hit.text for hit in old)
    found = []
    for hit in new:
        if left[hit.text] > 0:
            left[hit.text] -= 1
        else:
            found.append(hit)
    return found


def marks(case: Case) -> Iterator[Finding]:
    """Skip, focus and retry marks that the fix added, in units and around them."""
    tables: tuple[tuple[str, Mapping[str, str]], ...] = (("TI110", SKIPS), ("TI112", FOCUS), ("TI250", RETRIES))
    for rule, table in tables:
        for file, pair in case.pairs:
            if pair.new is not None:
                parsed = case.parsed_of(file, pair.new)
                new = _hits(table, unit_words(pair.new, parsed), parsed.language)
                old = _old_hits(case, file, pair.old, table)
                yield from _said(case, rule, file, pair.new, pair.old is None, _new_hits(old, new))
        for file in [one for one in case.of("test", "harness") if one.new is not None]:
            yield from _around(case, rule, file, table)


def _old_hits(case: Case, file: FileView, old: Unit | None, table: Mapping[str, str]) -> list[_Hit]:
    if old is None:
        return []
    parsed = case.parsed_of(file, old)
    return _hits(table, unit_words(old, parsed), parsed.language)


def _around(case: Case, rule: str, file: FileView, table: Mapping[str, str]) -> Iterator[Finding]:
    """Marks of classes, suites, modules and helpers."""
    assert file.new is not None
    new = _hits(table, file.outside("new"), file.new.language)
    old = _hits(table, file.outside("old"), file.old.language) if file.old is not None else []
    heads = [_Hit(h.text, h.line) for h in _new_hits(old, new)]
    for hit in heads:
        severity: Severity = "block" if file.before is not None or file.cls == "harness" else "review"
        yield case.finding(
            rule, severity, file, Spot(line=hit.line, after=[_line(file, hit.line)]), soft=severity == "review"
        )


def _said(case: Case, rule: str, file: FileView, unit: Unit, is_new: bool, hits: list[_Hit]) -> Iterator[Finding]:
    for hit in hits[:1]:
        spot = Spot(unit, hit.line, after=[_line(file, hit.line)])
        if not is_new:
            yield case.finding(rule, "block", file, spot)
        elif rule == "TI110":
            yield case.finding("TI111", _new_severity(case, unit, file), file, spot, soft=True)
        else:
            yield case.finding(rule, "block" if rule == "TI112" else "review", file, spot)


def _new_severity(case: Case, unit: Unit, file: FileView) -> Severity:
    """A new test that ran in F, or whose condition is a platform, a tool or a switch of the runner, is honest."""
    census = case.grid.census if case.grid is not None else None
    if census is not None and any(unit.own in test for test in census.ran_in_fixed):
        return "info"
    parsed = case.parsed_of(file, unit)
    return "info" if _CONDITIONS.search(bare_stream(unit_words(unit, parsed))) else "review"


def _line(file: FileView, line: int) -> str:
    return file.new_lines[line - 1] if 0 < line <= len(file.new_lines) else ""
