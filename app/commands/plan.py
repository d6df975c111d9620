"""Read a revised plan from a comment: a YAML list of steps in which only the prompts may differ (PL-4, CM-13)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.ledger.rows import Row

PLAN_BYTES = 64 * 1024


@dataclass(frozen=True)
class PlanRefused:
    """Why nothing was changed; holds no text of the comment."""

    why: str


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    prompt: str = Field(min_length=1, max_length=8000)
    target: str | None = None
    risk: str | None = None


_PLAN = TypeAdapter(list[_Step])


def read_plan(text: str, steps: Sequence[Row], same: Callable[[str, str], bool]) -> dict[str, str] | PlanRefused:
    """Step id to new prompt, in the order of the run's steps; or why the plan is refused.

    `same` tells whether two targets name one repository (PL-7).
    """
    if len(text.encode()) > PLAN_BYTES:
        return PlanRefused("the plan is larger than 64 KiB")
    try:
        plan = _PLAN.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError, RecursionError):
        return PlanRefused("the plan must be a YAML list of steps with `id` and `prompt`")
    if [step.id for step in plan] != [step.step_id for step in steps]:
        return PlanRefused("the steps of the plan differ in number, order or id")
    for new, old in zip(plan, steps, strict=True):
        if new.risk is not None and new.risk != old.risk.value:
            return PlanRefused(f"the risk of step {old.step_id} differs")
        if new.target is not None and not same(new.target, old.target):
            return PlanRefused(f"the target of step {old.step_id} differs")
    return {step.id: step.prompt for step in plan}
