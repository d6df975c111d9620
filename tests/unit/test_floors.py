"""The shape of the program: who imports whom, who starts processes, how long things are (architecture.md, Floors)."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")])

# The longest name that fits a module decides. Floor 0 is one folder: `app/` itself. `app.services` is what one process
# works with, made of floor 2 for everything above it.
FLOORS: dict[str, float] = {
    "app": 0,
    "app.settings": 0,
    "app.errors": 0,
    "app.redact": 0,
    "app.sealing": 0,
    "app.telemetry": 0,
    "app.tls": 0,
    "app.watched": 0,
    "app.runs": 1,
    "app.failures": 1,
    "app.integrity": 1,
    "app.commands.parser": 1,
    "app.events.payloads": 1,
    "app.events.router": 1,  # a table of words: the receiver filters with it, and may not know the handlers
    "app.ledger": 2,
    "app.github": 2,
    "app.runners": 2,
    "app.workspace": 2,
    "app.policy": 2,
    "app.render": 2,
    "app.queues": 2,
    "app.embedded_redis": 2,
    "app.services": 2.5,
    "app.doctor": 2.7,  # rows that the command line and the page both show
    "app.plugins": 2.6,  # which runners there are, for command line, pages and turns
    "app.briefs": 3,
    "app.diagnosis": 3,
    "app.proving": 3,
    "app.turns": 3.5,  # drives what app.briefs tells
    "app.speech": 3.5,  # says what app.commands lists
    "app.web": 3,
    "app.web.pages": 3.5,  # shows what app.commands lists
    "app.commands": 3,
    "app.events": 3,
    "app.main": 4,
    "app.cli": 4,
    "jobs": 4,
}

MAY_START_PROCESSES = ("app.workspace", "app.runners", "app.cli")
STARTERS = {
    "subprocess",
    "multiprocessing",
    "pty",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "os.execv",
    "os.execve",
    "os.execvp",
    "os.fork",
    "os.popen",
    "os.posix_spawn",
    "os.spawnv",
    "os.spawnve",
    "os.system",
}
# Settings come from one place; command lines and children's environments are made by the folders that start processes.
MAY_READ_ENVIRONMENT = ("app.settings", *MAY_START_PROCESSES)
PURE = ("app.runs", "app.failures", "app.integrity", "app.commands.parser", "app.events.payloads", "app.events.router")
IMPURE = {
    "time",
    "socket",
    "os",
    "subprocess",
    "sqlite3",
    "random",
    "secrets",
    "httpx",
    "sqlalchemy",
    "redis",
    "pathlib",
}

FILE_LINES, MEDIAN_LINES, FUNCTION_LINES, PARAMETERS = 400, 120, 50, 6


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(module: str) -> str:
    """The name in `FLOORS` that a module belongs to."""
    name = module
    while name not in FLOORS:
        name = name.rpartition(".")[0]
        assert name not in {"", "app"}, f"{module} stands on no floor: add it to the architecture and to this test"
    return name


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All that stands in a file, its module first."""
    return list(ast.walk(ast.parse(path.read_text())))


MODULES = {module_of(file) for file in FILES}


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import of our own, those inside functions and of type checkers too."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in MODULES else str(node.module) for name in names]
        else:
            continue
        yield from ((node.lineno, name) for name in found if name.split(".")[0] in {"app", "jobs"})


def arrow_is_wrong(importer: str, imported: str) -> str | None:
    here, there = unit_of(importer), unit_of(imported)
    if importer.startswith("jobs.") and imported.startswith("jobs.") and importer != imported:
        return "jobs enqueue each other, they do not import each other"
    if importer.startswith("app") and imported.startswith("jobs"):
        return "app never imports jobs"
    if here == there or FLOORS[there] < FLOORS[here] or FLOORS[here] == 0 == FLOORS[there]:
        return None
    if importer == "app.cli.web" and imported == "app.main":
        return None
    way = "up" if FLOORS[there] > FLOORS[here] else "sideways"
    return f"an arrow that runs {way}: floor {FLOORS[here]:g} ({here}) to floor {FLOORS[there]:g} ({there})"


