"""Files as things: snapshots, quality gates, vendored code, blobs, links, size: TI010, TI020, TI500 to TI630."""

import re
import unicodedata
from collections.abc import Iterator

from app.integrity.classes import is_snapshot, is_vendored
from app.integrity.languages import language_of
from app.integrity.model import EXECUTABLE, GITLINK, SYMLINK, Finding, Severity
from app.integrity.rules.case import Case, FileView, Spot, lines_of
from app.integrity.syntax import number

LINES, FILES, TIMES, FLOOR = 400, 15, 10, 20
_GENERATED = re.compile(rb"(?i)(?:code generated .{0,80}do not edit|@generated|auto-?generated (?:file|by|code))")
_LOCK = re.compile(
    r"(?i)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.lock|go\.sum|poetry\.lock|"
    r"uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock)$"
)
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u2060\ufeff")
_PICTURE = re.compile(r"(?i)\.(?:png|jpe?g|gif|ico|webp|woff2?|ttf|pdf)$")


def no_source(case: Case) -> Iterator[Finding]:
    """TI010."""
    if case.files and not case.source_parts and not _is_code_with_tests(case):
        yield case.finding("TI010", "info" if case.grid is not None else "review", case.files[0], Spot(), soft=True)


def _is_code_with_tests(case: Case) -> bool:
    return any(file.cls == "doc" for file in case.files) and all(file.cls == "doc" for file in case.files)


def unreadable(case: Case) -> Iterator[Finding]:
    """TI020: a changed test or harness file that a grammar should read and cannot."""
    for file in case.of("test", "harness"):
        if file.after is None or file.after.mode == SYMLINK or language_of(file.path) is None:
            continue
        was_broken = file.old is not None and file.old.broken
        if file.new is None or (file.new.broken and not was_broken):
            named = any(case.is_named(file, unit) for unit in file.old_units)
            yield case.finding("TI020", "block" if named else "review", file, Spot())


def snapshots(case: Case) -> Iterator[Finding]:
    """TI500."""
    for file in case.files:
        if file.cls != "test" or not is_snapshot(file.path) or file.old_units or file.new_units or file.before is None:
            continue
        spot = Spot(
            None, file.added[0][0] if file.added else None, [x for _, x in file.removed], [x for _, x in file.added]
        )
        gone = file.after is None or file.after.mode == SYMLINK or not file.after.data.strip()
        if gone or case.word("base_source_with_fixed_tests") == "pass":
            severity: Severity = "info" if not gone and case.alone else "block"
        elif file.path.endswith(".snap") and _new_entries_only(file):
            severity = "info"
        else:
            severity = "review"
        yield case.finding("TI500", severity, file, spot, soft=severity == "review")


def _new_entries_only(file: FileView) -> bool:
    """Whole new entries behind old ones that are unchanged."""

    def entries(lines: list[str]) -> dict[str, str]:
        text = "\n".join(lines)
        return dict(re.findall(r"exports\[`(.*?)`\] = `(.*?)`;", text, re.DOTALL))

    old, new = entries(file.old_lines), entries(file.new_lines)
    return all(new.get(key) == value for key, value in old.items()) and len(new) > len(old)


