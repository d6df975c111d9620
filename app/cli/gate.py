"""`remedy gate`: judge one fix by its integrity rules and, unless left out, by the proof grid (proof.md, 13)."""

import asyncio
import json
import signal
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from app.integrity.combine import Judgement
    from app.integrity.model import Delta, Finding, Grid
    from app.integrity.mutants import Mutation
    from app.settings import Settings
    from app.workspace.grid.case import Loaded
    from app.workspace.grid.cells import Request
    from app.workspace.grid.trees import Three
    from app.workspace.rooms import Rooms
    from app.workspace.sandbox.model import Sandbox

SANDBOXES = ("auto", "bwrap", "engine", "landlock", "uid", "none")
SHOWN = 5


def gate(
    case: Annotated[
        Path, typer.Option("--case", metavar="DIR", help="Folder with before/, pr.diff, patch.diff, case.json.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line, nothing else.")] = False,
    no_grid: Annotated[bool, typer.Option("--no-grid", help="Only read the fix; run nothing of it.")] = False,
    sandbox: Annotated[
        str, typer.Option("--sandbox", metavar="NAME", help="Backend for the tests; none = no isolation.")
    ] = "auto",
) -> None:
    """Say whether a fix is honest: allow, needs_human or block. The verdict is in the answer, never in the status.

    Exit 0 when an answer was printed; 2 when DIR cannot be read or an option is wrong.
    """
    from app.workspace.git import Git
    from app.workspace.grid.case import Unreadable, load

    if sandbox not in SANDBOXES:
        raise typer.BadParameter(f"{sandbox} is none of {', '.join(SANDBOXES)}", param_hint="--sandbox")
    if sandbox == "none" and not no_grid:
        print("remedy gate: --sandbox none runs the tests of this case without any isolation", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="remedy-gate-") as folder:
        store = Path(folder) / "store.git"
        store.mkdir()
        git = Git(store)
        git.run("init", "--bare", "--quiet", "--template=", str(store))
        try:
            loaded = load(git, case)
        except Unreadable as error:
            raise typer.BadParameter(str(error), param_hint="--case") from error
        answer = _until_ended(_answer(store, loaded, None if no_grid else sandbox))
    print(json.dumps(answer, ensure_ascii=False) if as_json else _for_people(answer), flush=True)


def _until_ended(work: Any) -> dict[str, Any]:
    """Run to the end; SIGTERM and Ctrl-C cancel, so that every child and every folder is gone (PK-10)."""

    async def cancellable() -> dict[str, Any]:
        task = asyncio.current_task()
        assert task is not None
        for word in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(word, task.cancel)
        found: dict[str, Any] = await work
        return found

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        raise typer.Exit(143) from None


async def _answer(store: Path, loaded: "Loaded", sandbox: str | None) -> dict[str, Any]:
    from app.integrity.combine import judge
    from app.workspace.git import Git
    from app.workspace.grid.trees import delta_of

    case = loaded.case
    delta = delta_of(Git(store), loaded.three, case.failing, case.framework, case.title)
    if loaded.refused:
        return _object(case.id, judge(delta, None, [_refused(loaded.refused)]), None)
    if sandbox is None:
        return _object(case.id, judge(delta, None), None)
    found = await _grid(store, delta, loaded.three, sandbox)
    answer = _object(case.id, judge(found.delta, found.grid, found.more), found.grid)
    return answer | ({"mutation": found.mutation.as_json()} if found.mutation is not None else {})


def _refused(why: str) -> "Finding":
    """A patch that does not apply, or that changes nothing (PK-9)."""
    from app.integrity.model import Finding

    return Finding("PG107", "block", title=why, explanation=f"The patch cannot be judged: {why}.", source="grid")


@dataclass(frozen=True)
class _Found:
    """What was run, or why not, as a finding that asks for a person (PK-7)."""

    delta: "Delta"
    grid: "Grid | None" = None
    more: "tuple[Finding, ...]" = ()
    mutation: "Mutation | None" = None


