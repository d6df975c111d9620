"""Which groups of a diagnosis are repaired without being asked, by the policy keys `causes` and `repair`."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.ledger.rows import Row
from app.policy.model import Policy
from app.runs.model import Cause

DEFAULTS = Policy()
"""What is repaired where a policy says nothing."""


def to_repair(groups: Sequence[Row], policy: Mapping[str, Any], scope: Row, *, asked: bool) -> list[Row]:
    """Groups whose cause and kind policy repairs; a maintainer's word repairs all of them (decisions.md, row 69).

    What the base has is repaired in the scope of the base, never in one of the pull requests that show it (IT-25).
    """
    if asked:
        return list(groups)
    causes = set(_causes(policy))
    if scope.key.startswith("pr:"):
        causes.discard(Cause.BASE_RED.value)
    return [group for group in groups if group.cause.value in causes and group.kind in _kinds(policy)]


def unasked(groups: Sequence[Row], policy: Mapping[str, Any], *, asked: bool) -> dict[str, Any] | None:
    """What the change broke and policy has nobody repair by itself, as a note: people are told why nothing starts."""
    ours = [] if asked else [group for group in groups if group.cause is Cause.THIS_CHANGE]
    if ours and Cause.THIS_CHANGE.value not in _causes(policy):
        return {"key": "causes", "kinds": [], "titles": [group.title for group in ours]}
    left = [group for group in ours if group.kind not in _kinds(policy)]
    if not left:
        return None
    return {"key": "repair", "kinds": sorted({group.kind for group in left}), "titles": [group.title for group in left]}


def _causes(policy: Mapping[str, Any]) -> Sequence[str]:
    causes: Sequence[str] = policy.get("causes", DEFAULTS.causes)
    return causes


def _kinds(policy: Mapping[str, Any]) -> Sequence[str]:
    kinds: Sequence[str] = policy.get("repair", DEFAULTS.repair)
    return kinds
