"""The static half of the gate: run all rules over a fix (proof.md, 8 and 9)."""

from collections.abc import Callable, Iterator

from app.integrity.model import SEVERITIES, Delta, Finding, Grid
from app.integrity.rules import doubles, gone, guards, literals, marks, product, runner, things, times, weaker
from app.integrity.rules.case import Case
from app.integrity.sentences import SENTENCES

Rule = Callable[[Case], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    things.no_source,
    things.unreadable,
    gone.files_gone,
    gone.units_gone,
    gone.rows_gone,
    marks.marks,
    weaker.weaker,
    guards.guards,
    doubles.doubles,
    times.times,
    runner.settings,
    runner.hooks,
    runner.exits,
    product.asks_for_tests,
    product.constant_comparison,
    product.new_state,
    product.swallowed,
    product.code_gone,
    literals.hard_coded,
    things.snapshots,
    things.gates,
    things.foreign,
    things.content,
    things.size,
)

VERSION = "1"


def check(delta: Delta, grid: Grid | None = None) -> list[Finding]:
    """Findings of all rules, strictest first. Rules that read cells need the grid finished first (PV-3).

    Never raises for what stands in the trees: a rule that fails is a finding of its own (PV-4).
    """
    case = Case(delta, grid)
    found: list[Finding] = []
    for rule in RULES:
        try:
            found += rule(case)
        except RecursionError:
            raise
        except Exception as error:
            title, sentence = SENTENCES["PV-4"]
            why = f"{sentence} ({rule.__name__}: {type(error).__name__})"
            found.append(Finding("PV-4", "review", title=title, explanation=why))
    return sort(once(found))


def sort(findings: list[Finding]) -> list[Finding]:
    """By severity, rule, file and line."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.rule, one.file or "", one.line or 0))


def once(findings: list[Finding]) -> list[Finding]:
    """Equal findings once; the same place by the same rule once (PI-10)."""
    kept: dict[tuple[str, str | None, int | None, str | None, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.rule, finding.file, finding.line, finding.unit, finding.severity), finding)
    return list(kept.values())
