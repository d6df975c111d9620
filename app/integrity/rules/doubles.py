"""Stand-ins for the code under test and for the assertion library: TI140, TI141, TI142, TI330."""

import posixpath
import re
from collections.abc import Iterator, Mapping

from app.integrity.classes import class_of
from app.integrity.model import Files, Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.rules.marks import key_of
from app.integrity.syntax import Parsed, Word, line_at, stream, text_of, walk, words_of

_MOCKS: Mapping[str, str] = {
    "python": r"(?:\bpatch(?: \. (?:object|dict|multiple))? \( (?P<a>[^()]{0,120})|\bmonkeypatch \. (?:setattr|"
    r"setitem|delattr) \( (?P<b>[^()]{0,120})|"
    r"\bmocker \. patch(?: \. object)? \( (?P<c>[^()]{0,120}))",
    "javascript": r"(?:\b(?:jest|vi|vitest) \. (?:mock|doMock|unstable_mockModule|spyOn|"
    r"setMock) \( (?P<a>[^()]{0,120})|"
    r"\bmock \. (?:module|method) \( (?P<b>[^()]{0,120})|\b(?:sinon|sandbox) \. (?:stub|replace|"
    r"fake) \( (?P<c>[^()]{0,120})|"
    r"\b(?:proxyquire|rewire) \( (?P<d>[^()]{0,120}))",
    "go": r"(?:\bgomonkey \. \w+ \( (?P<a>[^()]{0,120})|\bmonkey \. Patch \( (?P<b>[^()]{0,120}))",
    "rust": r"(?:\bmock ! \{ (?P<a>[^{}]{0,120})|# \[ (?:automock|double)(?P<b>))",
    "java": r"(?:\b(?:mock|spy|mockStatic|mockConstruction) \( (?P<a>[^()]{0,120})|@ (?:MockBean|Mock|Spy|"
    r"InjectMocks)\b (?P<b>.{0,60}))",
    "ruby": r"(?:\b(?:allow|allow_any_instance_of|expect_any_instance_of) \( (?P<a>[^()]{0,120}) \) \. to receive|"
    r"\b(?P<b>[\w: ]{1,60}) \. (?:stub|stubs|stub_any_instance|define_singleton_method|any_instance) |"
    r"\bclass_double \( (?P<c>[^()]{0,80}))",
}
_BOUNDARY = re.compile(
    r"\b(?:time|sleep|monotonic|datetime|now|today|Date|Timer|setTimeout|requests|urlopen|urllib|httpx|aiohttp|"
    r"fetch|axios|http|"
    r"https|socket|open|os|fs|path|random|uuid|subprocess|Process|environ|env|getenv|stdin|stdout|console|logging|"
    r"logger|smtplib|"
    r"Net|HTTP|File|IO|Clock|Instant|boto3|redis|db|database|psycopg|child_process|crypto|Math)\b"
)
_LIBRARY = re.compile(
    r"(?:\b(?:assert|expect|chai|should|Assert|Assertions|TestCase|pytest|unittest)(?: \. \w+){1,3} = (?!=)|"
    r"\bexpect \. extend \( \{ (?:[\w\" ,:()=>{}]{0,80}? )?to(?:Be|Equal|StrictEqual|Match|Contain|Have|Throw)\w*|"
    r"\bclass (?:Minitest|Test|RSpec|MiniTest|Spec)(?: :: \w+)+(?! (?:<|:: ))|"
    r"\bmodule (?:Minitest|MiniTest|RSpec)(?: :: \w+)*(?: :: (?:Assertions|Expectations|Matchers|Reportable|Guard))\b|"
    r"\bmodule (?:Minitest|MiniTest|RSpec) (?:class|module) "
    r"(?:Test|Assertions|Runnable|Result|Spec|Matchers|Expectations)\b(?! <)|"
    r"\b(?:global|globalThis|window|builtins|__builtins__) (?:\. |\[ \"?)(?:assert|expect|it|test|"
    r"describe)\b\"?(?: \])? = (?!=)|"
    r"\b(?:Minitest|RSpec)(?: :: \w+)+ \. (?:prepend|class_eval|define_method|send|include|class_exec)\b|"
    r"\bsetattr \( (?:unittest|pytest|TestCase|builtins)\b[^()]{0,80}|"
    r"\bObject \. (?:assign|defineProperty) \( (?:assert|expect|chai)\b|"
    r"\b(?:const|let|var) (?:assert|expect) = (?!require|await|chai|import)[\w({]|\bfunction (?:assert|expect) \(|"
    r"\bmacro_rules ! assert(?:_eq|_ne)? |\bdef (?:assert_equal|assertEqual|assert_nil|assert_raises|refute) \()"
)
_DEF_ASSERT = re.compile(
    r"\b(?:def|function) (?:self \. )?(?:assert|assert_equal|assertEqual|assertEquals|expect|assertTrue|assert_nil|"
    r"assert_raises|refute|"
    r"failures|passed\?|failed\?|run_test|runTest|runBare|skipped\?|result_code)\b"
)


