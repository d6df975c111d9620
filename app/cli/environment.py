"""The settings of a command, and what a process needs before it may start."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from app.errors import UserError
from app.settings import Settings

ROOT = Path(__file__).parents[2]


def read_settings() -> Settings:
    """Settings from the environment; raises UserError that names each variable it cannot use."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"{_variable(item['loc'])}: {item['msg']}" for item in error.errors())
        raise UserError(f"The environment cannot be used. {wrong}") from None


def with_app(settings: Settings) -> Settings:
    """These settings, with the App that the set-up made where the environment names none."""
    from app.ledger.vault import settings_with_app

    return settings_with_app(settings)


def remedy_version() -> str:
    """The version of the installed package, as in pyproject.toml."""
    return version("remedy")


def python(module: str, *args: str) -> tuple[str, ...]:
    """The command line of another process of ours: `-P` keeps the current folder out of its imports."""
    return (sys.executable, "-P", "-m", module, *args)


def child_environment() -> dict[str, str]:
    """Our environment, with this checkout first among the imports: a moved checkout keeps working (PN-9)."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def prepare_data_folder(settings: Settings) -> None:
    """Make the data folder and Redis' own in it; raises UserError when it cannot be used.

    A root app's folder can be searched, not listed, by the users of the sandbox (decisions.md, row 80).
    """
    folder = settings.data
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o711 if os.geteuid() == 0 else 0o700)
        (folder / "redis").mkdir(exist_ok=True)
        (folder / "redis").chmod(0o700)
    except OSError as error:
        raise UserError(f"The data folder {folder} cannot be used: {error.strerror}. Set REMEDY_DATA.") from error


def refuse_unreachable_folder(settings: Settings) -> None:
    """Raises UserError when the data folder of a root app shuts out the users of its sandbox (decisions.md, row 80)."""
    from app.workspace.rooms import Rooms

    Rooms.of(settings)


def _variable(location: tuple[int | str, ...]) -> str:
    name = "__".join(str(part) for part in location).upper()
    return name if name in {"DATABASE_URL", "REDIS_URL", "RUNNERS_DIR"} else f"REMEDY_{name}"
