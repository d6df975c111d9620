"""pytest: where the named tests are, how it is called, how our plugin's report is read."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.workspace.tests.json_lines import is_foreign, json_lines
from app.workspace.tests.model import Outcome, TestRow, worst

PLUGIN = "remedy_pytest"
USAGE_ERROR = 4
NO_REPORT = "pytest did not come to its end: the report has no last line"
_PLUGIN_FILE = Path(__file__).parent / "reporters" / f"{PLUGIN}.py"


@dataclass(frozen=True)
class Group:
    """Named tests that run together: `cwd` is a folder of the tree, ids are relative to it, `files` exist in it."""

    cwd: str
    tests: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """Every row by node id, the places that could not be collected, ids whose rows are forged (all of them: "")."""

    rows: Mapping[str, TestRow]
    broken: Mapping[str, str]
    forged: frozenset[str] = frozenset()


def plugin_source() -> bytes:
    """The plugin as it is put into the sandbox."""
    return _PLUGIN_FILE.read_bytes()


def groups_of(files: Path, test_ids: Sequence[str]) -> list[Group]:
    """Ids by the folder they are relative to; `files` is a tree in which nothing has run yet.

    A log names a file relative to the folder in which CI started pytest. That is the top, or the one folder below which
    such a file exists. Ids whose file is nowhere are in no group.
    """
    found: dict[str, list[str]] = {}
    paths: list[str] | None = None
    for test in test_ids:
        file = test.split("::", 1)[0]
        if os.path.isabs(file) or ".." in file.split("/"):
            continue
        if os.path.lexists(files / file):
            found.setdefault("", []).append(test)
            continue
        paths = _paths_below(files) if paths is None else paths
        homes = {path[: -len(file) - 1] for path in paths if path.endswith(f"/{file}")}
        if len(homes) == 1:
            found.setdefault(homes.pop(), []).append(test)
    return [
        Group(cwd, tuple(tests), tuple(dict.fromkeys(test.split("::", 1)[0] for test in tests)))
        for cwd, tests in sorted(found.items())
    ]


def _paths_below(files: Path) -> list[str]:
    return [os.path.relpath(os.path.join(folder, name), files) for folder, _, names in os.walk(files) for name in names]


def argv(python: str, group: Group, without_addopts: bool = False) -> tuple[str, ...]:
    """The command for one group; `without_addopts` leaves out options of the project that need plugins we lack."""
    plain = ("-o", "addopts=") if without_addopts else ()
    options = ("-q", "--color=no", "--continue-on-collection-errors", "-p", "no:cacheprovider", "-p", PLUGIN)
    # pytest drops a `--`, so a file named like an option is given as a path.
    return (python, "-m", "pytest", *options, *plain, *(f"./{file}" for file in group.files))


def read_report(text: bytes | None, tests: Sequence[str]) -> dict[str, TestRow]:
    """A row for every named test. A report without its last line is an `error` for each (PX-1)."""
    said = all_rows(text)
    if said is None:
        return {test: TestRow("error", NO_REPORT) for test in tests}
    return {test: _named(test, said.rows, said.broken) for test in tests}


def all_rows(text: bytes | None) -> Told | None:
    """All that the report says; None without its last line."""
    lines = list(json_lines(text or b""))
    if not any("complete" in line for line in lines):
        return None
    phases: dict[str, list[Mapping[str, object]]] = {}
    broken: dict[str, str] = {}
    for line in lines:
        if isinstance(name := line.get("id"), str):
            phases.setdefault(name, []).append(line)
        elif isinstance(place := line.get("collect"), str):
            broken[place] = str(line.get("detail", ""))[-3000:]
    forged = {name for name, said in phases.items() if _calls(said) > 1}
    forged |= {""} if is_foreign(text or b"") else set()
    return Told({name: _row(said) for name, said in phases.items()}, broken, frozenset(forged))


def _calls(said: Sequence[Mapping[str, object]]) -> int:
    """How often a test ended: once, whatever its name; parts of a test and tries before the last are no ends (PX-4)."""
    ends = ("passed", "failed", "skipped")
    return sum(line.get("when") == "call" and line.get("outcome") in ends and not line.get("part") for line in said)


def _named(test: str, rows: Mapping[str, TestRow], broken: Mapping[str, str]) -> TestRow:
    """All rows that the name means, else the error of the file or folder that could not be collected."""
    found = [row for name, row in rows.items() if name == test or name.startswith((f"{test}[", f"{test}::"))]
    found += [TestRow("error", detail) for place, detail in broken.items() if _holds(place, test)]
    return worst(found)


def _holds(place: str, test: str) -> bool:
    return place in ("", ".") or test == place or test.startswith((f"{place}::", f"{place}/"))


# outcome of the plugin's lines by phase -> our word; a pass needs a passed call and nothing else wrong.
_PHASE: Mapping[tuple[object, object], Outcome] = {
    ("setup", "failed"): "error",
    ("teardown", "failed"): "error",
    ("call", "failed"): "failed",
    ("setup", "skipped"): "skipped",
    ("call", "skipped"): "skipped",
    ("call", "passed"): "passed",
}


def _row(said: Sequence[Mapping[str, object]]) -> TestRow:
    retried = any(line.get("outcome") == "rerun" for line in said)
    words = [word for line in said if (word := _PHASE.get((line.get("when"), line.get("outcome"))))]
    detail = next((str(line["detail"])[-3000:] for line in said if line.get("detail")), "")
    row = worst([TestRow(word, detail, retried) for word in words])
    return TestRow("failed", detail, True) if retried and row.outcome == "passed" else row
