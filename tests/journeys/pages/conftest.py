"""One world for all tests that only read: a run that stands before its proof, and another tenant's beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.ledger import diagnoses, repos, runs
from app.ledger.engine import write
from app.ledger.ids import new_id
from app.ledger.repos import ScopeFacts
from app.ledger.runs import RunFacts, StepFacts
from app.runs.model import Run, Stage, Status, Step, StepStatus
from tests.journeys import quick
from tests.journeys.conftest import worlds
from tests.journeys.steps import a_red_pull
from tests.journeys.world import World

RIVAL = "rival/secrets"
"""A private repository that has Remedy too; `boss` alone can read it."""


@dataclass(frozen=True)
class Stopped:
    """`path` is the page of a run of the public repository, `foreign` that of the rival's."""

    world: World
    path: str
    foreign: str


@pytest.fixture(scope="package")
def stopped(tools: Path) -> Iterator[Stopped]:
    with worlds(World, tools, quick.FILES) as make:
        world = make(operators=("boss",), pages=True)
        world.github.set_hook(f"{world.settings.url}/webhook")
        world.github.collaborator("acme/listing", "eve", "read")
        number = a_red_pull(world)
        world.step_to("prove")
        run = world.run_of(number)
        assert run is not None
        yield Stopped(world, f"/runs/{run.id}", f"/runs/{_foreign_run(world)}")


def _foreign_run(world: World) -> str:
    """A run of the rival, with a test and a branch that nobody else may hear of."""
    repository = world.github.create_repo(RIVAL, {"README.md": "# Secrets\n"})
    world.github.collaborator(RIVAL, "boss", "admin")
    world.github.install(RIVAL)
    (installation,) = world.github.world.state.installations_of(repository)
    now, sha = world.now(), "c" * 40
    with write(world.services.engine) as conn:
        repos.upsert_installation(conn, installation.id, "rival")
        repos.upsert_repository(conn, repository.id, installation.id, RIVAL, "main", True)
        facts = ScopeFacts(repository.id, "pr:7", repository.id, "secret-branch", sha, "main", "b" * 40)
        scope_id = str(repos.upsert_scope(conn, facts, now).id)
        diagnosis_id, _ = diagnoses.open(conn, scope_id, sha, now, now)
        run = Run(new_id(now), Status.RUNNING, Stage.AGENT, (Step("s1", StepStatus.WORKING, attempts=1),), current=0)
        about = RunFacts(installation.id, repository.id, scope_id, diagnosis_id, "tag-1", sha, "b" * 40, "boss")
        assert runs.create(conn, run, about, [StepFacts("A secret step")], now)
    return run.run_id
