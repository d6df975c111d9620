"""Whose fault each group of failures is, from what is known about head, base and history (IT-22)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.diagnosis.base_branch import BaseSeen, CheckSeen
from app.diagnosis.past import Past, past_of
from app.diagnosis.reading import CheckRead
from app.failures.blame import INFRASTRUCTURE_KINDS, Blame, CauseFacts, Colour, decide
from app.failures.grouping import Group
from app.failures.model import Failure
from app.ledger.rows import Row

MEMBERS = 20
"""So many members of a group are looked up; they share one root cause."""


@dataclass(frozen=True)
class Blamed:
    """One group with its cause, and the checks that showed it."""

    group: Group
    blame: Blame
    checks: tuple[CheckRead, ...]


@dataclass(frozen=True)
class Known:
    """What was collected before anybody is blamed; `past` are rows of history by test id, oldest first."""

    head_sha: str
    base: BaseSeen = field(default_factory=BaseSeen)
    past: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    flaky_needed: int = 2
    on_base: bool = False
    """The head is a branch's own tip: what fails there fails on the base, unless the commit before says more."""
    cured: Mapping[str, int] = field(default_factory=dict)
    """Runs by test id that failed on the head and passed on the head merged with the base."""


def blame_groups(groups: Sequence[Group], shown: Mapping[str, CheckRead], known: Known) -> list[Blamed]:
    """`shown` maps a test id to the check whose log has it."""
    by_id = {read.check.id: read for read in shown.values()}
    blamed = []
    for group in groups:
        seen = dict.fromkeys(shown[test].check.id for test in group.test_ids)
        reads = tuple(by_id[check_id] for check_id in seen)
        facts = _facts(group.members[:MEMBERS], shown, known)
        found = decide(facts)
        if found.cause == "not_decided" and known.on_base:
            found = decide(replace(facts, base_tip="red", tip_sha=known.head_sha))
        blamed.append(Blamed(group, found, reads))
    return blamed


def _facts(members: Sequence[Failure], shown: Mapping[str, CheckRead], known: Known) -> CauseFacts:
    """The weakest member speaks for its group: all of them must be red on base, or flaky, for the group to be so.

    Until proofs measure the base, a green base check and one red attempt are enough (decisions.md, row 59).
    """
    jobs = [shown[member.test_id] for member in members]
    kinds = {job.reading.job_kind for job in jobs if job.reading is not None}
    infrastructure = [kind for kind in INFRASTRUCTURE_KINDS if kind in kinds]
    errors_only = all(member.kind == "error" for member in members)
    base = known.base
    past = [
        past_of(known.past.get(member.test_id, ()), job.check.name, member.fingerprint, known.head_sha)
        for member, job in zip(members, jobs, strict=True)
    ]
    weakest = min(past, key=lambda one: (one.head_green, one.flaky_commits), default=Past())
    attempts = max((one.head_red for one in past), default=0)
    return CauseFacts(
        job_kind=infrastructure[0] if infrastructure else next(iter(sorted(kinds)), "unknown"),
        explained_by_job=bool(infrastructure) and errors_only,
        all_failed_in_setup=all(job.reading is not None and job.reading.all_in_set_up for job in jobs),
        base_tip=_colour(base.tip, members, shown),
        merge_base=_colour(base.merge_base, members, shown),
        contained_base=_colour(base.merge_base, members, shown),
        behind=base.behind,
        cured_by_merge=min((known.cured.get(member.test_id, 0) for member in members), default=0),
        head_red=max(1, attempts),
        head_green=weakest.head_green,
        measured=False,
        flaky_commits=weakest.flaky_commits,
        flaky_needed=known.flaky_needed,
        runs=weakest.runs,
        flakes=weakest.flakes,
        streak=weakest.streak,
        tip_sha=base.tip_sha,
        merge_base_sha=base.merge_base_sha,
    )


def _colour(seen: Mapping[str, CheckSeen], members: Sequence[Failure], shown: Mapping[str, CheckRead]) -> Colour:
    """Red or green where every member is, in the check that showed it; else not known."""
    colours = {
        seen.get(shown[member.test_id].check.name, CheckSeen()).colour_of(member.fingerprint) for member in members
    }
    return next(iter(colours)) if len(colours) == 1 else "missing"
