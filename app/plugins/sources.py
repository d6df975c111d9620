"""Where a runner comes from: a folder, a wheel or a ready-made manifest by name, brought into one form."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from app.errors import UserError
from app.runners.codes import RunnerError
from app.runners.install import Refused
from app.runners.manifest import MANIFEST_BYTES, Manifest, read_manifest
from app.runners.packages import manifest_in_wheel

READY_MADE = Path(__file__).parents[1] / "runners" / "ready_made"
"""One `<name>.yaml` for each agent that people have already; the first word of its command is looked for at install."""

SYSTEM = Path("/usr")


@dataclass(frozen=True)
class Source:
    """A folder with a `runner.yaml` and, of a wheel, the wheel; `origin` is for people."""

    folder: Path
    manifest: Manifest
    origin: str


def ready_made() -> list[str]:
    """Names of the manifests that come with Remedy."""
    return sorted(path.stem for path in READY_MADE.glob("*.yaml"))


@contextmanager
def opened(named: str, program: str, search: str, chosen: Mapping[str, str] | None = None) -> Iterator[Source]:
    """What `named` is: a path, or the name of a ready-made manifest whose `program` is looked for in `search`.

    `chosen` are values of a ready-made one's configuration, such as its model. Raises UserError when there is no such
    thing, or with the field of a manifest that is wrong (D24).
    """
    with TemporaryDirectory(prefix="remedy-runner-") as folder:
        place = Path(folder) / "runner"
        place.mkdir()
        path = Path(named)
        if named in ready_made() and not path.exists():
            yield _ready_made(named, _program(named, program, search), chosen or {}, place)
        elif chosen:
            raise UserError("Only a ready-made runner is configured at install; set defaults in the runner.yaml.")
        elif path.is_dir():
            yield Source(path, _read(path / "runner.yaml"), f"folder {path.name}")
        elif path.suffix == ".whl" and path.is_file():
            yield _wheel(path, place)
        else:
            known = ", ".join(ready_made()) or "none"
            raise UserError(f"There is no folder, wheel or ready-made runner {named[:200]!r}. Ready-made: {known}.")


def _wheel(wheel: Path, place: Path) -> Source:
    try:
        text = manifest_in_wheel(wheel)
    except Refused as why:
        raise UserError(f"{wheel.name} was not installed: {why}.") from None
    (place / "runner.yaml").write_bytes(text)
    shutil.copyfile(wheel, place / wheel.name)
    return Source(place, _read(place / "runner.yaml"), f"wheel {wheel.name}")


def _ready_made(name: str, program: Path | None, chosen: Mapping[str, str], place: Path) -> Source:
    """The manifest with the program's true path, and the folders that must be seen inside for it to run (RN-73)."""
    data = yaml.safe_load((READY_MADE / f"{name}.yaml").read_text())
    spec = data["spec"]
    if program is not None:
        spec["command"][0] = str(program)
        spec["folders"] = [*spec.get("folders", ()), *folders_for(program)]
    properties = spec.get("config_schema", {}).get("properties", {})
    for key, value in chosen.items():
        if key not in properties:
            raise UserError(f"{name} has no setting {key}; it has {', '.join(sorted(properties)) or 'none'}.")
        properties[key]["default"] = value
    (place / "runner.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return Source(place, _read(place / "runner.yaml"), f"ready-made {name}")


def _program(name: str, named: str, search: str) -> Path | None:
    """The first word of the manifest's command as a path; None for one that starts nothing or names a path itself."""
    command = _read(READY_MADE / f"{name}.yaml").spec.command
    if command is None or command[0].startswith("/"):
        return None
    found = shutil.which(named or command[0], path=search)
    if found is None:
        raise UserError(f"{named or command[0]} was not found. Install it, or name it: --program /path/to/it.")
    return Path(os.path.abspath(found))


def folders_for(program: Path) -> list[str]:
    """What has to be shown so that a program runs: its folder, that of the file behind links, whole `node_modules`."""
    found = []
    for path in (Path(os.path.abspath(program)), program.resolve()):
        parents = [parent for parent in path.parents if parent.name == "node_modules"]
        folder = parents[-1] if parents else path.parent
        inside_usr = folder.is_relative_to(SYSTEM) and not folder.is_relative_to(SYSTEM / "local")
        if not inside_usr and str(folder) not in found:
            found.append(str(folder))
    return found


def _read(path: Path) -> Manifest:
    try:
        with path.open("rb") as file:
            found = read_manifest(file.read(MANIFEST_BYTES + 1))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}.") from None
    if isinstance(found, RunnerError):
        raise UserError(f"{path.name} was refused: {found.message}.")
    return found