def doubles(case: Case) -> Iterator[Finding]:
    """Mocks, replaced imports and replaced assertion functions that the fix added."""
    for file in case.of("test", "harness"):
        if file.new is None:
            continue
        yield from _mocks(case, file)
        yield from _imports(case, file)
        yield from _library(case, file)


def _added(file: FileView, pattern: "re.Pattern[str] | str") -> Iterator[tuple[re.Match[str], int]]:
    """Matches in the new file's words that its old words do not hold."""
    assert file.new is not None
    words = file.new_words
    text = stream(words)
    old = stream(file.old_words)
    known = [found[0] for found in re.finditer(pattern, old)]
    for found in re.finditer(pattern, text):
        if found[0] in known:
            known.remove(found[0])
        else:
            yield found, line_at(words, text, found.start())


def _mocks(case: Case, file: FileView) -> Iterator[Finding]:
    assert file.new is not None
    pattern = _MOCKS.get(key_of(file.new.language))
    if pattern is None:
        return
    for found, line in _added(file, pattern):
        target = next((part for part in found.groups() if part is not None), "")
        unit = next((one for one in file.new_units if one.line <= line <= one.node.end_point[0] + 1), None)
        is_new = unit is not None and any(pair.new is unit and pair.old is None for pair in file.pairs)
        spot = Spot(unit, line, after=[found[0]])
        if _is_tested(case, file, target) and not is_new:
            yield case.finding("TI140", "block", file, spot)
        elif not is_new or not _BOUNDARY.search(target):
            severity: Severity = "review" if not is_new else "info"
            yield case.finding("TI142", severity, file, spot, soft=True)


def _is_tested(case: Case, file: FileView, target: str) -> bool:
    """The thing that is replaced is what the tests of this file call, and no boundary of it."""
    names = re.findall(r"[A-Za-z_]\w*", target)
    first = re.match(r'"([^"]*)"', target.strip())
    if first is not None and first[1].startswith("."):
        folder = posixpath.dirname(file.path)
        return _resolves(case.delta.fixed, posixpath.normpath(posixpath.join(folder, first[1]))) != ""
    if first is not None:
        names = re.findall(r"[A-Za-z_]\w*", first[1])
    subjects = {word for unit in file.new_units for check in case.checks(unit, _parsed(file)) for word in check.words}
    called = [name for name in names if name in subjects]
    last = names[-1] if names else ""
    if _BOUNDARY.search(" ".join(names[1:]) or last):
        return False
    return (
        last in subjects
        or (bool(called) and len(names) <= 2 and called[0][:1].isupper())
        or any(n in subjects for n in names[1:])
    )


def _parsed(file: FileView) -> Parsed:
    assert file.new is not None
    return file.new


