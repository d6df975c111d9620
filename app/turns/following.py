"""One step of a remote agent's turn: read where it stands, look or call once, keep what came; nobody waits between."""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from app.briefs.case import Case
from app.briefs.naming import branch_of, key_of, tags_of, title_of
from app.ledger import sessions, turns
from app.runners.mcp.follow import Errand, Follower, Later, Overtaken, Times
from app.runners.mcp.remote import Remote
from app.runners.mcp.standing import Standing, opening
from app.runners.registry import RunnerSpec
from app.runners.runner import Ask, TurnResult
from app.runners.turn import last_event
from app.runs.verdicts import AgentResult
from app.services import Hold, Services
from app.turns import keeping
from app.turns.asking import again_of_work
from app.turns.remote_work import bring
from app.watched import Stopped, while_ours

log = structlog.get_logger("turn")


def first_standing(s: Services, case: Case, fresh: str) -> dict[str, Any]:
    """How the turn begins, for its row: nothing is called before that is written (G18)."""
    with s.write() as conn:
        sessions.name(conn, case.turn.session_id, key_of(case))
        row = sessions.get(conn, case.turn.session_id)
    return opening(row.agent_session_id or "", fresh).to_json()


def step(s: Services, case: Case, held: Hold, spec: RunnerSpec) -> str:
    """One step of a turn that began; `case` was read under its lease. The word of LE-8."""
    limit_s = max(0, (case.turn.deadline_at - case.turn.started_at) / 1000)
    follower = Follower(
        remote=Remote(spec),
        errand=_errand(case, spec),
        ask=Ask(
            turn_id=case.turn.id,
            text=case.turn.prompt,
            nonce=case.turn.nonce,
            deadline=0,
            reask=again_of_work(case.turn.nonce, s.redactor),
        ),
        model=AgentResult,
        times=Times(s.clock, case.turn.deadline_at, limit_s, s.settings.times.remote_poll_s),
        keep=_keeper(s, case, held),
        sink=keeping.Diary(s, case.turn.id),
    )
    try:
        done = asyncio.run(while_ours(follower.step(Standing.of(case.turn.follow_json)), held.lost))
    except Overtaken:
        return "late"
    except Stopped:
        return "cancelled"
    if isinstance(done, Later):
        return "waiting" if _later(s, case, held, done) else "late"
    outcome = _outcome(s, case, done)
    follower.sink(last_event(done))
    return "processed" if keeping.write(s, case, held.holder, outcome, done) else "late"


def end_cancelled(s: Services, case: Case, spec: RunnerSpec | None) -> str:
    """The run does not want the turn any more: end what still runs elsewhere, as far as the vendor can (G23)."""
    standing = Standing.of(case.turn.follow_json)
    if spec is not None:
        asyncio.run(_end(s, case, spec, standing))
    with s.write() as conn:
        turns.followed_to_the_end(conn, case.turn.id)
    return "cancelled"


async def _end(s: Services, case: Case, spec: RunnerSpec, standing: Standing) -> None:
    """Also a session that was made and not yet written down: it is found by its tag."""
    ask = Ask(case.turn.id, "", "", 0)
    times = Times(s.clock, 0, 0)
    follower = Follower(
        Remote(spec), _errand(case, spec), ask, None, times, lambda *_: False, keeping.Diary(s, case.turn.id)
    )
    await follower.end_whatever_runs(standing)


def _errand(case: Case, spec: RunnerSpec) -> Errand:
    gateway = spec.manifest.spec.gateway
    tags = () if gateway is None else tuple(gateway.tags)
    wished = spec.config.get("max_acu")
    most = None if gateway is None else gateway.max_acu
    if isinstance(wished, int) and not isinstance(wished, bool) and wished > 0:
        most = wished if most is None else min(most, wished)
    return Errand(
        key=key_of(case),
        title=title_of(case.told.failures_total, case.run.dedup_tag),
        tags=(*tags, *tags_of(case.repository, case.run.dedup_tag)),
        repository=case.repository.full_name,
        max_acu=most,
    )


def _keeper(s: Services, case: Case, held: Hold) -> Callable[[Standing, str], bool]:
    def keep(standing: Standing, text: str) -> bool:
        said = {"prompt": text} if text else {}
        now = s.clock()
        with s.write() as conn:
            if not turns.follow(conn, case.turn.id, held.holder, now, follow_json=standing.to_json(), **said):
                return False
            if standing.session:
                keeping.keep_session(conn, case, standing.session, now)
        return True

    return keep


def _later(s: Services, case: Case, held: Hold, later: Later) -> bool:
    now = s.clock()
    next_at = min(now + int(later.wait_s * 1000), case.turn.deadline_at)
    with s.write() as conn:
        return turns.follow(conn, case.turn.id, held.holder, now, follow_json=later.standing.to_json(), next_at=next_at)


def _outcome(s: Services, case: Case, result: TurnResult) -> keeping.Outcome:
    if result.error is not None or not isinstance(result.value, AgentResult):
        assert result.error is not None
        return keeping.failed_by(s, result.error, text=s.redactor.text(result.text))
    return keeping.worked(s, result, bring(s, case, branch_of(case), result))