_GATES = re.compile(
    r"(?i)\b(?P<key>fail_under|fail-under|threshold\w*|lines|branches|functions|statements|minimum_coverage\w*|"
    r"min(?:imum)?|target|"
    r"--cov-fail-under|check-coverage|max-complexity|max_complexity|max-line-length|max-warnings|--max-warnings|"
    r"coverageThreshold|"
    r"precision|maximum_coverage_drop|minimum)\b[\"']?\s*[:=> (]\s*[\"']?(?P<n>[0-9.]+)"
)
_UPWARD = re.compile(r"(?i)max|drop")
_STRICT_OFF = re.compile(
    r"(?i)\b(?:strict\w*|disallow_\w+|warn_\w+|check_untyped_defs|noImplicit\w*|no_implicit\w*|noUnused\w*|"
    r"exactOptional\w*|alwaysStrict|"
    r"forceConsistent\w*|enforce\w*|fail_on_\w+|failOn\w+|error_on\w*|check-coverage|checkCoverage|"
    r"branch)\b[\"']?\s*[:=]\s*[\"']?(?P<v>false|off|0|no)\b"
)
_STRICT_ON = re.compile(
    r"(?i)\b(?:strict\w*|disallow_\w+|noImplicit\w*|warn_\w+|check_untyped_defs)\b[\"']?\s*[:=]\s*[\"']?(?:true|on|"
    r"1|yes)\b"
)
_RULE_OFF = re.compile(
    r"(?i)\bignore_errors\s*=\s*true|\bignore_missing_imports\s*=\s*true|^\s*(?:extend-)?ignore\s*=|"
    r"per-file-ignores|\bskipLibCheck\b.*true|"
    r"[\"'][\w@/-]+[\"']\s*:\s*\[?\s*[\"'](?:off|warn)[\"']|[\"'][\w@/-]+[\"']\s*:\s*[01]\s*,?\s*$|"
    r"\bEnabled:\s*false|^\s*-?\s*Exclude\w*:|"
    r"\bomit\s*=|\bexclude_lines|"
    r"\"allow\"|=\s*\"allow\"|^\s*disable\s*[=:]|\bdisable-all|ignorePatterns|\.eslintignore|collectCoverageFrom.*!|"
    r"coveragePathIgnorePatterns"
)
_GATE_FILE = re.compile(
    r"(?i)(?:^|/)(?:setup\.cfg|pyproject\.toml|tox\.ini|mypy\.ini|\.coveragerc|\.flake8|\.pylintrc|\.?ruff\.toml|"
    r"\.nycrc.*|\.c8rc.*|package\.json|"
    r"(?:jest|vitest|vite|eslint)\.config\..*|\.eslintrc.*|\.eslintignore|tsconfig.*\.json|\.rubocop.*|\.simplecov|"
    r"\.golangci\..*|clippy\.toml|"
    r"cargo\.toml|\.?codecov\.ya?ml|sonar-project\.properties|pom\.xml|build\.gradle.*|spec_helper\.rb|"
    r"test_helper\.rb|rails_helper\.rb|"
    r"\.jacoco.*|makefile|\.pre-commit-config\.yaml|.*\.ya?ml|biome\.json|\.stylelintrc.*|phpstan.*|detekt.*|"
    r"checkstyle.*)$"
)
_FILE_MARK = re.compile(
    r"@ts-nocheck|/\*\s*eslint-disable\s*\*/|^\s*#\s*flake8:\s*noqa\s*$|#\s*ruff:\s*noqa\s*$|"
    r"#\s*pylint:\s*(?:skip-file|disable=all)|#\s*mypy:\s*ignore-errors|"
    r"#\s*type:\s*ignore\s*$(?<!\S.)|rubocop:disable\s+all|#!\[allow\((?:warnings|clippy::all|unused)\)\]|"
    r"/\*\s*(?:istanbul|c8|v8)\s+ignore\s+(?:file|start)|#\s*pragma:\s*no cover\s*file|"
    r"@SuppressWarnings\(\"all\"\)|#\s*nocov|:nocov:|//\s*nolint\s*$|//nolint:all"
)
_LINE_MARK = re.compile(
    r"#\s*noqa|type:\s*ignore|eslint-disable(?:-next)?-line|@ts-(?:ignore|expect-error)|rubocop:disable|"
    r"pragma:\s*no cover|istanbul ignore|nolint|#\[allow\(|@SuppressWarnings|pylint:\s*disable"
)


def gates(case: Case) -> Iterator[Finding]:
    """TI510: thresholds by value, strict options, rules that were switched off, marks in files."""
    for file in case.files:
        if is_vendored(file.path):
            continue
        if _GATE_FILE.search(file.path):
            yield from _lowered(case, file)
        if file.cls in ("source", "test"):
            yield from _marks(case, file)


def _lowered(case: Case, file: FileView) -> Iterator[Finding]:
    old, new = [line for _, line in file.removed], [line for _, line in file.added]
    spot = Spot(None, file.added[0][0] if file.added else None, old, new)
    was, now = _thresholds(old), _thresholds(new)
    lower = any(
        (value > was[key]) if _UPWARD.search(key) else (value < was[key]) for key, value in now.items() if key in was
    )
    dropped = bool(set(was) - set(now)) and not set(was) <= set(_thresholds(file.new_lines))
    off = any(_STRICT_OFF.search(line) for line in new) and not any(_STRICT_OFF.search(line) for line in old)
    unstrict = any(_STRICT_ON.search(line) for line in old) and not any(
        _STRICT_ON.search(line) for line in file.new_lines
    )
    rules = [line for line in new if _RULE_OFF.search(line)]
    rule_off = bool(rules) and not any(_RULE_OFF.search(line) for line in old)
    if (
        lower
        or dropped
        or off
        or unstrict
        or rule_off
        or (file.after is None and ("cover" in file.path or "lint" in file.path))
    ):
        yield case.finding("TI510", "block", file, spot)