_ENDS = ("", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", "/index.js", "/index.ts", ".py", "/__init__.py", ".rb")


def _resolves(files: Files, path: str) -> str:
    return next((path + end for end in _ENDS if path + end in files), "")


def _imports(case: Case, file: FileView) -> Iterator[Finding]:
    """A name that came from product code now comes from the test tree, or is defined in the test itself."""
    if file.old is None or file.new is None:
        return
    before, after = _imported(file.old), _imported(file.new)
    defined = _defined(file.new) - _defined(file.old)
    for name, module in sorted(before.items()):
        old_place = _place(case.delta.head, file.change.old or "", module)
        if not old_place or class_of(old_place, case.delta.moved) != "source":
            continue
        other = after.get(name)
        place = _place(case.delta.fixed, file.path, other) if other is not None else ""
        if other is not None and other != module and place and class_of(place, case.delta.moved) == "test":
            yield case.finding("TI140", "block", file, Spot(None, None, [module], [other]))
        elif name in defined and other is None:
            yield case.finding("TI140", "block", file, Spot(None, None, [module], [name]))


def _imported(parsed: Parsed) -> dict[str, str]:
    """Imported name -> module as it is written."""
    text = stream(words_of(parsed.root, parsed.language))
    found: dict[str, str] = {}
    if parsed.language.name == "python":
        for match in re.finditer(r"\bfrom ([\w. ]+?) import \(? ?([\w, ]+)", text):
            names = [part.strip().split(" as ")[-1].strip() for part in match[2].split(",")]
            found |= {name.split()[0]: match[1].replace(" ", "") for name in names if name}
        return found
    for match in re.finditer(r'\bimport (?:type )?([\w{}*, ]+?) from "([^"]+)"', text):
        found |= dict.fromkeys(_bound(match[1]), match[2])
    for match in re.finditer(r'\b(?:const|let|var) ([\w{}:, ]+?) = (?:await )?(?:require|import) \( "([^"]+)"', text):
        found |= dict.fromkeys(_bound(match[1]), match[2])
    if parsed.language.name == "ruby":
        found |= {match[1]: match[1] for match in re.finditer(r'\brequire_relative "([^"]+)"', text)}
    return found


def _bound(text: str) -> list[str]:
    return [part.strip().split(" ")[-1] for part in re.sub(r"[{}]", ",", text).split(",") if part.strip()]


def _defined(parsed: Parsed) -> set[str]:
    kinds = (*parsed.language.functions, "class_definition", "class_declaration", "variable_declarator", "class")
    names = set()
    for node in walk(parsed.root):
        if node.type in kinds and (name := node.child_by_field_name("name")) is not None:
            value = node.child_by_field_name("value")
            if value is None or "require" not in text_of(value):
                names.add(text_of(name))
    return names


def _place(files: Files, path: str, module: str) -> str:
    """The file of the tree that a module is; empty for one of a library."""
    folder = posixpath.dirname(path)
    if module.startswith(("./", "../")):
        return _resolves(files, posixpath.normpath(posixpath.join(folder, module)))
    if module.startswith("."):
        ups = len(module) - len(module.lstrip("."))
        base = folder
        for _ in range(ups - 1):
            base = posixpath.dirname(base)
        return _resolves(files, posixpath.join(base, module.lstrip(".").replace(".", "/")))
    plain = module.replace(".", "/")
    for top in ("", "src/", "lib/", f"{folder}/"):
        if found := _resolves(files, posixpath.normpath(top + plain)):
            return found
    return ""


def _library(case: Case, file: FileView) -> Iterator[Finding]:
    assert file.new is not None
    rule = "TI330" if file.cls == "harness" else "TI141"
    for found, line in _added(file, _LIBRARY):
        yield case.finding(rule, "block", file, Spot(line=line, after=[found[0]]))
        return
    if file.cls == "harness":
        for found, line in _added(file, _DEF_ASSERT):
            yield case.finding(rule, "block", file, Spot(line=line, after=[found[0]]))
            return


def added_words(file: FileView) -> list[Word]:
    """The words of lines that the fix wrote in a parsed file."""
    if file.new is None:
        return []
    lines = {n for n, _ in file.added}
    return [word for word in words_of(file.new.root, file.new.language) if word.line in lines]
