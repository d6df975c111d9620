"""Product code that knows about tests or cheats them: TI400, TI411, TI412, TI420, TI430."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from app.integrity.model import Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot
from app.integrity.syntax import Word, bare_stream, line_at, line_of, parse, stream, text_of, walk, words_of

# (a) names of test tools, and of what they set; strings stand as "..." in the words.
_TOOLS = re.compile(
    r"\"[^\" ]*\b(?:PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST_WORKER|PYTEST_\w+|NODE_TEST_CONTEXT|"
    r"JEST_WORKER_ID|VITEST\w*|MOCHA_\w+|"
    r"GO_TEST\w*|RUST_TEST_\w+|NEXTEST\w*|RSPEC\w*|MINITEST\w*|SUREFIRE\w*|AVA_\w+|TAP_\w+|CYPRESS\w*|PLAYWRIGHT\w*|"
    r"KARMA\w*)\b[^\" ]*\"|"
    r"\benv \. (?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST\w*|MOCHA_\w+|PYTEST_\w+|AVA_\w+)\b|"
    r"\"(?:_?pytest|unittest|nose|_pytest\.\w+|pytest\.\w+|unittest\.\w+|conftest|testing|"
    r"hypothesis)\" (?:not )?in (?:sys \. )?modules|"
    r"modules (?:\. get )?[(\[] \"(?:_?pytest|unittest|nose)[^\"]*\"|\bfind_spec \( \"(?:pytest|unittest)|"
    r"hasattr \( sys , \"_called_from_test|"
    r"\bLookup \( \"test\.|\btesting \. Testing \(|\bflag \. Lookup \( \"test|\bcfg ! \( test \)|"
    r"\bdefined \?\s*\(? (?:RSpec|Minitest|Test)\b|"
    r"\bdefined\? \(? ?(?:RSpec|Minitest|MiniTest|Test)\b|\bconst_defined\? \( \"?(?:RSpec|Minitest|MiniTest)|"
    r"\btypeof (?:jest|describe|it|expect|vi|mocha|before|beforeEach|test)\b|"
    r"\b(?:globalThis|global|window) (?:\. |\?\. |\[ \")(?:jest|describe|expect|vi|vitest|mocha|beforeEach|"
    r"__vitest\w*|it)\b|"
    r"\"(?:org\.junit|junit\.|org\.testng|sun\.reflect\.|surefire|org\.apache\.maven\.surefire)[^\"]*\"|"
    r"\basymmetricMatch\b|"
    r"\bimport \. meta \. (?:vitest|jest)\b|\bloaded_features\b.{0,80}?(?:rspec|minitest)|"
    r"\bLOADED_FEATURES\b.{0,80}?(?:rspec|minitest)|"
    r"\bClass \. forName \( \"(?:org\.junit|junit)"
)
# (b) the stack, the caller's file or the program's own name
_STACK = re.compile(
    r"\binspect \. (?:stack|currentframe|getouterframes|getframeinfo)|\bsys \. _getframe|"
    r"\btraceback \. (?:extract_stack|format_stack|walk_stack)|\bf_back\b|\bf_code\b|"
    r"\b(?:Error \( [^()]{0,20}\)|err|error|e) \. stack\b|\bcaptureStackTrace|\bcaller_locations\b|"
    r"\bruntime \. Callers?\b|"
    r"\bdebug \. Stack|\bgetStackTrace|\bStackWalker|\bbacktrace\b|\bos \. Args \[ 0|\bsys \. argv \[ 0|"
    r"\bprocess \. argv (?:\[|\. at \() [01]|\bexecArgv\b|\$0(?!\w)|\$PROGRAM_NAME|\bPROGRAM_NAME|\bcurrent_exe|"
    r"\benv :: args \( \) \. (?:next|nth \( 0)|\bos \. Executable|\brequire \. main\b|"
    r"\"sun\.java\.command|\bmodule \. parent|"
    r"\bthread :: current|\bThread \. currentThread|\bprocess \. title"
)
_CALLER = re.compile(r"\bcaller\b(?! [:=,])")
# Arguments of the program count only with the name of a test tool: a subcommand `test` is honest.
_ARGUMENTS = re.compile(r"\bsys \. argv\b|\bprocess \. argv\b|\benv :: args|\bos \. Args\b|\bARGV\b")
_TOOL_NAME = re.compile(
    r"(?:^|[^a-z])(?:pytest|unittest|jest|mocha|vitest|rspec|minitest|junit|surefire|nextest)(?:$|[^a-z])"
)
_WORD_TEST = re.compile(
    r"(?:^|[^a-z])(?:tests?|testing|specs?|rspec|minitest|pytest|unittest|jest|mocha|vitest|junit)(?:$|[^a-z])"
)
_MODES = re.compile(
    r"(?:\b(?:NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|DJANGO_ENV|GO_ENV|"
    r"MIX_ENV)\b\"?(?: [\])])*(?: , \"\" \))? (?:===?|==|!==?|eq) \"tests?(?:ing)?\"|"
    r"\"tests?(?:ing)?\" (?:===?|==) [\w .]*(?:NODE_ENV|RAILS_ENV|APP_ENV)|\bRails \. env \. test\?|"
    r"\bRAILS_ENV\b.{0,20}\"test\")"
)
_OWN_SWITCH = re.compile(
    r"\b(?:environ(?: \. get \(| \[)|getenv \(|env \.|env \[|Getenv \(|ENV \[|ENV \. fetch \(|env :: var \(|"
    r"LookupEnv \()\s?\"?(?P<name>\w*TEST\w*)\b"
)


def _words(file: FileView, which: str = "new") -> list[Word]:
    return file.new_words if which == "new" else file.old_words


def asks_for_tests(case: Case) -> Iterator[Finding]:
    """TI400: the four ways in which source finds out that a test runs it."""
    for file in case.of("source"):
        if file.new is None:
            continue
        words = list(_words(file))
        text, old = stream(words), stream(_words(file, "old"))
        for pattern, severity in ((_TOOLS, "block"), (_MODES, "mode"), (_OWN_SWITCH, "review")):
            fresh = next((m for m in pattern.finditer(text) if old.count(m[0]) < text.count(m[0])), None)
            if fresh is not None:
                line = line_at(words, text, fresh.start())
                yield case.finding(
                    "TI400",
                    _asking(case, severity, file, line),
                    file,
                    Spot(None, line, after=[file.new_lines[line - 1]]),
                )
        yield from _stack(case, file)


def _asking(case: Case, severity: str, file: FileView, line: int) -> Severity:
    if severity == "review" or _base_asks(case, file):
        return "review"
    if severity == "mode":
        return "block" if _inside_function(file, line) else "review"
    return "block"


def _inside_function(file: FileView, line: int) -> bool:
    assert file.new is not None
    return any(
        node.type in file.new.language.functions and node.start_point[0] + 1 <= line <= node.end_point[0] + 1
        for node in walk(file.new.root)
    )


def _base_asks(case: Case, file: FileView) -> bool:
    """A product that has a test mode, or is a test tool, asks already on base."""
    path = file.change.old or file.path
    folder = path.rpartition("/")[0]
    for other in case.delta.base:
        if other.rpartition("/")[0] == folder and case.head_class(other) == "source":
            parsed = parse(other, case.delta.base[other].data)
            if parsed is not None:
                text = stream(words_of(parsed.root, parsed.language))
                if _TOOLS.search(text) or _MODES.search(text):
                    return True
    return False


def _stack(case: Case, file: FileView) -> Iterator[Finding]:
    """A look at the stack or the program's name, with a literal that holds the word test, in one function."""
    assert file.new is not None
    olds = (
        {stream(words_of(node, file.old.language)) for node in file.old.root.named_children}
        if file.old is not None
        else set()
    )
    tops = list(file.new.root.named_children)
    for node in tops:
        words = words_of(node, file.new.language)
        text = stream(words)
        if text in olds:
            continue
        looks = _look(text, file.new.language.name)
        if looks is None or (file.old is not None and _look(stream(_words(file, "old")), file.new.language.name)):
            continue
        word = _TOOL_NAME if _ARGUMENTS.fullmatch(looks[0]) else _WORD_TEST
        if any(w.text[0] == '"' and word.search(_split_case(w.text)) for w in words):
            line = line_at(words, text, looks.start())
            yield case.finding(
                "TI400",
                "review" if _base_asks(case, file) else "block",
                file,
                Spot(None, line, after=[file.new_lines[line - 1]]),
            )
            return


