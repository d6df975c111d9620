"""Install a runner: received, checked, stored by digest, given its own environment, probed; each step is a row's."""

from collections.abc import Callable

from app.errors import UserError
from app.ledger import plugins
from app.ledger.plugins import NewRunner
from app.ledger.rows import Row
from app.ledger.words import RunnerState
from app.plugins.listing import registry_of
from app.plugins.sources import Source
from app.runners.codes import Code, RunnerError
from app.runners.environments import BuildFailed, build, environment_of, remove, wheels_in
from app.runners.install import Refused, discard_folder, install_folder
from app.runners.registry import RunnerSpec
from app.runners.runner import Readiness
from app.services import Services, hold

Probe = Callable[[RunnerSpec], Readiness]
"""Starts the runner, greets it and ends it."""

STORED, BUILT = 40, 80


def receive(s: Services, source: Source) -> str:
    """Store the files and the row, in one go, for `install` to go on with; the digest. Raises UserError.

    The same content that is ready already stays as it is (D6).
    """
    try:
        digest, _ = install_folder(source.folder, registry_of(s.settings).store)
    except Refused as why:
        raise UserError(f"{source.manifest.id} was not installed: {why}.") from None
    told = source.manifest.metadata
    new = NewRunner(source.manifest.id, told.version, told.label, digest, source.manifest.model_dump(), source.origin)
    with s.write() as conn:
        before = plugins.get(conn, new.id)
        if before is None or (before.digest, before.state) != (digest, RunnerState.READY):
            plugins.receive(conn, new, STORED, "stored by its digest", s.clock())
    return digest


def install(s: Services, digest: str, probe: Probe) -> str:
    """Everything after the files are there; may be done again from the start. One worker does it (LE-1)."""
    with hold(s, f"install:{digest}") as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            row = plugins.of_digest(conn, digest)
        if row is None or row.state is not RunnerState.INSTALLING:
            return "idle"
        try:
            error, said = _steps(s, row, probe)
        except BuildFailed as failed:
            error, said = str(failed), failed.output
        except UserError as refused:
            error, said = str(refused), ""
        _ended(s, row.id, error, said)
    return "broken" if error else "processed"


def check(s: Services, row: Row, probe: Probe) -> Readiness:
    """Probe an installed runner again and keep what came out."""
    found = _probed(s, row.digest, probe)
    if row.state is not RunnerState.DISABLED:
        _ended(s, row.id, "; ".join(found.problems), row.log_tail)
    return found


def uninstall(s: Services, row: Row) -> bool:
    """Forget a disabled runner and delete its files; False while a turn still runs with them."""
    with s.write() as conn:
        if not plugins.forget(conn, row.id):
            return False
        shared = plugins.of_digest(conn, row.digest) is not None
    store = registry_of(s.settings).store
    if row.digest and not shared:
        remove(environment_of(store, row.digest))
        discard_folder(store / row.digest)
    return True


def _steps(s: Services, row: Row, probe: Probe) -> tuple[str, str]:
    """The reason why it is broken, empty if it is not, and the end of what was said."""
    store = registry_of(s.settings).store
    said = ""
    if wheels_in(store / row.digest):
        with s.write() as conn:
            plugins.step(conn, row.digest, STORED, "building its environment", s.clock())
        said = build(store / row.digest, environment_of(store, row.digest))
    with s.write() as conn:
        plugins.step(conn, row.digest, BUILT, "probing", s.clock())
    found = _probed(s, row.digest, probe)
    return "; ".join(found.problems), found.said or said


def _probed(s: Services, digest: str, probe: Probe) -> Readiness:
    registry = registry_of(s.settings, [digest])
    entry = next((one for one in registry.entries() if one.folder == registry.store / digest), None)
    spec = _spec(registry.spec_of(entry, {}) if entry is not None else None)
    if isinstance(spec, RunnerError):
        return Readiness(False, problems=(spec.message,))
    return probe(spec)


def _spec(found: RunnerSpec | RunnerError | None) -> RunnerSpec | RunnerError:
    return RunnerError(Code.NOT_INSTALLED, "its files are gone; install it again") if found is None else found


def _ended(s: Services, runner_id: str, error: str, said: str) -> None:
    with s.write() as conn:
        if error:
            plugins.broken(conn, runner_id, s.redactor.text(error)[:2000], s.redactor.text(said), s.clock())
        else:
            plugins.ready(conn, runner_id, s.clock())
