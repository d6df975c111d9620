"""Keep a proof: cells as rows; runs, grid, gate, findings and mutants as evidence that a supervisor may cite (EV-1)."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.integrity.gate import VERSION
from app.integrity.model import CELLS, Cell, Finding, Seen
from app.ledger import diagnoses, proofs
from app.ledger.proofs import Cell as CellRow
from app.ledger.views import TREE_WORDS
from app.ledger.words import EvidenceKind, TreeName
from app.proving.case import Case
from app.proving.measure import Proved
from app.runs.model import Cause, ProofOutcome
from app.workspace.grid.known import as_json

TAIL_CHARS = 6000
FINDINGS = 20
SHORTEST_SECRET = 8
EXPECTED = {
    TreeName.BASE: "pass",
    TreeName.HEAD: "fail",
    TreeName.FIXED: "pass",
    TreeName.FIXED_WITHOUT_SOURCE: "fail",
    TreeName.BASE_SOURCE_WITH_FIXED_TESTS: "fail",
    TreeName.FIXED_SOURCE_WITH_ORIGINAL_TESTS: "pass",
}
EXPECTED_OF_BASE = {"unfinished_feature": "not run", "wrong_new_test": "not run", "pre_existing_failure": "fail"}
"""What base is expected to do where the claim is not about a regression."""


@dataclass(frozen=True)
class Kept:
    """Ids of the evidence that an approve must cite (EV-6)."""

    grid: str
    gate: str


def keep(case: Case, conn: Connection, proved: Proved, outcome: ProofOutcome, now: int) -> Kept:
    """All of a proof: its cells, findings and mutants first, then the grid and the gate that name them."""
    desk = _Desk(case, conn, proved, outcome, now)
    for name in CELLS:
        cell = proved.grid.cells.get(name)
        if cell is not None and _is_shown(name, proved):
            desk.cell(TreeName(name), cell)
    attempt = f"of attempt {case.proof.attempt}"
    said = {"proof": case.proof.id, "claim": proved.judgement.claim, "outcome": outcome.value}
    grid = {**said, "tier": proved.sandbox.tier.name, "backend": proved.sandbox.name, "trees": dict(proved.trees)}
    grid_id = desk.put(EvidenceKind.GRID, f"proof {attempt}", {**grid, "grid": proved.grid.as_json()})
    weighty = [one for one in proved.judgement.findings if one.severity != "info"][:FINDINGS]
    for finding in weighty:
        desk.put(EvidenceKind.FINDING, _line(finding), finding.as_json())
    if proved.mutation is not None:
        what = f"{proved.mutation.killed} of {proved.mutation.mutants} changed copies were caught by the named tests"
        desk.put(EvidenceKind.MUTATION, what, proved.mutation.as_json())
    _blame_base(desk)
    what = f"gate {attempt}: {proved.judgement.verdict}, findings to look at: {len(weighty)}"
    return Kept(grid_id, desk.put(EvidenceKind.GATE, what, {**said, **_gate(proved)}))


def _blame_base(desk: "_Desk") -> None:
    """Tests that fail on the base commit as well, and pass with the fix, were red before this change (PG116)."""
    base, rows = desk.proved.grid.cells.get("base"), desk.proved.judgement.rows
    if base is None or desk.proved.trees["base"] == desk.proved.trees["head"]:
        return
    for group_id in {row.group_id for row in desk.case.named if row.group_id is not None}:
        tests = [row.test_id for row in desk.case.named if row.group_id == group_id]
        if all(test in rows and rows[test].rule == "PG116" and base.tests[test].fails for test in tests):
            seen = base.tests[tests[0]]
            how = f"fails on the base commit too, {seen.fails} of {seen.runs} in our sandbox"
            diagnoses.blame_again(desk.conn, group_id, Cause.BASE_RED, how)


def _is_shown(name: str, proved: Proved) -> bool:
    """A base that is not known and a cell that says nothing new have no row (PT-7, PT-11)."""
    trees, grid = proved.trees, proved.grid
    match TreeName(name):
        case TreeName.BASE:
            return trees["base"] != trees["head"]
        case TreeName.BASE_SOURCE_WITH_FIXED_TESTS:
            return grid.word("fixed_without_source") == "pass" and trees[name] != trees["fixed_without_source"]
        case TreeName.FIXED_SOURCE_WITH_ORIGINAL_TESTS:
            return trees[name] != trees["fixed"] and trees[name] != trees["head"]
        case _:
            return True


def _gate(proved: Proved) -> dict[str, Any]:
    census, judgement = proved.grid.census, proved.judgement
    gate: dict[str, Any] = {
        "verdict": judgement.verdict,
        "claims": {test: row.claim for test, row in judgement.rows.items()},
        "findings": [finding.as_json() for finding in judgement.findings],
        "versions": {"rules": VERSION},
        "mutation": proved.mutation.as_json() if proved.mutation is not None else None,
    }
    if census is not None:
        lost = [*census.lost, *census.broken]
        gate["suite"] = {"complete": census.complete, "passed": len(census.ran_in_fixed), "lost": lost}
    return gate


def _line(finding: Finding) -> str:
    place = f" in {finding.file}" + (f" line {finding.line}" if finding.line else "") if finding.file else ""
    return f"{finding.severity}: {finding.title}{place}"[:200]


@dataclass(frozen=True)
class _Desk:
    case: Case
    conn: Connection
    proved: Proved
    outcome: ProofOutcome
    now: int

    def cell(self, name: TreeName, cell: Cell) -> None:
        """One row for each named test, and the runs of the tree as one piece of evidence (PX-11)."""
        tree, word = self.proved.trees[name], TREE_WORDS[name]
        tests = [row.test_id for row in self.case.named]
        counted = {test: cell.tests.get(test, Seen()) for test in tests}
        lines = [f"{test}: {c.passes} passed, {c.fails + c.errors} failed of {c.runs}" for test, c in counted.items()]
        output = self.case.s.redactor.text(cell.output.decode("utf-8", "replace"))
        said = {"cell": word, "tree": tree, "tests": sorted(tests), "counts": lines, "output": output}
        meta = {"tail": output[-TAIL_CHARS:], "cell": name.value, "proof": self.case.proof.id}
        evidence_id = self.runs(tree, word, said, meta)
        for test, counts in counted.items():
            proofs.store_cell(self.conn, self.case.proof.id, self._row(name, tree, (test, counts), evidence_id))

    def runs(self, tree: str, word: str, said: dict[str, Any], meta: dict[str, Any]) -> str:
        """With what is needed to use them again, unless redaction would change an id or nothing was proved here."""
        kept = as_json(self.proved.measured.runs[tree])
        names = "\n".join(_ids(kept))
        if self.case.s.redactor.text(names) != names:
            return self.put(EvidenceKind.CELL, word, said, meta)
        if self.outcome is not ProofOutcome.NOT_RUN:
            meta = {**meta, "tree": tree, "environment": self.proved.environment}
        return self.put(EvidenceKind.CELL, word, {**said, "runs": kept}, meta)

    def _row(self, name: TreeName, tree: str, seen: tuple[str, Seen], evidence_id: str) -> CellRow:
        test, counts = seen
        row = self.proved.judgement.rows.get(test)
        expected = EXPECTED[name]
        if name is TreeName.BASE and row is not None:
            expected = EXPECTED_OF_BASE.get(row.claim, expected)
        return CellRow(
            tree_name=name,
            test_id=test,
            tree=tree,
            env=self.proved.environment,
            runs=counts.runs,
            passes=counts.passes,
            fails=counts.fails + counts.errors,
            not_run=counts.missing,
            expected=expected,
            evidence_id=evidence_id,
        )

    def put(self, kind: EvidenceKind, what: str, body: dict[str, Any], meta: dict[str, Any] | None = None) -> str:
        """Redacted before it is kept (EV-3); its id."""
        text = json.dumps(self._redacted(body), indent=1, sort_keys=True, ensure_ascii=False)
        return self.case.s.store.put(
            self.conn,
            run_id=self.case.run.id,
            kind=kind,
            data=text.encode("utf-8", "replace"),
            origin="host",
            meta={**(meta or {}), "what": self.case.s.redactor.text(what)},
            now=self.now,
        )

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.case.s.redactor.text(value) if len(value) >= SHORTEST_SECRET else value
        if isinstance(value, dict):
            # Ids of tests in `rows` were looked at together; there may be thousands.
            return {k: self._rows(one) if k == "rows" else self._redacted(one) for k, one in value.items()}
        return [self._redacted(one) for one in value] if isinstance(value, list) else value

    def _rows(self, rows: list[list[Any]]) -> list[list[Any]]:
        return [[name, outcome, self._redacted(detail), retried] for name, outcome, detail, retried in rows]


def _ids(runs: dict[str, Any]) -> list[str]:
    return [row[0] for part in runs.values() for run in part for row in run["rows"]]
