"""Find the Python that tests run with, and see inside the sandbox that it is that one (PN-13, PK-8)."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.workspace.sandbox.interpreters import Interpreter, NotBindable, candidates, inspect
from app.workspace.sandbox.model import Limits, Sandbox, Spec, Workspace, run

_ASK = "import json, sys, {module} as m; print(json.dumps([sys.prefix, sys.version, getattr(m, '__version__', '')]))"
_LIMITS = Limits(wall_s=30, cpu_s=30)
_FOUND: dict[tuple[str, str, str, str], "Toolchain"] = {}


@dataclass(frozen=True)
class Toolchain:
    """`python` is called by this path inside, `binds` makes it and its installation visible at their true paths."""

    python: str
    version: str
    module_version: str
    binds: Mapping[str, Path]

    @property
    def folder(self) -> str:
        """The folder to put first on PATH."""
        return os.path.dirname(self.python)


async def find_python(sandbox: Sandbox, place: Workspace, tools: str, module: str) -> Toolchain | None:
    """The first python3 of the operator's folders, then of PATH, that can import `module` inside; None if none can.

    What was found is kept for the life of the process, what was not is looked for again. `place` is any workspace.
    """
    path = os.environ.get("PATH", "")
    key = (sandbox.name, tools, path, module)
    if key in _FOUND:
        return _FOUND[key]
    for candidate in candidates(tools, path):
        known = inspect(candidate)
        if known is not None and (found := await _inside(sandbox, place, known, module)):
            return _FOUND.setdefault(key, found)
    return None


async def _inside(sandbox: Sandbox, place: Workspace, known: Interpreter, module: str) -> Toolchain | None:
    """The same interpreter answers inside and has the module: one that cannot read its library takes another's."""
    try:
        binds = known.binds()
    except NotBindable:
        return None
    bare = Workspace(place.path, place.uid, frozen=True, binds=binds)
    argv = (known.executable, "-I", "-c", _ASK.format(module=module))
    result = await run(sandbox, Spec("toolchain", argv, bare, _LIMITS))
    try:
        prefix, version, module_version = json.loads(result.stdout_tail)
    except ValueError:
        return None
    if (prefix, version) != (known.prefix, known.version):
        return None
    return Toolchain(known.executable, version, module_version, binds)
