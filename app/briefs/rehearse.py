"""The prompts that a run would begin with, made inside a transaction that is taken back: nothing starts (A17, OB-9)."""

from collections.abc import Sequence

from app.briefs.case import Outside, open_case
from app.briefs.naming import branch_of
from app.briefs.work import first_attempt
from app.ledger import runs, sessions, turns
from app.ledger.ids import new_id
from app.ledger.runs import RunFacts, StepFacts
from app.ledger.turns import NewTurn
from app.render.prompts import Prompt, render_prompt, with_nonce
from app.runs.model import Purpose, Role, Run
from app.services import Services


class _TakenBack(Exception):
    """Ends the rehearsal: every row that it made is gone."""


def rehearse(
    s: Services, run: Run, facts: RunFacts, about: Sequence[StepFacts], runner_id: str, remote: bool = False
) -> tuple[Prompt, ...]:
    """The first prompt of each step, word for word; empty where another run holds the scope."""
    made: list[Prompt] = []
    now = s.clock()
    try:
        with s.write() as conn:
            if not runs.create(conn, run, facts, list(about), now):
                return ()
            session_id = sessions.create(conn, run.run_id, Role.AGENT, runner_id, now)
            for step in run.steps:
                key = new_id(now)
                turn = NewTurn(key, run.run_id, str(session_id), Role.AGENT, Purpose.WORK, step.step_id, simulated=True)
                turns.create(conn, turn, now)
                case = open_case(conn, key, s.settings)
                outside = Outside(remote_branch=branch_of(case) if remote else "")
                made.append(render_prompt("agent_work", with_nonce(first_attempt(case, outside))))
            raise _TakenBack
    except _TakenBack:
        return tuple(made)
