"""Take an agent's work out of its workspace as patch bytes, made by git inside the sandbox (SX-6, SX-29)."""

from dataclasses import replace
from pathlib import Path

from app.workspace.checkout import Mirror
from app.workspace.commits import PATCH_BYTES, PatchRefused, printable
from app.workspace.git import ENVIRONMENT, FLAGS
from app.workspace.sandbox.cleanup import remove_tree
from app.workspace.sandbox.model import WORKSPACE, Limits, Result, Sandbox, Spec, Workspace, run
from app.workspace.trees import DIFF_OPTIONS

STORE = "/base.git"
BYPRODUCTS = ("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".gradle/", "node_modules/")
"""What running code leaves behind; never part of a fix, also where the repository does not ignore it. A file that is
tracked stays part of it."""

LIMITS = Limits(wall_s=300, cpu_s=300, out_bytes=PATCH_BYTES + 1)

# $1 is the tree to compare with; the rest are options of diff. `diff-index --cached` never enters the work tree, nor an
# embedded repository in it: that one shows as a new submodule, which the commit refuses by name.
_SCRIPT = """set -eu
base=$1
shift
mkdir "$GIT_OBJECT_DIRECTORY"
git read-tree "$base"
git add -A -- .
exec git --no-pager diff-index --cached -p "$@" "$base"
"""


async def take_patch(sandbox: Sandbox, mirror: Mirror, workspace: Workspace, start: str) -> bytes | PatchRefused:
    """What differs between the work tree and `start` (a commit or tree of the mirror).

    Ignored files are left out, and BYPRODUCTS. What counts is the work tree, not the agent's commits. Empty bytes when
    nothing changed. The workspace is only read; no process of the agent may live. Raises SandboxUnavailable.
    """
    store = Path(f"{workspace.path}.base.git")
    tree = mirror.tree_of(start)
    place = replace(workspace, frozen=True, read_only=(), binds={STORE: store}, writable={}, files={}, home=None)
    argv = ("sh", "-c", _SCRIPT, "sh", tree, *DIFF_OPTIONS)
    spec = Spec(f"patch-{tree[:12]}", argv, place, LIMITS, _env(sandbox, place))
    remove_tree(store, None)
    try:
        mirror.pristine(tree, store)
        _exclude(store / "info")
        result = await run(sandbox, spec)
    finally:
        remove_tree(store, None)
    if result.truncated:
        return PatchRefused(f"the patch has more than {PATCH_BYTES} bytes")
    if result.rc != 0:
        return PatchRefused(f"the patch could not be made: {_said(result)}")
    return result.stdout_tail


def _exclude(info: Path) -> None:
    info.mkdir()
    (info / "exclude").write_text("\n".join(BYPRODUCTS))
    for path, mode in ((info, 0o755), (info / "exclude", 0o644)):
        path.chmod(mode)


def _said(result: Result) -> str:
    """git's first word of an error, else its last word, else how it ended."""
    lines = result.stderr_tail.decode("utf-8", "replace").strip().splitlines()
    error = next((line for line in lines if line.startswith("error: ")), lines[-1] if lines else "")
    return printable(error) or result.reason


def _env(sandbox: Sandbox, place: Workspace) -> dict[str, str]:
    """The hardened environment; flags go in as configuration, so that every call of the script has them."""
    flags = {**FLAGS, "core.bare": "false"}
    env = {key: value for key, value in ENVIRONMENT.items() if key not in ("PATH", "HOME")}
    env |= {"GIT_DIR": sandbox.seen(place, STORE), "GIT_WORK_TREE": sandbox.seen(place, WORKSPACE)}
    env |= {
        "GIT_INDEX_FILE": sandbox.seen(place, "/tmp/index"),
        "GIT_OBJECT_DIRECTORY": sandbox.seen(place, "/tmp/objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": sandbox.seen(place, f"{STORE}/objects"),
        "GIT_CONFIG_COUNT": str(len(flags)),
    }
    for n, (key, value) in enumerate(flags.items()):
        env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return env
