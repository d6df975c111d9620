"""Whose fault each group of failures is, from what is known about base and head (IT-22)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.diagnosis.reading import CheckRead
from app.failures.blame import Blame, CauseFacts, Colour, decide
from app.failures.grouping import Group
from app.failures.model import Failure


@dataclass(frozen=True)
class Blamed:
    """One group with its cause, and the checks that showed it."""

    group: Group
    blame: Blame
    checks: tuple[CheckRead, ...]


def blame_groups(
    groups: Sequence[Group],
    shown: Mapping[str, CheckRead],
    base: Mapping[str, Colour],
) -> list[Blamed]:
    """`shown` maps a test id to the check whose log has it, `base` a check's name to its colour on the base."""
    blamed = []
    for group in groups:
        seen = tuple(dict.fromkeys(shown[test].check.id for test in group.test_ids))
        by_id = {read.check.id: read for read in shown.values()}
        reads = tuple(by_id[check_id] for check_id in seen)
        blamed.append(Blamed(group, decide(_facts(group.members, reads, base)), reads))
    return blamed


def _facts(members: Sequence[Failure], reads: Sequence[CheckRead], base: Mapping[str, Colour]) -> CauseFacts:
    """Until proofs measure the base: a green base check and one red attempt are enough (decisions.md, row 59)."""
    colours: set[Colour] = {base.get(read.check.name, "missing") for read in reads}
    kinds = {read.reading.job_kind for read in reads if read.reading is not None}
    return CauseFacts(
        job_kind=next(iter(sorted(kinds)), "unknown"),
        base_tip="green" if colours == {"green"} else "missing",
        head_red=1,
        measured=False,
        tests_ran=bool(members),
    )
