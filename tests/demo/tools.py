"""A small Python environment with pytest and nothing else, as an operator would name it in REMEDY_PROOF_TOOLS.

The environment that runs the tests themselves holds many plugins, and each proof would pay for importing them.
"""

import compileall
import importlib.util
import shutil
import sys
import venv
from pathlib import Path

PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def make_tools(folder: Path) -> Path:
    """The environment in `folder`/tools, made from what is installed here; takes about a second."""
    tools = folder / "tools"
    venv.EnvBuilder(with_pip=False, symlinks=True).create(tools)
    site = tools / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for name in PACKAGES:
        shutil.copytree(_home_of(name), site / name, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(site, quiet=2)
    return tools


def _home_of(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise RuntimeError(f"{name} is not installed: run make")
    return Path(found.origin).parent
