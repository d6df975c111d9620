"""Which runners there are, and one of them ready to start: found by id, checked, copied by digest."""

import logging
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from jsonschema_rs import ValidationError as SchemaError

from app.runners.codes import Code, RunnerError
from app.runners.environments import environment_of, is_program, wheels_in
from app.runners.install import Refused, install_folder
from app.runners.manifest import MANIFEST_BYTES, Manifest, Usage, read_manifest
from app.runners.packages import folders_of_packages

logger = logging.getLogger(__name__)

FOLDER = "{folder}"
"""Stands for the runner's own folder in the command's arguments and in `env_fixed`."""


Origin = Literal["RUNNERS_DIR", "installed", "package"]


@dataclass(frozen=True)
class Entry:
    """One folder with a `runner.yaml`: its manifest, or why it cannot be used."""

    folder: Path
    manifest: Manifest | None = None
    error: RunnerError | None = None
    origin: Origin = "RUNNERS_DIR"

    @property
    def id(self) -> str:
        """The id, also of a broken manifest as far as it can be read, so that the reason is found under the id."""
        return _id_of(self)


@dataclass(frozen=True)
class RunnerSpec:
    """A runner as it is started. `folder` is its read-only copy on the host, named by `digest`.

    `inside_path` is where the launcher must show that folder: the same path, so that `argv` also holds in sandboxes
    that cannot mount. `env` holds the fixed switches and the values of the names that the manifest lists. `argv` is
    empty for a runner whose server runs already at `url`. `own` is its environment, if it has one, and `shown` are
    folders of the host: both have to be seen inside at their true paths.
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
    own: Path | None = None
    shown: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Registry:
    """Folders with a `runner.yaml`: below `runners_dir`, of packages beside us, and `installed` ones (digests).

    Copies go below `data`/runners. `environ` gives the operator's values for the names that a manifest lists.
    """

    runners_dir: Path | None
    data: Path
    environ: Mapping[str, str] = field(repr=False, default_factory=lambda: os.environ)
    installed: Collection[str] = ()

    @property
    def store(self) -> Path:
        """Where copies lie, each named by its digest."""
        return self.data / "runners"

    def entries(self) -> list[Entry]:
        """All folders with a `runner.yaml`, by name; broken ones hold the reason. Two of one id are both broken."""
        below = self.runners_dir.glob("*/runner.yaml") if self.runners_dir is not None else ()
        entries = [_entry(path.parent, "RUNNERS_DIR") for path in sorted(below)]
        entries += [_entry(self.store / digest, "installed") for digest in sorted(self.installed)]
        entries += [_entry(folder, "package") for folder in folders_of_packages()]
        seen = Counter(entry.manifest.id for entry in entries if entry.manifest is not None)
        return [_unless_twice(entry, seen) for entry in entries]

    def find(
        self, runner_id: str, usage: Usage, config: Mapping[str, object] | None = None
    ) -> RunnerSpec | RunnerError:
        """The runner for one role, with defaults filled into `config` (D8, D10).

        Errors: `runner.not_installed` (unknown id), `runner.broken_manifest`, `runner.not_ready` (not for this role,
        configuration or an environment value is missing).
        """
        fitting = [entry for entry in self.entries() if entry.id == runner_id]
        if not fitting:
            return RunnerError(Code.NOT_INSTALLED, f"{runner_id}: no such runner is installed{self._broken_ones()}")
        entry = fitting[0]
        if entry.manifest is None or entry.error is not None:
            return entry.error or RunnerError(Code.BROKEN_MANIFEST, f"{runner_id}: no manifest")
        if usage not in entry.manifest.spec.usages:
            usages = ", ".join(entry.manifest.spec.usages)
            return RunnerError(Code.NOT_READY, f"{runner_id}: not offered as {usage}, only as {usages}")
        return self.spec_of(entry, dict(config or {}))

    def _broken_ones(self) -> str:
        broken = [f"{entry.folder.name} ({entry.error.message})" for entry in self.entries() if entry.error is not None]
        return f"; broken: {', '.join(broken)}" if broken else ""

    def spec_of(self, entry: Entry, config: dict[str, object]) -> RunnerSpec | RunnerError:
        """A sound entry as it is started; the errors of `find` but for the usage."""
        manifest = entry.manifest
        if manifest is None or entry.error is not None:
            return entry.error or RunnerError(Code.BROKEN_MANIFEST, f"{entry.folder.name}: no manifest")
        filled = _configured(manifest, config)
        if isinstance(filled, RunnerError):
            return filled
        missing = [name for name in manifest.spec.env if not self.environ.get(name)]
        if missing:
            return RunnerError(Code.NOT_READY, f"{manifest.id}: set {', '.join(missing)} for the worker")
        try:
            digest, copy = install_folder(entry.folder, self.store)
        except Refused as error:
            return RunnerError(Code.BROKEN_MANIFEST, f"{manifest.id}: {error}")
        if entry.origin == "installed" and digest != entry.folder.name:
            return RunnerError(Code.BROKEN_MANIFEST, f"{manifest.id}: its files changed since it was installed")
        own = environment_of(self.store, digest) if wheels_in(copy) else None
        argv = _command(manifest, copy, own)
        if isinstance(argv, RunnerError):
            return argv
        return self._started(manifest, filled, argv, copy, own)

    def _started(
        self, manifest: Manifest, config: Mapping[str, object], argv: tuple[str, ...], copy: Path, own: Path | None
    ) -> RunnerSpec:
        fixed = {name: value.replace(FOLDER, str(copy)) for name, value in manifest.spec.env_fixed.items()}
        url = manifest.spec.url
        return RunnerSpec(
            id=manifest.id,
            argv=argv,
            env={**{name: self.environ[name] for name in manifest.spec.env}, **fixed},
            config=config,
            usages=tuple(manifest.spec.usages),
            digest=copy.name,
            folder=copy,
            inside_path=str(copy),
            manifest=manifest,
            url=self.environ[url[1:]] if url is not None and url.startswith("$") else url,
            own=own,
            shown=tuple(Path(folder) for folder in manifest.spec.folders),
        )


def _entry(folder: Path, origin: Origin) -> Entry:
    try:
        with (folder / "runner.yaml").open("rb") as file:
            found = read_manifest(file.read(MANIFEST_BYTES + 1))
    except OSError as error:
        found = RunnerError(Code.BROKEN_MANIFEST, f"runner.yaml cannot be read: {error.strerror}")
    if isinstance(found, Manifest):
        return Entry(folder, found, origin=origin)
    return Entry(folder, error=found, origin=origin)


def _unless_twice(entry: Entry, seen: Mapping[str, int]) -> Entry:
    if entry.manifest is None or seen[entry.manifest.id] == 1:
        return entry
    error = RunnerError(Code.BROKEN_MANIFEST, f"{entry.manifest.id}: more than one folder has this id")
    return replace(entry, error=error)


def _id_of(entry: Entry) -> str:
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


def _command(manifest: Manifest, folder: Path, own: Path | None) -> tuple[str, ...] | RunnerError:
    """RN-73: a program of the runner's own environment or folder, or an absolute path; never looked up in PATH."""
    if manifest.spec.command is None:
        return ()
    program, *arguments = manifest.spec.command
    path = _program(program, folder, own)
    if path is None:
        return RunnerError(
            Code.BROKEN_MANIFEST, f"{manifest.id}: command: {program} is no program in the runner's folder"
        )
    return (str(path), *(argument.replace(FOLDER, str(folder)) for argument in arguments))


def _program(program: str, folder: Path, own: Path | None) -> Path | None:
    if program.startswith("/"):
        return Path(program)
    if own is not None and "/" not in program and is_program(own / "bin" / program):
        return own / "bin" / program
    path = folder / program
    return path if path.resolve().is_relative_to(folder.resolve()) and is_program(path) else None