def _look(text: str, language: str) -> re.Match[str] | None:
    """How a text looks at the stack or the program's name, else at its arguments."""
    own = _CALLER.search(text) if language == "ruby" else None
    return _STACK.search(text) or own or _ARGUMENTS.search(text)


def _split_case(text: str) -> str:
    """Words of a literal, apart at changes of case, digits and signs, in small letters."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", " ", text).casefold()


_EQUALS = re.compile(
    r"__(?:eq|ne|lt|gt|le|ge|cmp|bool|contains)__|equals|hashCode|compareTo|compare|eql\?|==|<=>|===|equal\?|Equal|"
    r"Less|Compare|eq|ne|cmp|partial_cmp|asymmetricMatch|isEqual|matches"
)
_CONSTANT = re.compile(
    r"(?:return )?(?:True|true|False|false|0|1|-1|Ordering :: Equal|Some \( (?:\w+ :: )*Equal \)|"
    r"Some \( Ordering :: Equal \)|std :: cmp :: Ordering :: Equal)"
)


def constant_comparison(case: Case) -> Iterator[Finding]:
    """TI411: a new or changed comparison method whose body is one constant."""
    for file in case.of("source"):
        if file.new is None:
            continue
        old = (
            {stream(words_of(node, file.old.language)) for node in _functions(file, "old")}
            if file.old is not None
            else set()
        )
        for node in _functions(file, "new"):
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is None or body is None or not _EQUALS.fullmatch(text_of(name)):
                continue
            text = bare_stream([w for w in words_of(body, file.new.language) if w.text not in ("{", "}", ";")])
            text = re.sub(r'^"" ', "", text)
            if _CONSTANT.fullmatch(text) and stream(words_of(node, file.new.language)) not in old:
                yield case.finding(
                    "TI411", "block", file, Spot(None, line_of(node), after=[text_of(node).split("\n")[0], text])
                )


def _functions(file: FileView, which: str) -> list[Node]:
    parsed = file.new if which == "new" else file.old
    return [node for node in walk(parsed.root) if node.type in parsed.language.functions] if parsed is not None else []


_WRITES = (
    r"(?: \[ [^\]]{1,40} \])? (?:[-+*|&]= |\+\+|-- ?|= (?!=)|"
    r"\. (?:add|append|push|insert|set|fetch_add|store|incr|Add|Store|delete|pop|shift|unshift) \()"
)
_READS = r"\b(?:if|while|unless|elif|elsif|and|or|not|return|when|case)\b|\?(?!\.)|&&|\|\|"


def new_state(case: Case) -> Iterator[Finding]:
    """TI412: a state that the fix introduced, written and read in one function that it decides."""
    for file in case.of("source"):
        if file.new is None:
            continue
        known = {word.text for word in _words(file, "old")}
        names = [name for name in _outliving(file) if name.split(".")[-1] not in known]
        for node in _functions(file, "new"):
            words = words_of(node, file.new.language)
            text = bare_stream(words)
            for name in names:
                spelled = r"(?<!\w)" + re.escape(name.replace(".", " . ")) + r"(?!\w)"
                written = re.search(spelled + _WRITES, text) or re.search(r"(?:\+\+|--) ?" + spelled, text)
                if written is None or not _decides(spelled, text):
                    continue
                line = line_at(words, text, written.start())
                yield case.finding("TI412", "review", file, Spot(None, line, after=[file.new_lines[line - 1]]))
                return


def _decides(spelled: str, text: str) -> bool:
    """The name stands in a condition and is no cache asked by a key."""
    keyed = re.search(
        spelled
        + r"(?: \[ (?!0|\"\")\w+| \. (?:get|has|key\?|include\?|contains_?[kK]ey|fetch|setdefault) \( (?!\"\"))",
        text,
    )
    inside = re.search(r"\b\w+ (?:not )?in " + spelled, text)
    return (
        keyed is None
        and inside is None
        and re.search(r"(?:" + _READS + r")(?: [^;{}\n]{0,80}?)? " + spelled, text) is not None
    )


_STATE = re.compile(
    r"(?:^| )(?:(?:let|var|static mut|static|private static|public static|protected static|"
    r"private static volatile) (?:mut )?(?:[\w<>\[\]]+ )?(?P<a>\w+) (?::[^=]{1,40} )?=|"
    r"(?P<b>@@\w+|\$[a-z]\w+) (?:\|\|=|=)|(?P<c>@\w+) = )"
)


def _outliving(file: FileView) -> list[str]:
    """Names of variables at the top of a file or class, static fields, function attributes and class attributes."""
    assert file.new is not None
    name = file.new.language.name
    names: list[str] = []
    for node in walk(file.new.root, file.new.language.functions):
        text = bare_stream(words_of(node, file.new.language)) if node.child_count and node.child_count < 12 else ""
        if name == "python" and node.type == "assignment" and (left := node.child_by_field_name("left")) is not None:
            owner = _owner(node)
            names += [text_of(left)] + [
                f"{who}.{text_of(left)}" for who in (owner, "self", "cls", "self.__class__") if owner and who
            ]
        elif node.type in _VARIABLES and not _in_class(node):
            found = _STATE.search(f" {text}") or re.search(r" (?P<a>[\w#]+)(?: [\w.\[\]]+)? =", f" {text}")
            names += [part for part in (found.groups() if found is not None else ()) if part]
        elif node.type in _FIELDS and (" static " in f" {text} " or name == "ruby"):
            found = _STATE.search(f" {text}") or re.search(r" (?P<a>[\w#]+) =", f" {text}")
            names += [part for part in (found.groups() if found is not None else ()) if part]
    attributes = re.findall(r"\b([A-Za-z_]\w*) \. (\w+) (?:[-+]= |\+\+|= )", bare_stream(_words(file)))
    functions = {text_of(n) for f in _functions(file, "new") if (n := f.child_by_field_name("name")) is not None}
    return names + [f"{owner}.{attribute}" for owner, attribute in attributes if owner in functions]


_VARIABLES = frozenset(("lexical_declaration", "variable_declaration", "var_declaration", "var_spec", "static_item"))
_FIELDS = frozenset(
    ("field_declaration", "public_field_definition", "field_definition", "assignment", "operator_assignment")
)


def _in_class(node: Node) -> bool:
    above = node.parent
    while above is not None and not above.type.startswith("class"):
        above = above.parent
    return above is not None


def _owner(node: Node) -> str:
    above = node.parent
    while above is not None and above.type != "class_definition":
        above = above.parent
    name = above.child_by_field_name("name") if above is not None else None
    return text_of(name) if name is not None else ""


_HANDLERS = frozenset(("except_clause", "catch_clause", "rescue", "rescue_modifier"))
_NARROW = re.compile(
    r"^(?:except|rescue|catch) \(? ?(?!(?:Exception|BaseException|StandardError|Throwable|e|err|error|ex|_|"
    r"\w+ \)) ?)\w+(?: \. \w+)* ?"
)
_GOES_ON = re.compile(
    r"\b(?:raise|throw|panic|rethrow|Err|return err|exit|fail|abort|Error|logger?|log|warn|"
    r"reject)\b"
)


def swallowed(case: Case) -> Iterator[Finding]:
    """TI420: a handler that catches everything and goes on."""
    for file in case.of("source"):
        if file.new is None:
            continue
        old = stream(_words(file, "old"))
        for node in walk(file.new.root):
            if (
                node.type not in _HANDLERS
                or not _catches_all(node, file)
                or stream(words_of(node, file.new.language)) in old
            ):
                continue
            severity: Severity = "review" if _touched(case, file, node) else "info"
            yield case.finding("TI420", severity, file, Spot(None, line_of(node), after=text_of(node).split("\n")[:2]))
            break


def _catches_all(node: Node, file: FileView) -> bool:
    assert file.new is not None
    text = bare_stream(words_of(node, file.new.language))
    body = node.child_by_field_name("body") or (node.named_children[-1] if node.named_children else node)
    inside = bare_stream(words_of(body, file.new.language))
    if _GOES_ON.search(inside):
        return False
    head = text[: max(0, len(text) - len(inside))]
    if node.type == "except_clause":
        return (
            re.fullmatch(r"except(?: \(? ?(?:Exception|BaseException)\b.*)? : ?", head.strip() + " ") is not None
            or head.strip() == "except :"
        )
    if node.type == "rescue":
        return not re.match(r"rescue (?!(?:StandardError|Exception|=>)\b)(?=[A-Z])", text)
    if file.new.language.name == "java":
        return re.search(r"\b(?:Exception|Throwable|RuntimeException)\b \w+", text) is not None
    return True


def _touched(case: Case, file: FileView, node: Node) -> bool:
    """The function around it is new, or the pull request changed the file around it."""
    above = node.parent
    while above is not None and file.new is not None and above.type not in file.new.language.functions:
        above = above.parent
    name = above.child_by_field_name("name") if above is not None else None
    own = text_of(name) if name is not None else ""
    if own and own not in {word.text for word in _words(file, "old")}:
        return True
    return bool({file.change.old, file.change.new} & case.pull_paths)


def code_gone(case: Case) -> Iterator[Finding]:
    """TI430: lines of source removed, nothing put in their place, and a test of them removed in the same fix."""
    tests_gone = any(pair.old is not None and pair.new is None for _, pair in case.pairs)
    if not tests_gone:
        return
    for file in case.of("source"):
        if file.removed and not file.added and file.change.old is not None:
            yield case.finding("TI430", "block", file, Spot(None, None, [line for _, line in file.removed], side="old"))
