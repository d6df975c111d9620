"""Run the set-up of a repository's tests on a copy of its tree; what it leaves is a folder beside the tree (PX-34)."""

from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.model import Sandbox, Spec, Workspace, run
from app.workspace.tests.execute import LAYER, Command, environment, on_path, placed, tool_folders, with_layer
from app.workspace.tests.model import TestJob
from app.workspace.tests.own import setups
from app.workspace.tests.toolchain import find_python


@dataclass(frozen=True)
class Layer:
    """What a set-up left; `path` is None where nothing asks for one. `problem` is why it is not whole."""

    path: Path | None = None
    problem: str = ""
    output: bytes = b""


async def run_setup(sandbox: Sandbox, job: TestJob, folder: Path) -> Layer:
    """Each command once, in order, until one fails. It sees no report and no network; raises SandboxUnavailable."""
    tools = tool_folders(job.tools)
    module = "pytest" if job.framework == "pytest" else "sys"
    python = await find_python(sandbox, Workspace(job.files, job.uid), job.tools, module)
    binds = {**tools, **(python.binds if python else {})}
    first = (*([python.folder] if python else []), *map(on_path, tools))
    place = Workspace(job.files, job.uid, binds=binds, writable={LAYER: folder})
    layer = sandbox.seen(place, LAYER)
    for words in setups(job):
        env = with_layer(environment(job, Command(words, folders=first)), layer)
        argv = tuple(placed(word, "{report}", layer) for word in words)
        result = await run(sandbox, Spec("setup", argv, place, job.limits, env))
        if result.rc != 0:
            how = f"exit code {result.rc}" if result.reason == "exit" else result.reason
            output = result.stdout_tail + result.stderr_tail
            return Layer(folder, f"the set-up of the tests failed: {' '.join(argv)[:200]} ({how})", output)
    return Layer(folder)
