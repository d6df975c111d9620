"""Evidence: facts kept as files named by their content, in a hash chain per run and per diagnosis (domain.md, 7.1)."""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict, Unpack

from sqlalchemy import Connection, select

from app.ledger.rows import Row, lock
from app.ledger.schema import diagnoses, evidence, runs, turns, verdicts
from app.ledger.words import EvidenceKind

PRUNED = "remedy prune"
"""Origin of the link that names the evidence whose files were removed, as their retention time was over."""

_HASHED = ("chain", "seq", "id", "run_id", "diagnosis_id", "kind", "sha256", "bytes", "origin", "meta_json", "at")


class DamagedEvidence(Exception):
    """A file of the store is missing or is not what its row says."""


class Fact(TypedDict):
    """Redacted bytes (EV-3) about one run or one diagnosis; `meta` says what they are about, such as a byte range."""

    run_id: NotRequired[str | None]
    diagnosis_id: NotRequired[str | None]
    kind: EvidenceKind
    data: bytes
    origin: str
    meta: Mapping[str, Any]
    now: int


class Store:
    """The files of one data folder, and the rows about them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, conn: Connection, **fact: Unpack[Fact]) -> str:
        """Keep a fact; its id, `E-` and 10 hex digits or more. The same fact put again gives the id that it has.

        Raises ValueError unless exactly one owner is named.
        """
        run_id, diagnosis_id = fact.get("run_id"), fact.get("diagnosis_id")
        if (run_id is None) == (diagnosis_id is None):
            raise ValueError("evidence belongs to a run or to a diagnosis")
        digest = hashlib.sha256(fact["data"]).hexdigest()
        kind, origin, meta = EvidenceKind(fact["kind"]), fact["origin"], dict(fact["meta"])
        chain = f"run:{run_id}" if run_id else f"diagnosis:{diagnosis_id}"
        lock(conn, runs if run_id else diagnoses, run_id or diagnosis_id)
        rows = _of_chain(conn, chain)
        for row in rows:
            if (row.sha256, row.kind, row.origin, row.meta_json) == (digest, kind, origin, meta):
                return str(row.id)
        values = {
            "chain": chain,
            "seq": len(rows) + 1,
            "id": _free_id(digest, _ids_beside(conn, run_id, diagnosis_id)),
            "run_id": run_id,
            "diagnosis_id": diagnosis_id,
            "kind": kind,
            "sha256": digest,
            "bytes": len(fact["data"]),
            "path": self._write(digest, fact["data"]),
            "origin": origin,
            "meta_json": meta,
            "at": fact["now"],
        }
        return _append(conn, rows[-1].hash if rows else _last_of_diagnosis(conn, run_id), values)

    def read(self, row: Row) -> bytes:
        """The bytes of a row; raises DamagedEvidence if the file is not what was put, or was removed as too old."""
        if not row.path:
            raise DamagedEvidence(f"{row.id}: the file was removed")
        try:
            data = self._folder.joinpath(row.path).read_bytes()
        except OSError as error:
            raise DamagedEvidence(f"{row.id}: the file cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != row.sha256:
            raise DamagedEvidence(f"{row.id}: the file is not what was stored")
        return data

    def verify(self, conn: Connection, run_id: str) -> str | None:
        """The first broken link of a run as a sentence, or None: rows, files and the citations of verdicts (EV-2)."""
        diagnosis_id = conn.execute(select(runs.c.diagnosis_id).where(runs.c.id == run_id)).scalar_one()
        early = _of_chain(conn, f"diagnosis:{diagnosis_id}")
        late = _of_chain(conn, f"run:{run_id}")
        starts = {"", *(row.hash for row in early)}
        for problem in (
            self._broken_link(early, {""}),
            self._broken_link(late, starts),
            _unknown_citation(conn, run_id, {row.id for row in (*early, *late)}),
        ):
            if problem:
                return problem
        return None

    def sweep(self, conn: Connection, *, older_than_s: float) -> int:
        """Delete files that no row names, unless they are so new that their row may still come; how many."""
        named = set(conn.execute(select(evidence.c.path).distinct()).scalars())
        until = time.time() - older_than_s
        gone = 0
        for path in self._folder.glob("??/*"):
            if f"{path.parent.name}/{path.name}" not in named and path.stat().st_mtime < until:
                path.unlink()
                gone += 1
        return gone

    def _broken_link(self, rows: Sequence[Row], starts: set[str]) -> str | None:
        removed = {name for row in rows if row.origin == PRUNED for name in (row.meta_json or {}).get("removed", ())}
        for place, row in enumerate(rows):
            before = {rows[place - 1].hash} if place else starts
            if row.seq != place + 1 or row.prev_hash not in before:
                return f"{row.id} does not follow the evidence before it: something was removed or put in between"
            if row.hash != _hash(row.prev_hash, row._mapping):
                return f"{row.id} was changed after it was stored"
            if not row.path and row.id in removed:
                continue
            try:
                self.read(row)
            except DamagedEvidence as error:
                return str(error)
        return None

    def _write(self, digest: str, data: bytes) -> str:
        """Write the file before the row, whole or not at all; its path inside the folder."""
        path = self._folder / digest[:2] / digest
        if path.exists():
            os.utime(path)  # a sweep that runs now must not take it for one that nobody names
        else:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, path)
        return f"{digest[:2]}/{digest}"


def get(conn: Connection, evidence_id: str, *, run_id: str) -> Row | None:
    """The evidence with this id of this run or its diagnosis, else None: nothing else may be cited (EV-5)."""
    return next((row for row in of_run(conn, run_id) if row.id == evidence_id), None)


def of_run(conn: Connection, run_id: str) -> Sequence[Row]:
    """All evidence of a run's diagnosis, then of the run, each in order."""
    diagnosis_id = conn.execute(select(runs.c.diagnosis_id).where(runs.c.id == run_id)).scalar_one()
    return [*_of_chain(conn, f"diagnosis:{diagnosis_id}"), *_of_chain(conn, f"run:{run_id}")]


