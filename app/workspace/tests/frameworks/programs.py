"""Find the programs of the frameworks: the operator's folders first, then PATH (PK-8)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.workspace.tests.frameworks.model import Unavailable

NODE_MODULES = "/node_modules"


@dataclass(frozen=True)
class Tool:
    """`path` is called inside, `binds` make it visible there at its true place."""

    path: str
    binds: Mapping[str, Path] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)


def find_program(name: str, tools: str) -> Tool:
    """Raises Unavailable. A program below /usr is there already; of another one its whole installation is bound."""
    folders = [part for folder in tools.split(":") if folder for part in (f"{folder}/bin", folder)]
    for folder in [*folders, *os.environ.get("PATH", "").split(":"), "/usr/bin"]:
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            found = _tool(name, path)
            if found is not None:
                return found
    raise Unavailable(f"{name} is not installed")


def _tool(name: str, path: str) -> Tool | None:
    real = os.path.realpath(path)
    if os.path.basename(real) == "rustup":
        return _of_rustup(name, real)
    if real.startswith("/usr/") and not real.startswith("/usr/local/"):
        return Tool(real if os.path.basename(real).startswith(name) else path)
    root = os.path.dirname(os.path.dirname(real)) if os.path.basename(os.path.dirname(real)) == "bin" else ""
    if root in ("", "/", os.path.expanduser("~")):
        return None
    return Tool(real, {root: Path(root)})


def _of_rustup(name: str, real: str) -> Tool | None:
    """The proxy of rustup looks into its home; inside, the toolchain's own program is called. Stable comes first."""
    home = os.environ.get("RUSTUP_HOME") or os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(real))), ".rustup"
    )
    chains = Path(home) / "toolchains"
    found = sorted(
        (chain for chain in chains.glob("*") if (chain / "bin" / name).exists()),
        key=lambda c: ("stable" not in c.name, c.name),
    )
    return Tool(str(found[0] / "bin" / name), {str(found[0]): found[0]}) if found else None


def node_package(name: str, script: str, tools: str) -> tuple[str, dict[str, Path]]:
    """Inside path of a package's script and the bind of its `node_modules`, put above the tree (proof.md, 5.2)."""
    for folder in tools.split(":"):
        modules = Path(folder) / "node_modules"
        if folder and (modules / name / script).is_file():
            return f"{NODE_MODULES}/{name}/{script}", {NODE_MODULES: modules}
    raise Unavailable(f"{name} is not installed")


def jars(names: tuple[str, ...], tools: str) -> list[Path]:
    """One jar for each name, from the operator's folders or the distribution's; raises Unavailable."""
    folders = [Path(folder) for folder in tools.split(":") if folder] + [Path("/usr/share/java")]
    found = []
    for name in names:
        jar = next(
            (one for folder in folders for one in sorted(folder.glob(f"{name}*.jar"), key=lambda p: len(p.name))), None
        )
        if jar is None:
            raise Unavailable(f"{name}.jar is not installed")
        found.append(jar.resolve())
    return found
