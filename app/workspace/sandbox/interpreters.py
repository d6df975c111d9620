"""Find a Python of the host and what must be bound so that it runs inside (SX-36)."""

import glob
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ASK = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.version]))"


class NotBindable(Exception):
    """Showing this interpreter inside would show a home folder or the whole disk; the text names the folder."""


@dataclass(frozen=True)
class Interpreter:
    """One Python: `executable` is what is called, `prefix` its environment, `base_prefix` its installation."""

    executable: str
    prefix: str
    base_prefix: str
    version: str

    def binds(self) -> dict[str, Path]:
        """Inside path -> host path, each at its true place; nothing for what /usr shows. Raises NotBindable."""
        found: dict[str, Path] = {}
        for root in (self.prefix, self.base_prefix, *_prefixes_on_the_way(self.executable)):
            found |= _binds_of(Path(root), self.base_prefix)
        return found


def inspect(candidate: Path, wall_s: float = 20) -> Interpreter | None:
    """Ask a `python3` of the operator who it is; links and shims are followed by itself. None if it does not answer."""
    env = {"PATH": "/usr/bin:/bin", "HOME": os.path.expanduser("~"), "LC_ALL": "C.UTF-8"}
    try:
        said = subprocess.run([str(candidate), "-I", "-c", _ASK], env=env, cwd="/", capture_output=True, timeout=wall_s)
        executable, prefix, base_prefix, version = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Interpreter(executable, prefix, base_prefix, version)


def system_python() -> Interpreter | None:
    """/usr/bin/python3, or the installation that runs us."""
    return inspect(Path("/usr/bin/python3")) or inspect(Path(sys.base_prefix) / "bin" / "python3")


def candidates(tools: str, path: str) -> Iterator[Path]:
    """Every `python3` by PK-8: first in the operator's folders `tools`, then on `path`; never our own environment."""
    own = os.path.realpath(sys.prefix)
    for folder in filter(None, tools.split(":")):
        yield from (found for name in ("bin", "") if _is_program(found := Path(folder) / name / "python3"))
    for folder in filter(os.path.isabs, path.split(":")):
        found = Path(folder) / "python3"
        if _is_program(found) and os.path.realpath(found.parent.parent) != own:
            yield found


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _prefixes_on_the_way(executable: str) -> Iterator[str]:
    """The folder above `bin` for each link from a virtual environment's python to the real one."""
    path = executable
    for _ in range(20):
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield os.path.dirname(os.path.dirname(path))


def _binds_of(root: Path, base_prefix: str) -> dict[str, Path]:
    if root == Path("/usr/local"):
        return {path: Path(path) for path in _of_usr_local(base_prefix)}
    if root.is_relative_to("/usr"):
        return {}
    homes = {Path(user.pw_dir) for user in pwd.getpwall()} | {Path.home()}
    for home in homes - {Path("/"), Path("/nonexistent")}:
        if home.is_relative_to(root) or (root == home):
            raise NotBindable(f"{root} is or holds a home folder")
    return {str(root): Path(os.path.realpath(root))}


def _of_usr_local(base_prefix: str) -> list[str]:
    """A Python below /usr/local is named file by file: the folder is masked because operators keep things there."""
    if base_prefix != "/usr/local":
        return []
    patterns = ("bin/python3*", "lib/python3*", "lib/libpython3*")
    return [path for pattern in patterns for path in sorted(glob.glob(f"/usr/local/{pattern}"))]
