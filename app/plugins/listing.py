"""All runners that this server knows, with version, state and the reason for each that cannot be used."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.ledger import plugins
from app.ledger.rows import Row
from app.ledger.words import RunnerState
from app.runners.codes import RunnerError
from app.runners.registry import Entry, Registry
from app.settings import Settings


@dataclass(frozen=True)
class Known:
    """One runner. `state` is installing, ready, broken or disabled; `usages` are the roles that it is offered for."""

    id: str
    version: str
    label: str
    origin: str
    state: str
    percent: int
    problem: str
    usages: tuple[str, ...] = ()
    protocol: str = ""
    digest: str = ""
    log_tail: str = ""


def registry_of(settings: Settings, installed: Collection[str] = ()) -> Registry:
    """The registry of this server; `installed` are digests from the ledger."""
    return Registry(settings.runners_dir, settings.data, installed=tuple(installed))


def registry(conn: Connection, settings: Settings) -> Registry:
    """The registry with the runners that are installed and ready."""
    return registry_of(settings, plugins.usable(conn))


def known(conn: Connection, settings: Settings) -> list[Known]:
    """Every runner by id: rows of the ledger as they stand, the others as their folder and our environment allow."""
    rows = plugins.everything(conn)
    whole = registry_of(settings, [row.digest for row in rows])
    entries = whole.entries()
    found = [_row(row, _entry_of(row, whole, entries)) for row in rows]
    found += [_entry(whole, entry) for entry in entries if entry.origin != "installed"]
    return sorted(found, key=lambda one: (one.id, one.origin))


def _entry_of(row: Row, whole: Registry, entries: Sequence[Entry]) -> Entry | None:
    return next((entry for entry in entries if entry.folder == whole.store / row.digest), None)


def _row(row: Row, entry: Entry | None) -> Known:
    spec = (row.manifest_json or {}).get("spec", {})
    problem = row.error
    if row.state is RunnerState.READY and (entry is None or entry.error is not None):
        problem = entry.error.message if entry is not None and entry.error is not None else "its files are gone"
    return Known(
        id=row.id,
        version=row.version,
        label=row.label,
        origin=row.origin,
        state="broken" if problem else row.state.value,
        percent=row.percent,
        problem=problem or (row.progress if row.state is RunnerState.INSTALLING else ""),
        usages=tuple(spec.get("usages", ())),
        protocol=str(spec.get("protocol", "")),
        digest=row.digest,
        log_tail=row.log_tail,
    )


def _entry(whole: Registry, entry: Entry) -> Known:
    """A folder that is used where it lies: ready if it could be started now."""
    spec = whole.spec_of(entry, {})
    problem = spec.message if isinstance(spec, RunnerError) else ""
    told = entry.manifest.metadata if entry.manifest is not None else None
    return Known(
        id=entry.id or entry.folder.name,
        version=told.version if told is not None else "",
        label=told.label if told is not None else "",
        origin=f"{entry.origin}/{entry.folder.name}",
        state="broken" if problem else "ready",
        percent=0 if problem else 100,
        problem=problem,
        usages=tuple(entry.manifest.spec.usages) if entry.manifest is not None else (),
        protocol=entry.manifest.spec.protocol if entry.manifest is not None else "",
        digest="" if isinstance(spec, RunnerError) else spec.digest,
    )
