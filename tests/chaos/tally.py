"""What is left when the killing is over: who is not repaired, what stands twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select

from app.ledger.engine import read
from app.ledger.schema import commands, deliveries, diagnoses, outbox
from app.ledger.schema.diagnosis import ENDED
from app.ledger.schema.engine import UNFINISHED
from app.ledger.words import DeliveryState
from app.runs.model import Result, Status
from tests.chaos.scene import ChaosStage, Story


@dataclass(frozen=True)
class Tally:
    """The counts of the end; `complaints` name each thing that is wrong."""

    runs: int
    completed: int
    lost: int
    resumes: int
    duplicates: dict[str, int]
    complaints: list[str] = field(default_factory=list)


def tally(stage: ChaosStage, stories: Sequence[Story]) -> Tally:
    """Count what GitHub and the ledger hold."""
    complaints: list[str] = []
    fixed = [story for story in stories if _is_fixed(story)]
    lost = [story for story in stories if story not in fixed]
    for story in lost:
        run = story.run()
        told = "no run" if run is None else f"{run.status} {run.stage} {run.block_cause} {run.result} {run.error[:200]}"
        complaints.append(f"{story.repo} is not repaired: {story.state}, {told}")
    duplicates: Counter[str] = Counter({"comments": 0, "issues": 0, "checks": 0, "pushes": 0, "pulls": 0})
    for story in stories:
        for what, count in _of_story(stage, story).items():
            if count > 1:
                duplicates[what] += count - 1
                complaints.append(f"{story.repo} has {count} {what}")
    left = _left(stage)
    complaints += [f"left over: {count} {what}" for what, count in left.items() if count]
    complaints += [str(violation) for violation in stage.github.violations()]
    resumes = sum(story.resumes for story in stories)
    return Tally(len(stories), len(fixed), len(lost) + sum(left.values()), resumes, dict(duplicates), complaints)


def _is_fixed(story: Story) -> bool:
    run = story.run()
    return run is not None and (run.status, run.result) == (Status.COMPLETED, Result.FIXED)


def _of_story(stage: ChaosStage, story: Story) -> dict[str, int]:
    """How many there are of what a repair makes once."""
    if not story.number:
        return {}
    github, thread = stage.github, f"{story.repo}#{story.number}"
    bot = f"{github.app.slug}[bot]"
    pushes = [
        asked
        for asked in github.log()
        if asked.path.endswith("/git-receive-pack") and f"/{story.repo}." in asked.path and asked.status < 400
    ]
    ours = [asked for asked in pushes if asked.who.startswith("installation:") and asked.is_write]
    pulls = [pull for pull in github.pulls(story.repo) if pull.head_ref.startswith("remedy/")]
    return {
        "comments": len(github.comments(thread, bot)),
        "issues": len(github.issues(story.repo)),
        "checks": len(github.our_checks(thread)),
        "pushes": len(ours),
        "pulls": len(pulls),
    }


def _left(stage: ChaosStage) -> dict[str, int]:
    """Rows that nobody will do any more, though they are not done."""
    counted = {
        "deliveries": select(func.count()).where(deliveries.c.state == DeliveryState.RECEIVED),
        "diagnoses": select(func.count()).where(diagnoses.c.state.not_in(ENDED)),
        "commands": select(func.count()).where(commands.c.outcome.is_(None)),
        "letters": select(func.count()).where(outbox.c.state.in_(UNFINISHED)),
    }
    with read(stage.engine) as conn:
        return {name: int(conn.execute(query).scalar_one()) for name, query in counted.items()}
