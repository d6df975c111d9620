"""The stripped patch: a fix without its changes of the set-up of tests, tried on its own (proof.md, DM-2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.integrity.classes import class_of
from app.integrity.combine import Judgement, judge
from app.integrity.model import Delta, Finding, Grid
from app.integrity.sentences import SENTENCES
from app.workspace.git import Git
from app.workspace.grid.cells import Request, run_once
from app.workspace.grid.files import Entry, entries_of, read_blobs
from app.workspace.grid.trees import Three, delta_of, write_tree
from app.workspace.sandbox.model import Sandbox

RULES = frozenset(("TI250", "TI300", "TI301", "TI510", "TI600"))
ORIGINAL = "fixed_source_with_original_tests"
SHOWN = 3


async def offer(sandbox: Sandbox, request: Request, grid: Grid, judgement: Judgement) -> Finding | None:
    """What can be left out so that the gate has nothing on the rest and the named tests pass; the verdict stays."""
    kinds = [one for one in judgement.findings if one.rule in RULES and one.severity in ("block", "review")]
    if judgement.verdict == "allow" or not kinds or grid.word(ORIGINAL) != "pass":
        return None
    git = Git(request.mirror.path)
    tree, dropped = stripped(git, request, kinds)
    if not dropped or tree == request.trees["head"]:
        return None
    three = Three(request.trees["base"], request.trees["head"], tree)
    made = delta_of(git, three, request.delta.named, request.delta.framework, request.delta.title)
    delta = replace(made, moved=request.delta.moved, waived=request.delta.waived)
    if judge(delta, None).verdict != "allow":
        return None
    asked = replace(request, trees={**request.trees, "fixed": tree}, delta=delta)
    if (await run_once(sandbox, asked, "fixed")).result != "pass":
        return None
    title, sentence = SENTENCES["DM-2"]
    more = f" and {len(dropped) - SHOWN} more" if len(dropped) > SHOWN else ""
    why = f"{sentence} {', '.join(dropped[:SHOWN])}{more}."
    return Finding("DM-2", "info", dropped[0], title=title, explanation=why, source="grid")


def stripped(git: Git, request: Request, kinds: Sequence[Finding]) -> tuple[str, tuple[str, ...]]:
    """Source of the fix without marks that switch a checker off, tests of head, and tests that the fix adds."""
    delta, trees = request.delta, request.trees
    fixed, head = entries_of(git, trees["fixed"]), entries_of(git, trees["head"])
    rest = entries_of(git, trees[ORIGINAL])
    for change in delta.fix:
        if change.old is None and class_of(change.path, delta.moved) == "test":
            rest[change.path] = fixed[change.path]
    for path in {one.file for one in kinds if one.file in rest and class_of(one.file, delta.moved) == "source"}:
        _take_out(git, delta, rest, str(path), head, kinds)
    paths = sorted({path for one in delta.fix for path in (one.old, one.new) if path is not None})
    return write_tree(git, rest), tuple(path for path in paths if rest.get(path) != fixed.get(path))


def _take_out(
    git: Git, delta: Delta, rest: dict[str, Entry], path: str, head: Mapping[str, Entry], kinds: Sequence[Finding]
) -> None:
    """A generated file as it was; of any other the lines of its marks."""
    mine = [one for one in kinds if one.file == path]
    if any(one.rule == "TI600" for one in mine) and path in head:
        rest[path] = head[path]
        return
    marks = {line.strip() for one in mine if one.rule == "TI510" for line in one.after}
    lines = read_blobs(git, [rest[path].id])[rest[path].id].splitlines(keepends=True)
    old = delta.head[path].data.splitlines() if path in delta.head else []
    known = {line.strip() for line in old}
    kept = [one for one in lines if one.strip() in known or one.decode("utf-8", "replace").strip() not in marks]
    data = b"".join(kept)
    own = git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=data).decode().strip()
    rest[path] = Entry(rest[path].mode, own, len(data))
