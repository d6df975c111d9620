"""Send the one request to run failed jobs again; an attempt that is there already is never asked for twice (F-A8)."""

from app.github import actions
from app.github.paths import repo_path
from app.github.tokens import Purpose
from app.speech.letter import Ending, Letter, NotNow, Sent

WAIT_S = 20


def rerun_jobs(letter: Letter) -> Ending:
    """Once per workflow run; somebody else's newer attempt counts as ours."""
    run_id = int(letter.told("workflow_run_id"))
    reader = letter.client.acting(Purpose.READ, letter.repository.id)
    found = actions.WorkflowRun.model_validate(reader.get(repo_path(letter.repo, "actions", "runs", run_id)))
    if found.run_attempt > int(letter.told("attempt")):
        return Sent(run_id)
    if found.status != "completed":
        return NotNow(letter.s.in_ms(WAIT_S), "the workflow still runs")
    actions.rerun_failed_jobs(letter.client.acting(Purpose.RERUN, letter.repository.id), letter.repo, run_id)
    return Sent(run_id)
