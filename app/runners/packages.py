"""Runners in Python packages: the entry point group `remedy.runners` names the package that holds a `runner.yaml`.

Nothing of such a package is imported: what is read are its metadata and files (runners.md, 11).
"""

import configparser
import zipfile
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

from app.runners.install import Refused
from app.runners.manifest import MANIFEST_BYTES

GROUP = "remedy.runners"


def folders_of_packages() -> list[Path]:
    """Folders with a `runner.yaml` of packages that are installed beside us."""
    found = []
    for distribution in distributions():
        for point in distribution.entry_points:
            if point.group != GROUP:
                continue
            with suppress(Refused):
                folder = Path(str(distribution.locate_file(str(_path_of(point.value)))))
                found += [folder] if (folder / "runner.yaml").is_file() else []
    return sorted(set(found))


def manifest_in_wheel(wheel: Path) -> bytes:
    """The `runner.yaml` that a wheel's entry point names; raises Refused with what is missing."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            points = [name for name in names if name.endswith(".dist-info/entry_points.txt") and name.count("/") == 1]
            packages = _packages(archive.read(points[0])[:MANIFEST_BYTES].decode("utf-8", "replace")) if points else []
            if len(packages) != 1:
                raise Refused(f"the wheel names {len(packages)} packages in its entry points {GROUP}, one is needed")
            place = str(_path_of(packages[0]) / "runner.yaml")
            if place not in names:
                raise Refused(f"the wheel holds no {place}")
            with archive.open(place) as file:
                return file.read(MANIFEST_BYTES + 1)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise Refused(f"{wheel.name} is no wheel that can be read") from error


def _packages(text: str) -> list[str]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Refused("the wheel's entry_points.txt cannot be read") from error
    return [value.strip() for _, value in parser.items(GROUP)] if parser.has_section(GROUP) else []


def _path_of(package: str) -> PurePosixPath:
    parts = package.partition(":")[0].strip().split(".")
    if not all(part.isidentifier() for part in parts):
        raise Refused(f"{package[:100]!r} is no name of a package")
    return PurePosixPath(*parts)
