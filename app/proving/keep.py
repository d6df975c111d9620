"""Keep a proof: cells as rows, outputs and the grid as evidence that a supervisor may cite (EV-1, PF-4)."""

import json

from sqlalchemy import Connection

from app.ledger import proofs
from app.ledger.proofs import Cell as CellRow
from app.ledger.views import TREE_WORDS
from app.ledger.words import EvidenceKind
from app.ledger.words import TreeName as TreeWord
from app.proving.case import Case
from app.workspace.proof.model import Cell, ProofResult, TreeName
from app.workspace.tests.model import Outcome

EXPECTED = {TreeName.BASE: "pass", TreeName.HEAD: "fail", TreeName.FIXED: "pass"}
TAIL_CHARS = 6000
GOOD: Outcome = "passed"


def keep(case: Case, conn: Connection, result: ProofResult, now: int) -> str:
    """All cells of a proof and its grid; the id of the grid's evidence."""
    for name, cell in result.cells.items():
        if cell.runs or cell.same_as is not None:
            _keep_cell(case, conn, name, (result.cells[cell.same_as] if cell.same_as else cell), now)
    body = {
        "proof": case.proof.id,
        "claim": result.claim.value,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "tier": result.tier.name,
        "backend": result.backend,
        "grid": result.grid(),
    }
    text = json.dumps(body, indent=1, sort_keys=True)
    return _put(case, conn, (EvidenceKind.GRID, f"proof of attempt {case.proof.attempt}", text, ""), now)


def _keep_cell(case: Case, conn: Connection, name: TreeName, cell: Cell, now: int) -> None:
    word = TREE_WORDS[TreeWord(name.value)]
    tests = [row.test_id for row in case.named]
    output = case.s.redactor.text(_output(cell).decode("utf-8", "replace"))
    counted = {test: cell.counts(test) for test in tests}
    lines = [f"{test}: {c.passes} passed, {c.fails + c.errors} failed of {c.runs}" for test, c in counted.items()]
    evidence_id = _put(case, conn, (EvidenceKind.CELL, word, "\n".join((word, *lines, output)), output), now)
    for test, counts in counted.items():
        row = CellRow(
            tree_name=TreeWord(name.value),
            test_id=test,
            tree=cell.tree,
            env="",
            runs=counts.runs,
            passes=counts.passes,
            fails=counts.fails + counts.errors,
            not_run=counts.missing,
            expected=EXPECTED[name],
            evidence_id=evidence_id,
        )
        proofs.store_cell(conn, case.proof.id, row)


def _output(cell: Cell) -> bytes:
    """What the last run that was not all well printed, else the last run."""
    bad = [run for run in cell.runs if any(row.outcome != GOOD for row in run.rows.values())]
    return (bad or list(cell.runs))[-1].output_tail if cell.runs else b""


def _put(case: Case, conn: Connection, fact: tuple[EvidenceKind, str, str, str], now: int) -> str:
    kind, what, text, tail = fact
    return case.s.store.put(
        conn,
        run_id=case.run.id,
        kind=kind,
        data=text.encode("utf-8", "replace"),
        origin="host",
        meta={"what": what, "tail": tail[-TAIL_CHARS:]} if tail else {"what": what},
        now=now,
    )
