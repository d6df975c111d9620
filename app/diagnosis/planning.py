"""Make the plan of a run from the groups to repair: one step each, in order, with the prompt its agent gets (PL-1)."""

from collections.abc import Sequence

from app.ledger.rows import Row
from app.ledger.runs import StepFacts
from app.ledger.words import Claim
from app.render.prompts import render_prompt
from app.render.prompts.inputs import StepText
from app.runs.model import Run, Stage, Status, Step


def plan_of(
    groups: Sequence[Row], members: dict[str, Sequence[Row]], target: str
) -> tuple[tuple[Step, ...], list[StepFacts]]:
    """The machine's steps and what they are about, in the order of the groups; `target` is the repository's name."""
    steps, facts = [], []
    for n, group in enumerate(groups, 1):
        tests = members[group.id]
        first = tests[0]
        place = f"{first.file} line {first.line}" if first.file and first.line else first.file
        text = StepText("regression", why_grouped=group.why_grouped or _how_many(tests), frame=place or "")
        prompt = render_prompt("step", text).text.strip()
        steps.append(Step(f"s{n}", prompt=prompt[:8000]))
        facts.append(StepFacts(title=group.title[:200], group_id=group.id, target=target, claim=Claim.REGRESSION))
    return tuple(steps), facts


def new_run(run_id: str, steps: tuple[Step, ...]) -> Run:
    """A run before its first transition (T1)."""
    return Run(run_id, Status.RUNNING, Stage.PLAN_REVIEW, steps)


def _how_many(tests: Sequence[Row]) -> str:
    return "One test, one cause" if len(tests) == 1 else f"{len(tests)} tests, one cause"