def test_no_import_runs_up() -> None:
    """Architecture, Floors: a file imports only from its own folder or from lower floors."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {imported}: {reason}"
        for path in FILES
        for line, imported in imports_of(path)
        if (reason := arrow_is_wrong(module_of(path), imported))
    ]
    assert not wrong, "\n".join(wrong)


def names_used(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import and each `module.attribute`."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, str(node.module)
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.lineno, f"{node.value.id}.{node.attr}"


def offences(allowed: tuple[str, ...], names: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in FILES
        if not module_of(path).startswith(allowed)
        for line, name in names_used(path)
        if name in names
    ]


def test_only_workspace_runners_and_cli_start_processes() -> None:
    assert not offences(MAY_START_PROCESSES, STARTERS)


def test_the_environment_is_read_in_one_place() -> None:
    assert not offences(MAY_READ_ENVIRONMENT, {"os.environ", "os.getenv"})


def test_no_shell_strings() -> None:
    """security.md 4 and 12: argv lists, never a shell string."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "shell" and not _is_false(node.value)
    ]
    assert not found


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_the_rules_are_pure() -> None:
    """Floor 1 has no clock, no network, no database and no environment."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in FILES
        if module_of(path).startswith(PURE)
        for line, name in names_used(path)
        if name.split(".")[0] in IMPURE or name in {"datetime.now", "datetime.utcnow"}
    ]
    assert not found


def test_floor_0_and_1_need_no_database() -> None:
    low = [path for path in FILES if FLOORS[unit_of(module_of(path))] <= 1]
    assert low
    assert not [p for p in low for _, name in names_used(p) if name.split(".")[0] in {"sqlalchemy", "redis", "rq"}]


def test_no_file_is_over_400_lines() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in FILES}
    assert not [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > FILE_LINES]
    assert sorted(lengths.values())[len(lengths) // 2] <= MEDIAN_LINES


def test_no_function_is_over_50_lines_or_6_parameters() -> None:
    found = []
    for path in FILES:
        if "migrations" in path.parts:  # one table after the other, written by alembic
            continue
        for node in nodes_of(path):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            length = int(node.end_lineno or node.lineno) - node.lineno + 1
            arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            count = len([name for name in arguments if name not in {"self", "cls"}])
            if length > FUNCTION_LINES or count > PARAMETERS:
                where = f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
                found.append(f"{where} has {length} lines and {count} parameters")
    assert not found, "\n".join(found)


def test_every_module_says_what_it_is_for() -> None:
    """style.md 2.3: a module opens with one sentence."""
    modules = [(path, node) for path in FILES if isinstance(node := nodes_of(path)[0], ast.Module)]
    assert [path for path, _ in modules] == FILES
    assert not [path for path, module in modules if module.body and not ast.get_docstring(module)]


def test_names_say_what_is_inside() -> None:
    """style.md 2.1."""
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
    assert not [path for path in FILES if path.stem in vague or path.parent.name in vague]


class TestThisTest:
    """An arrow test that never fails proves nothing."""

    @pytest.mark.parametrize(
        ("importer", "imported"),
        [
            ("app.runs.machine", "app.ledger.runs"),
            ("app.ledger.runs", "app.github.client"),
            ("app.queues", "jobs.intake"),
            ("jobs.turn", "jobs.prove"),
            ("app.settings", "app.runs.model"),
            ("app.web.api", "app.cli.up"),
            ("app.web.api", "app.commands.table"),
            ("jobs.worker", "app.cli.up"),
        ],
    )
    def test_finds_a_wrong_arrow(self, importer: str, imported: str) -> None:
        assert arrow_is_wrong(importer, imported)

    @pytest.mark.parametrize(
        ("importer", "imported"),
        [
            ("app.events.handlers", "app.events.payloads"),
            ("app.ledger.runs", "app.ledger.schema"),
            ("app.telemetry", "app.redact"),
            ("app.cli.web", "app.main"),
            ("jobs.turn", "app.runners.turn"),
        ],
    )
    def test_lets_a_right_arrow_pass(self, importer: str, imported: str) -> None:
        assert arrow_is_wrong(importer, imported) is None
