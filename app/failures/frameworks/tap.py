"""TAP 12 to 14 from any producer (tape, node:test, AVA, QUnit, bats, shell), bats' pretty output, and prove."""

import re
from typing import ClassVar

from app.failures.frameworks.block import Block
from app.failures.frameworks.detector import Found, Line, Sink
from app.failures.places import Place, choose, places_in

_NOT_OK = re.compile(r"(\s*)not ok(?: +(\d+))?(?: +-)?(?: +(\S.*))?$")
_DIRECTIVE = re.compile(r"(?<!\\)# *(TODO|SKIP|todo|skip)\b")
_TIME = re.compile(r" (?:in \d+ ?(?:ms|sec)|# (?:time=.*|in \d+ ?ms|duration_ms.*))$")
_COMMENT = re.compile(r"(\s*)# (?:Subtest: )?(\S.*)$")
_NOT_NAME = re.compile(
    r"(?:tests?|pass|passed|fail|failed|ok|suites|cancelled|skipped"
    r"|todo|duration_ms|time|Looks like|Failed test|at |got:|expected:"
    r"|\(|in test file|  )",
    re.IGNORECASE,
)
_TESTEM = re.compile(r"(?:Headless ?Chrome|Chrome|Firefox|Safari|PhantomJS|Edge|IE)(?: [\d.]+)?(?: - \[\d+ ms\])? - ")
_YAML_AT = re.compile(r"\s+(?:at|location|file): *'?(.*?)'?$")
_YAML_TEXT = re.compile(r"\s+(message|error|name|operator): *(?:'|\"|\|-)?(.*?)['\"]?$")
_BATS = re.compile(r"\s*✗ (\S.*?)(?: \[\d+(?: ?ms)?\]| \[\d+\])?\s*$")
_BATS_AT = re.compile(r"\((?:in test file|from function .{0,200}? in file) (\S{1,400}?), line (\d+)")
_SUMMARY_ROW = re.compile(r"(\S+)\s+\(Wstat: (\d+)(?: \([^)]*\))? Tests: (\d+) Failed: (\d+)\)")
_PROVE_ROW = re.compile(
    r"(\S+\.t|\S+) \.{2,}.*(?:Failed \d+/\d+ subtests|Dubious, test returned (\d+)|No subtests run)"
)


