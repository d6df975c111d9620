"""Go, cargo and JUnit 4 without a build tool (proof.md, 5.1)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.workspace.sandbox.model import Result
from app.workspace.tests.execute import PLUGINS, Command
from app.workspace.tests.frameworks.model import ALL_FORGED, DETAIL, NO_REPORT, Ground, Row, Said, Start, from_lines
from app.workspace.tests.frameworks.programs import find_program, jars
from app.workspace.tests.json_lines import json_lines
from app.workspace.tests.model import Outcome

_REPORTERS = Path(__file__).parents[1] / "reporters"
_GO: Mapping[object, Outcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}


@dataclass(frozen=True)
class Go:
    """Rows with a `Test` count, rows of packages do not: a `TestMain` may drop the exit code.

    Go ends each test of a package once; a second end was printed by a test (PG109).
    """

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        go = find_program("go", ground.tools)
        named = sorted({re.split(r"[/#]", test.rsplit(" ", 1)[-1].rsplit(".", 1)[-1])[0] for test in ids or ()})
        pattern = ("-run", f"^({'|'.join(re.escape(name) for name in named)})$") if ids is not None else ()
        modules = sorted(
            path.rpartition("/")[0]
            for path in ground.paths
            if path.rsplit("/", 1)[-1] == "go.mod" and "vendor/" not in path
        )
        env = {"GOCACHE": "/tmp/go-cache", "GOTOOLCHAIN": "local", "GOSUMDB": "off"}
        if ground.sandbox.name == "none":
            env.pop("GOCACHE")
        argv = (go.path, "test", "-json", "-count=1", *pattern, "./...")
        return [Start(Command(argv, cwd, env, go.binds, folders=(go.folder,)), root=cwd) for cwd in modules or [""]]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        rows: list[Row] = []
        output: dict[tuple[object, object], str] = {}
        tested: set[object] = set()
        ends: list[tuple[object, str]] = []
        failed: dict[str, str] = {}
        for said in json_lines(result.stdout_tail):
            package, test, action = said.get("Package"), said.get("Test"), said.get("Action")
            if action == "output":
                output[package, test] = (output.get((package, test), "") + str(said.get("Output", "")))[-DETAIL:]
            elif isinstance(test, str) and action in _GO:
                tested.add(package)
                ends.append((package, test))
                rows.append(Row(test, _GO[action], output.get((package, test), "") if action == "fail" else ""))
            elif test is None and action == "fail" and package not in tested:
                failed[""] = output.get((package, None), "")
        text = (result.stdout_tail + result.stderr_tail).decode("utf-8", "replace")
        if not rows and re.search(
            r"\[(?:build|setup) failed\]|^FAIL\s|build constraints exclude|cannot find", text, re.MULTILINE
        ):
            failed.setdefault("", text[-DETAIL:])
        excluded = "build constraints exclude all Go files" in text or "no test files" in text
        ended = result.reason == "exit"
        twice = frozenset(test for (_, test), n in Counter(ends).items() if n > 1)
        return Said(tuple(rows), {} if excluded and not rows else failed, ended, twice)


_RUNNING = re.compile(r"^running (\d+) tests?$")
_CARGO_ROW = re.compile(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)\b")
_CARGO: Mapping[str, Outcome] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


@dataclass(frozen=True)
class Cargo:
    """Text by its structure: rows count between `running N tests` and the next empty line.

    There must be N, each once (PG109).
    """

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        cargo = find_program("cargo", ground.tools)
        target = "/tmp/target"
        env = {"CARGO_TARGET_DIR": ground.seen(target), "CARGO_TERM_COLOR": "never"}
        argv = (cargo.path, "test", "--offline", "--no-fail-fast")
        homes = sorted((p.rpartition("/")[0] for p in ground.paths if p.rsplit("/", 1)[-1] == "Cargo.toml"), key=len)
        return [Start(Command(argv, (homes or [""])[0], env, cargo.binds, folders=(cargo.folder,)))]

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        rows: list[Row] = []
        text = result.stdout_tail.decode("utf-8", "replace")
        block: list[Row] = []
        wanted, whole, forged = -1, True, frozenset[str]()
        for line in text.splitlines():
            if (found := _RUNNING.match(line)) is not None:
                wanted, block = int(found[1]), []
            elif wanted >= 0 and (row := _CARGO_ROW.match(line)) is not None:
                block.append(Row(row["name"], _CARGO[row["word"]]))
            elif wanted >= 0 and not line.strip():
                whole &= len(block) >= wanted
                forged |= ALL_FORGED if len(block) > wanted or len({one.id for one in block}) < len(block) else set()
                rows += [replace(one, id=re.sub(r" \(line \d+\)$", "", one.id)) for one in block]
                wanted, block = -1, []
        said = result.stderr_tail.decode("utf-8", "replace")
        broken = (
            {"": said[-DETAIL:]}
            if re.search(r"could not compile|failed to parse manifest|error: no matching package", said)
            else {}
        )
        details = _cargo_details(text)
        told = tuple(Row(row.id, row.outcome, details.get(row.id, "")) for row in rows)
        ended = result.reason == "exit" and (bool(rows) or bool(broken) or result.rc == 0)
        return Said(told, broken, whole and ended, forged)


def _cargo_details(text: str) -> dict[str, str]:
    """What each failing test printed, by name."""
    parts = re.split(r"^---- (\S+) stdout ----$", text, flags=re.MULTILINE)
    return {name: body[:DETAIL] for name, body in zip(parts[1::2], parts[2::2], strict=False)}


@dataclass(frozen=True)
class Junit:
    """Our driver compiles all sources and runs the classes; a build file in the tree needs `tests` in the policy."""

    def starts(self, ground: Ground, ids: Sequence[str] | None) -> list[Start]:
        java = find_program("java", ground.tools)
        found = jars(("junit4", "hamcrest"), ground.tools)
        inside = {f"/run/jars/{jar.name}": jar for jar in found}
        binds = {**java.binds, **inside} | {str(p): p for p in Path("/etc").glob("java-*-openjdk")}
        names = sorted({test.split("#", 1)[0] for test in ids or () if self._is_there(ground, test)})
        if ids is not None and not names:
            return []
        driver = f"{PLUGINS}/RemedyJunit.java"
        path = ":".join(str(jar) if ground.sandbox.name == "none" else place for place, jar in inside.items())
        classes = ground.seen("/tmp/classes")
        argv = (java.path, "-cp", path, ground.seen(driver), "{report}", classes, *names)
        files = {driver: (_REPORTERS / "RemedyJunit.java").read_bytes()}
        return [Start(Command(argv, binds=binds, files=files, folders=(java.folder,)))]

    @staticmethod
    def _is_there(ground: Ground, test: str) -> bool:
        name = test.split("#", 1)[0].split("$")[0].replace(".", "/") + ".java"
        return any(path == name or path.endswith(f"/{name}") for path in ground.paths)

    def read(self, start: Start, report: bytes | None, result: Result) -> Said:
        return from_lines(report) if report is not None else NO_REPORT