def _thresholds(lines: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in lines:
        for match in _GATES.finditer(line):
            value = number(match["n"])
            if value is not None:
                found[match["key"].casefold()] = value
    return found


def _marks(case: Case, file: FileView) -> Iterator[Finding]:
    for n, line in file.added:
        if _FILE_MARK.search(line):
            yield case.finding("TI510", "review" if file.before is None else "block", file, Spot(None, n, after=[line]))
            return
    for n, line in file.added:
        if _LINE_MARK.search(line) and not any(_LINE_MARK.search(x) for _, x in file.removed):
            yield case.finding("TI510", "info", file, Spot(None, n, after=[line]))
            return


def foreign(case: Case) -> Iterator[Finding]:
    """TI600: vendored or generated code; a lock file beside its manifest goes to a person."""
    manifests = {
        file.path.rpartition("/")[0]
        for file in case.files
        if re.search(
            r"(?i)(?:package\.json|cargo\.toml|go\.mod|pyproject\.toml|pipfile|gemfile|requirements.*\.(?:in|txt)|"
            r"composer\.json)$",
            file.path,
        )
    }
    for file in case.files:
        if is_vendored(file.path):
            yield case.finding("TI600", "block", file, Spot(after=[line for _, line in file.added]))
        elif _LOCK.search(file.path):
            with_manifest = file.path.rpartition("/")[0] in manifests
            yield case.finding("TI600", "review" if with_manifest else "block", file, Spot())
        elif (
            file.before is not None
            and _GENERATED.search(b"\n".join(file.before.data[:2000].split(b"\n")[:5]))
            and file.cls == "source"
        ):
            yield case.finding("TI600", "block", file, Spot(title="generated file edited"))


def content(case: Case) -> Iterator[Finding]:
    """TI610 and TI620: what a reviewer cannot see, links, modes and paths."""
    for file in case.files:
        if file.after is None:
            continue
        old_mode = file.before.mode if file.before is not None else ""
        mode = file.after.mode
        if (
            (mode in (SYMLINK, GITLINK) and mode != old_mode)
            or (mode == EXECUTABLE and old_mode != EXECUTABLE)
            or _bad_path(file.path)
        ):
            yield case.finding("TI620", "block", file, Spot(before=[old_mode], after=[mode]))
        elif (
            mode != SYMLINK
            and _is_binary(file.after.data)
            and (file.before is None or not _is_binary(file.before.data))
        ):
            severity: Severity = "review" if _PICTURE.search(file.path) and file.cls in ("doc", "source") else "block"
            yield case.finding("TI610", severity, file, Spot())
        elif mode != SYMLINK and _hidden(file):
            yield case.finding("TI610", "block", file, Spot(None, _hidden(file)))


def _bad_path(path: str) -> bool:
    parts = path.casefold().split("/")
    return path.startswith("/") or ".." in parts or ".git" in parts or ".gitmodules" in parts


def _is_binary(data: bytes) -> bool:
    if b"\0" in data[:8000]:
        return True
    try:
        text = data[:200_000].decode()
    except UnicodeDecodeError as error:
        return error.start < len(data[:200_000]) - 4
    return any(unicodedata.category(sign) == "Cc" and sign not in "\t\n\r\f\x1b" for sign in text)


def _hidden(file: FileView) -> int | None:
    """The line of a bidi or invisible character that the fix added."""
    known = {sign for line in lines_of(file.before) for sign in line}
    return next(
        (
            n
            for n, line in file.added
            if any(sign in _BIDI and sign not in known for sign in line.removeprefix("\ufeff"))
        ),
        None,
    )


def size(case: Case) -> Iterator[Finding]:
    """TI630: a limit for a look, not for a verdict."""
    files = [file for file in case.files if not _LOCK.search(file.path)]
    changed = sum(len(file.added) + len(file.removed) for file in files)
    pull = sum(_touched_lines(case, path) for path in sorted(case.pull_paths))
    if files and (changed > LINES or len(files) > FILES or changed > TIMES * max(FLOOR, pull)):
        yield case.finding(
            "TI630",
            "review",
            files[0],
            Spot(after=[f"{changed} lines in {len(files)} files", f"pull request: {pull} lines"]),
        )


def _touched_lines(case: Case, path: str) -> int:
    base, head = case.delta.base.get(path), case.delta.head.get(path)
    old, new = lines_of(base), lines_of(head)
    if _LOCK.search(path):
        return 0
    moved = next((change for change in case.delta.pull if change.renamed and path in (change.old, change.new)), None)
    if moved is not None:
        if path == moved.old:
            return 0
        source = case.delta.base.get(moved.old or "")
        old = lines_of(source)
    left = {line.strip() for line in old}
    right = {line.strip() for line in new}
    return sum(line.strip() not in left for line in new) + sum(line.strip() not in right for line in old)