def of_diagnosis(conn: Connection, diagnosis_id: str) -> Sequence[Row]:
    """All evidence of a diagnosis, in order."""
    return _of_chain(conn, f"diagnosis:{diagnosis_id}")


def _append(conn: Connection, before: str, values: Mapping[str, Any]) -> str:
    """Write the row and its hash: of the row as the database gives it back, so that it can be checked later."""
    row = conn.execute(evidence.insert().values(**values, prev_hash=before).returning(*evidence.c)).one()
    place = (evidence.c.chain == row.chain, evidence.c.seq == row.seq)
    conn.execute(evidence.update().where(*place).values(hash=_hash(before, row._mapping)))
    return str(row.id)


def _of_chain(conn: Connection, chain: str) -> Sequence[Row]:
    return conn.execute(select(evidence).where(evidence.c.chain == chain).order_by(evidence.c.seq)).all()


def _last_of_diagnosis(conn: Connection, run_id: str | None) -> str:
    """Where the chain of a run begins (decisions.md, 92); empty for a diagnosis."""
    if run_id is None:
        return ""
    diagnosis_id = conn.execute(select(runs.c.diagnosis_id).where(runs.c.id == run_id)).scalar_one()
    rows = _of_chain(conn, f"diagnosis:{diagnosis_id}")
    return str(rows[-1].hash) if rows else ""


def _ids_beside(conn: Connection, run_id: str | None, diagnosis_id: str | None) -> set[str]:
    """Ids that one turn could confuse with a new one: those of the diagnosis and of every run of it."""
    if diagnosis_id is None:
        diagnosis_id = conn.execute(select(runs.c.diagnosis_id).where(runs.c.id == run_id)).scalar_one()
    of_runs = select(runs.c.id).where(runs.c.diagnosis_id == diagnosis_id)
    mine = evidence.c.run_id.in_(of_runs) | (evidence.c.diagnosis_id == diagnosis_id)
    return set(conn.execute(select(evidence.c.id).where(mine)).scalars())


def _free_id(digest: str, taken: set[str]) -> str:
    """The shortest id that is free; the same bytes in two places lengthen it, up to the whole digest and a count."""
    return next(name for name in _names(digest) if name not in taken)


def _names(digest: str) -> Iterator[str]:
    yield from (f"E-{digest[:length]}" for length in range(10, len(digest) + 1))
    n = 1
    while True:
        n += 1
        yield f"E-{digest}{n:x}"


def _hash(before: str, row: Mapping[Any, Any]) -> str:
    fact = json.dumps([before, *(row[name] for name in _HASHED)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(fact.encode()).hexdigest()


def _unknown_citation(conn: Connection, run_id: str, known: set[str]) -> str | None:
    rows = select(verdicts.c.turn_id, verdicts.c.evidence).join(turns).where(turns.c.run_id == run_id)
    for turn_id, cited in conn.execute(rows):
        if unknown := set(cited or ()) - known:
            return f"the verdict of turn {turn_id} cites {min(unknown)}, which is not evidence of this run"
    return None
