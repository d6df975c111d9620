"""Which runners are installed, and one of them ready to start: found by id, checked, copied by digest."""

import logging
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jsonschema_rs import ValidationError as SchemaError

from app.runners.codes import Code, RunnerError
from app.runners.install import Refused, install_folder
from app.runners.manifest import MANIFEST_BYTES, Manifest, Usage, read_manifest

logger = logging.getLogger(__name__)

FOLDER = "{folder}"
"""Stands for the runner's own folder in the command's arguments and in `env_fixed`."""


@dataclass(frozen=True)
class Entry:
    """One folder below RUNNERS_DIR: its manifest, or why it cannot be used."""

    folder: Path
    manifest: Manifest | None = None
    error: RunnerError | None = None


@dataclass(frozen=True)
class RunnerSpec:
    """A runner as it is started. `folder` is its read-only copy on the host, named by `digest`.

    `inside_path` is where the launcher must show that folder: the same path, so that `argv` also holds in sandboxes
    that cannot mount. `env` holds the fixed switches and the values of the names that the manifest lists. `argv` is
    empty for a runner whose server runs already at `url`.
    """

    id: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    config: Mapping[str, object]
    usages: tuple[str, ...]
    digest: str
    folder: Path
    inside_path: str
    manifest: Manifest = field(repr=False)
    url: str | None = None


@dataclass(frozen=True)
class Registry:
    """The runners below `runners_dir` (each a folder with a `runner.yaml`); copies go below `data`/runners.

    `environ` gives the operator's values for the names that a manifest lists.
    """

    runners_dir: Path | None
    data: Path
    environ: Mapping[str, str] = field(repr=False, default_factory=lambda: os.environ)

    def entries(self) -> list[Entry]:
        """All folders with a `runner.yaml`, by name; broken ones hold the reason. Two of one id are both broken."""
        if self.runners_dir is None or not self.runners_dir.is_dir():
            return []
        folders = sorted(path.parent for path in self.runners_dir.glob("*/runner.yaml"))
        entries = [_entry(folder) for folder in folders]
        seen = Counter(entry.manifest.id for entry in entries if entry.manifest is not None)
        return [_unless_twice(entry, seen) for entry in entries]

    def find(
        self, runner_id: str, usage: Usage, config: Mapping[str, object] | None = None
    ) -> RunnerSpec | RunnerError:
        """The runner for one role, with defaults filled into `config` (D8, D10).

        Errors: `runner.not_installed` (unknown id), `runner.broken_manifest`, `runner.not_ready` (not for this role,
        configuration or an environment value is missing).
        """
        fitting = [entry for entry in self.entries() if _id_of(entry) == runner_id]
        if not fitting:
            return RunnerError(Code.NOT_INSTALLED, f"{runner_id}: no such runner in RUNNERS_DIR{self._broken_ones()}")
        entry = fitting[0]
        if entry.manifest is None or entry.error is not None:
            return entry.error or RunnerError(Code.BROKEN_MANIFEST, f"{runner_id}: no manifest")
        if usage not in entry.manifest.spec.usages:
            usages = ", ".join(entry.manifest.spec.usages)
            return RunnerError(Code.NOT_READY, f"{runner_id}: not offered as {usage}, only as {usages}")
        return self._spec(entry.folder, entry.manifest, dict(config or {}))

    def _broken_ones(self) -> str:
        broken = [f"{entry.folder.name} ({entry.error.message})" for entry in self.entries() if entry.error is not None]
        return f"; broken: {', '.join(broken)}" if broken else ""

    def _spec(self, folder: Path, manifest: Manifest, config: dict[str, object]) -> RunnerSpec | RunnerError:
        filled = _configured(manifest, config)
        if isinstance(filled, RunnerError):
            return filled
        missing = [name for name in manifest.spec.env if not self.environ.get(name)]
        if missing:
            return RunnerError(Code.NOT_READY, f"{manifest.id}: set {', '.join(missing)} for the worker")
        try:
            digest, copy = install_folder(folder, self.data / "runners")
        except Refused as error:
            return RunnerError(Code.BROKEN_MANIFEST, f"{manifest.id}: {error}")
        argv = _command(manifest, copy)
        if isinstance(argv, RunnerError):
            return argv
        fixed = {name: value.replace(FOLDER, str(copy)) for name, value in manifest.spec.env_fixed.items()}
        env = {**{name: self.environ[name] for name in manifest.spec.env}, **fixed}
        usages = tuple(manifest.spec.usages)
        url = manifest.spec.url
        url = self.environ[url[1:]] if url is not None and url.startswith("$") else url
        return RunnerSpec(manifest.id, argv, env, filled, usages, digest, copy, str(copy), manifest, url)


def _entry(folder: Path) -> Entry:
    try:
        with (folder / "runner.yaml").open("rb") as file:
            found = read_manifest(file.read(MANIFEST_BYTES + 1))
    except OSError as error:
        found = RunnerError(Code.BROKEN_MANIFEST, f"runner.yaml cannot be read: {error.strerror}")
    if isinstance(found, Manifest):
        return Entry(folder, found)
    return Entry(folder, error=found)


def _unless_twice(entry: Entry, seen: Mapping[str, int]) -> Entry:
    if entry.manifest is None or seen[entry.manifest.id] == 1:
        return entry
    error = RunnerError(Code.BROKEN_MANIFEST, f"{entry.manifest.id}: more than one folder of RUNNERS_DIR has this id")
    return Entry(entry.folder, entry.manifest, error)


def _id_of(entry: Entry) -> str:
    """The id, also of a broken manifest as far as it can be read, so that the reason is found under the id."""
    if entry.manifest is not None:
        return entry.manifest.id
    try:
        text = (entry.folder / "runner.yaml").read_bytes()[:MANIFEST_BYTES].decode("utf-8", "replace")
    except OSError:
        return ""
    parts = [re.search(rf"\b{key}: *[\"']?([a-z0-9._-]+)", text) for key in ("author", "name", "runner")]
    return "/".join(part[1] for part in parts if part is not None)


def _configured(manifest: Manifest, config: dict[str, object]) -> dict[str, object] | RunnerError:
    """D10: defaults of the schema's own properties, then the schema decides; the message names the key."""
    schema = manifest.spec.config_schema
    properties = schema.get("properties")
    for key, rule in properties.items() if isinstance(properties, dict) else ():
        if isinstance(rule, dict) and "default" in rule:
            config.setdefault(key, rule["default"])
    try:
        manifest.spec.config_validator().validate(config)
    except SchemaError as error:
        where = ".".join(str(part) for part in error.instance_path) or "config"
        return RunnerError(Code.NOT_READY, f"{manifest.id}: {where}: {error.message}")
    return config


def _command(manifest: Manifest, folder: Path) -> tuple[str, ...] | RunnerError:
    """RN-73: the program is a file of the runner's folder or the operator's absolute path, never looked up in PATH."""
    if manifest.spec.command is None:
        return ()
    program, *arguments = manifest.spec.command
    path = Path(program) if program.startswith("/") else folder / program
    inside = path.resolve().is_relative_to(folder.resolve())
    if not program.startswith("/") and (not inside or not path.is_file() or not os.access(path, os.X_OK)):
        return RunnerError(
            Code.BROKEN_MANIFEST, f"{manifest.id}: command: {program} is no program in the runner's folder"
        )
    return (str(path), *(argument.replace(FOLDER, str(folder)) for argument in arguments))
