"""What one turn may do: the least of manifest, role, policy of the base branch and risk of the step (D16, PL-11)."""

from collections.abc import Mapping

from app.briefs.case import Case
from app.policy import Policy
from app.render.prompts.inputs import Rung
from app.runners.permissions import RISK_GRANTS, ROLE_GRANTS, Bounds, intersect, narrowing
from app.runners.registry import RunnerSpec
from app.runs.model import Role
from app.turns.tools.serve import ToolServer


def bounds_of(case: Case, spec: RunnerSpec) -> Bounds:
    """The bounds of a turn, frozen when it starts; nothing that the pull request says has a part in them (C34)."""
    policy = Policy.model_validate(case.repository.policy_json or {})
    role = case.turn.role
    allow = (policy.runner.agent if role is Role.AGENT else policy.runner.supervisor).allow
    risk = case.step.risk.value if case.step is not None else "code"
    grant = intersect(
        spec.manifest.spec.permissions.grant(),
        ROLE_GRANTS[role],
        RISK_GRANTS[risk],
        narrowing(allow.host_tools, (allow.agent_tools or {}).items()),
    )
    return Bounds(grant, role, read_only=role is not Role.AGENT, protected=policy.protected)


RUNGS: Mapping[str, Rung] = {"tool": Rung.TOOL, "marker": Rung.MARKER}


def rung_of(spec: RunnerSpec, tools: ToolServer | None) -> Rung:
    """How this runner hands in a result: by the tool only where it is served, else as its manifest says (RN-24)."""
    claimed = spec.manifest.spec.capabilities.structured_output
    if claimed == "tool" and (tools is None or "submit_result" not in tools.box.names):
        return Rung.MARKER
    return RUNGS.get(claimed, Rung.NATIVE)