async def _grid(store: Path, delta: "Delta", three: "Three", sandbox: str) -> _Found:
    from app.errors import UserError
    from app.integrity.model import Finding
    from app.policy import POLICY_PATH, read_policy
    from app.policy.model import Policy
    from app.proving.commands import commands_of
    from app.settings import Settings
    from app.workspace.checkout import Mirror
    from app.workspace.git import Git
    from app.workspace.grid.cells import NotRun, Request, run_grid
    from app.workspace.grid.layers import Layers
    from app.workspace.grid.trees import six

    settings = Settings()
    blob = delta.base.get(POLICY_PATH)
    policy = read_policy(blob.data) if blob is not None else None
    known = policy if isinstance(policy, Policy) else Policy()
    own, moved = commands_of(known, delta.base)
    delta = replace(delta, moved=moved, waived=frozenset(known.waive))
    try:
        backend, rooms = await _backend(settings, sandbox)
        request = Request(
            mirror=Mirror(store),
            rooms=rooms,
            trees=six(Git(store), three, moved),
            delta=delta,
            own=own,
            tools=settings.proof_tools,
            cell_s=settings.limits.cell_s,
            proof_s=settings.limits.proof_s,
        )
        with Layers(rooms, request.mirror, moved) as layers:
            request = replace(request, layers=layers)
            measured = await run_grid(backend, request)
            return await _with_mutants(backend, request, measured.grid)
    except (NotRun, UserError) as error:
        why = " ".join(str(error).split())
        return _Found(delta, None, (Finding("PG110", "review", title="not run", explanation=why[:500], source="grid"),))


async def _with_mutants(backend: "Sandbox", request: "Request", grid: "Grid") -> _Found:
    """Mutants are worth their time only where nothing else blocks; the first killed one is enough here (MM-5, MM-6)."""
    from app.integrity.combine import judge
    from app.integrity.mutants import finding_of
    from app.workspace.grid.mutation import run_mutants
    from app.workspace.grid.stripped import offer

    said = judge(request.delta, grid)
    offered = await offer(backend, request, grid, said)
    more = (offered,) if offered is not None else ()
    if grid.word("fixed") != "pass" or said.verdict == "block":
        return _Found(request.delta, grid, more)
    fixed = grid.cells["fixed"]
    mutation = await run_mutants(backend, request, fixed.seconds / max(1, fixed.runs), whole=False)
    found = finding_of(mutation)
    return _Found(request.delta, grid, (*more, *((found,) if found is not None else ())), mutation)


async def _backend(settings: "Settings", name: str) -> "tuple[Sandbox, Rooms]":
    """The sandbox and the folders for its runs; `none` has no other user either, so it finds the caller's tools."""
    from app.workspace.rooms import Rooms
    from app.workspace.sandbox.choose import choose
    from app.workspace.sandbox.plain import Plain

    if name == "none":
        rooms = Rooms(settings.data, None)
        rooms.prepare()
        return Plain("remedy gate"), rooms
    chosen = settings.model_copy(update={"sandbox": settings.sandbox.model_copy(update={"backend": name})})
    return await choose(chosen, ""), Rooms.of(chosen)


def _object(name: str, judgement: "Judgement", grid: "Grid | None") -> dict[str, Any]:
    """The answer of proof.md, 13."""
    from app.integrity.gate import VERSION

    census = grid.census if grid is not None else None
    answer: dict[str, Any] = {
        "case": name,
        "verdict": judgement.verdict,
        "claim": judgement.claim,
        "findings": [finding.as_json() for finding in judgement.findings],
        "grid": grid.as_json() if grid is not None else None,
        "versions": {"rules": VERSION},
    }
    if census is not None:
        answer["census"] = {
            "complete": census.complete,
            "lost": list(census.lost),
            "newly_failing": list(census.broken),
            "moved": list(census.moved),
        }
    return answer


def _for_people(answer: dict[str, Any]) -> str:
    """Verdict, cells, then the strictest findings (PV-8)."""
    lines = [f"{answer['case']}: {answer['verdict']}" + (f" ({answer['claim']})" if answer["claim"] else "")]
    for name, cell in (answer["grid"] or {}).items():
        lines.append(f"  {name.replace('_', ' '):<34} {cell['result']:<8} {cell['runs']} runs")
    for found in answer["findings"][:SHOWN]:
        place = f" {found['file']}:{found['line']}" if found["line"] else f" {found['file']}" if found["file"] else ""
        lines.append(f"  {found['severity']:<7} {found['rule']} {found['title']}{place}")
        lines.append(f"          {found['explanation']}")
        lines += [f"          - {line}" for line in found["evidence"]["before"]]
        lines += [f"          + {line}" for line in found["evidence"]["after"]]
    left = len(answer["findings"]) - SHOWN
    return "\n".join(
        "".join(s if s.isprintable() else " " for s in line)
        for line in lines + ([f"  {left} more"] if left > 0 else [])
    )