class Tap:
    name: ClassVar[str] = "tap-tape"
    wakes: ClassVar[tuple[str, ...]] = (
        "not ok",
        "Test Summary Report",
        "Bail out!",
        "✗ ",
        " tests, ",
        " test, ",
        "Result: FAIL",
        "Result: PASS",
        "TAP version ",
        "Dubious, test returned",
    )

    def __init__(self) -> None:
        self._found: Found | None = None
        self._indent = 0
        self._text = Block()
        self._lines = 0
        self._all: list[Found] = []
        self._scripts: list[Found] = []
        self._report = False
        self._script: Found | None = None
        self._prove = False
        self._dubious: dict[str, Found] = {}

    def feed(self, line: Line, out: Sink) -> bool:
        text = line.text
        if self._report:
            return self._in_report(line, out)
        if text.startswith("Test Summary Report"):
            self._store()
            self._report = self._prove = True
            out.started("tap-prove")
            return True
        row = _NOT_OK.match(text) if "not ok" in text else None
        if row:
            self._store()
            return self._not_ok(row, line, out)
        bats = _BATS.match(text) if "✗" in text else None
        if (bats and not text.startswith(("  ✗", "    "))) or (bats and text.startswith(" ✗")):
            self._store()
            self._found, self._text, self._lines, self._indent = (
                Found(bats[1], at=line, framework="bats"),
                Block(),
                0,
                1,
            )
            return True
        if self._found is not None and self._belongs(text, line):
            self._text.add(text)
            return True
        self._store()
        if text.startswith("Bail out!"):
            out.cause("crash", text)
        elif text.startswith("Result: "):
            self._prove = True
            out.started("tap-prove")
        elif text.startswith("TAP version"):
            out.started("")
        elif "Dubious" in text and " .." in text:
            script = _PROVE_ROW.match(text)
            if script:
                self._dubious[script[1]] = Found(
                    script[1],
                    file=script[1],
                    message=text[len(script[1]) :].strip(" ."),
                    at=line,
                    framework="tap-prove",
                )
        return False

    def end(self, out: Sink) -> None:
        """Under prove the scripts are the tests, and their rows are only text; else every row counts."""
        self._store()
        if self._script is not None:
            self._scripts.append(self._script)
        found = self._scripts or (list(self._dubious.values()) if self._prove or not self._all else [])
        if self._prove and found:
            for script in found:
                script.detail = [text for row in self._all for text in (row.message or row.id, *row.detail)][-200:]
        else:
            found = self._all
            names = [one.id for one in found]
            for one in found:
                one.optional = one.optional and any(name != one.id and name.startswith(one.id + " ") for name in names)
        for one in found:
            out.failure(one)
        self._all, self._scripts, self._dubious, self._script = [], [], {}, None

    def _not_ok(self, row: re.Match[str], line: Line, out: Sink) -> bool:
        name = _TIME.sub("", row[3] or "")
        if _DIRECTIVE.search(name):
            return False
        name = re.sub(r"^- ", "", name).strip()
        testem = _TESTEM.match(name)
        framework = "qunit" if testem else ""
        name = name[testem.end() :] if testem else name
        parts = [name]
        self._indent = len(row[1])
        if not testem:
            parents = _parents([*out.above(300)], self._indent, name)
            parts = [*parents, name] if name else parents
        self._found = Found(
            " ".join(part for part in parts if part) or f"not ok {row[2] or ''}".strip(), at=line, framework=framework
        )
        self._text, self._lines = Block(), 0
        return True

    def _belongs(self, text: str, line: Line) -> bool:
        self._lines += 1
        stripped = text.strip()
        if self._lines > 300 or line.level is not None:
            return False
        if self._found is not None and self._found.framework == "bats":
            return text.startswith("   ") or not stripped
        depth = len(text) - len(text.lstrip())
        if stripped.startswith("# ") or stripped == "#":
            return True
        return (depth > self._indent or not stripped) and not stripped.startswith(("ok ", "not ok "))

    def _store(self) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        lines = self._text.lines
        found.detail = lines
        yaml: dict[str, str] = {}
        place: Place | None = None
        for at, text in enumerate(lines):
            field = _YAML_TEXT.match(text)
            if field:
                inline = field[2] if field[2] not in (">", "|", "|-", ">-") else ""
                value = inline or (lines[at + 1].strip() if at + 1 < len(lines) else "")
                yaml.setdefault(field[1], value)
            bats = _BATS_AT.search(text)
            if bats and place is None:
                place = Place(bats[1], int(bats[2]))
            if "subtestsFailed" in text:
                found.optional = True
        if place is None:
            place = choose([place for place in places_in(_places_text(lines)) if not place.file.startswith("http")])
        if place:
            found.file, found.line = place.file, place.line
        comments = [text.strip().lstrip("# ").strip() for text in lines if text.strip() not in ("", "---", "...")]
        bats_text = [text for text in comments if not text.startswith("(")]
        found.message = (
            yaml.get("message")
            or yaml.get("error")
            or (f"operator: {yaml['operator']}" if "operator" in yaml else (bats_text or [""])[0])
        )
        self._all.append(found)

    def _in_report(self, line: Line, out: Sink) -> bool:
        text = line.text
        row = _SUMMARY_ROW.match(text)
        if row:
            if self._script is not None:
                self._scripts.append(self._script)
            failed = int(row[4]) or (int(row[2]) != 0)
            self._script = Found(row[1], file=row[1], rank=2, at=line, framework="tap-prove") if failed else None
            return True
        if text.startswith(("Files=", "Result:")):
            if self._script is not None:
                self._scripts.append(self._script)
            self._report, self._script = False, None
            return False
        if self._script is not None and text.strip():
            self._script.message = self._script.message or text.strip()
        return True


def _parents(above: list[str], indent: int, name: str) -> list[str]:
    """Names of the tests around a row: `# Subtest: x` of smaller depth, or tape's `# test` comment above."""
    parents: list[str] = []
    depth = indent
    nested = any("# Subtest: " in text for text in above)
    for text in above:
        comment = _COMMENT.match(text)
        if comment is None:
            if text.startswith("TAP version") and depth <= len(text) - len(text.lstrip()):
                break
            continue
        at = len(comment[1])
        if nested:
            if "# Subtest: " in text and at < depth:
                parents.insert(0, comment[2])
                depth = at
                if at == 0:
                    break
        elif at <= indent and not _NOT_NAME.match(comment[2]):
            return [comment[2]]
    return parents


def _places_text(lines: list[str]) -> list[str]:
    """YAML fields that hold a place, as plain frames."""
    texts = []
    for text in lines:
        at = _YAML_AT.match(text)
        if at:
            value = at[1]
            frame = re.search(r"([^\s(]+):(\d+):(\d+)\)?$", value)
            texts.append(f"    at {frame[1]}:{frame[2]}:{frame[3]}" if frame else value)
        else:
            texts.append(re.sub(r"^\s*# ", "  ", text))
    return texts
