"""One turn: prepare the workspace, say the prompt, keep the answer, take the work out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog

from app.briefs import Brief, Case, Outside, brief_for, open_case
from app.briefs.naming import branch_of
from app.errors import TransientError, UserError
from app.github.client import Client
from app.github.tokens import Purpose as Scope
from app.ledger import sessions, spending, turns, work
from app.ledger.leases import Holder
from app.ledger.rules import choice_of, limits_of
from app.ledger.views import scope_view
from app.plugins.listing import registry
from app.render.publish import render_final_summary
from app.runners.codes import Code, RunnerError
from app.runners.kinds import is_followed
from app.runners.manifest import Usage
from app.runners.registry import RunnerSpec
from app.runners.runner import SessionRef, TurnResult
from app.runs.model import ItemKind, ItemStatus, Purpose, Role
from app.runs.rules_turns import RESULT_OF_CI
from app.services import Hold, Services, hold, services
from app.turns import following, keeping, places
from app.turns.asking import Asked, Asking, ask_of
from app.turns.driving import Seat, drive
from app.turns.harvest import harvest
from app.turns.rights import bounds_of, rung_of
from app.turns.tools.doing import Desk, toolbox
from app.turns.tools.serve import tool_server
from app.workspace.checkout import Mirror
from app.workspace.rooms import Room, Rooms, room_key

log = structlog.get_logger("turn")

SHORTEST_TURN_S = 1

USAGES: Mapping[Role, Usage] = {
    Role.AGENT: "agent",
    Role.SUPERVISOR: "supervisor",
    Role.SELF_REPAIR: "self_repair",
}


@dataclass(frozen=True)
class Work:
    """One turn at work: its rows, its lease, the runner and the mirror that it needs."""

    s: Services
    case: Case
    held: Hold
    spec: RunnerSpec
    mirror: Mirror
    brief: Brief
    fallback: str

    @property
    def is_work(self) -> bool:
        return self.case.turn.role is Role.AGENT


def turn(turn_id: str) -> str:
    """Do one queued turn; supervisors work one at a time per installation (LE-7)."""
    s = services()
    with hold(s, f"turn:{turn_id}", lambda conn: work.is_cancelled(conn, ItemKind.TURN, turn_id)) as held:
        if held is None:
            return "leased"
        with s.read() as conn:
            case = open_case(conn, turn_id, s.settings)
        if case.turn.status is not ItemStatus.QUEUED and case.turn.follow_json is None:
            return "idle"
        try:
            if spent := _spent(s, case):
                word = _stop(s, case, held.holder, "budget.used", spent)
            else:
                word = _alone(s, case, held) if case.turn.role is Role.SUPERVISOR else _do(s, case, held)
        except TransientError as passing:
            log.info("turn put off", turn=turn_id, why=str(passing))
            return "waiting"
    s.ring("advance", case.run.id)
    return word


def _spent(s: Services, case: Case) -> str:
    """What is used up of the run's budgets: then the last words are ours, as the fix is out already (T49)."""
    if case.turn.purpose is not Purpose.FINAL or case.turn.status is not ItemStatus.QUEUED:
        return ""
    with s.read() as conn:
        found = spending.measures(conn, case.run.id, limits_of(case.repository, s.settings), but=case.turn.id)
    return spending.note(found, case.run.budgets)


def _alone(s: Services, case: Case, held: Hold) -> str:
    with hold(s, f"supervisor:{case.run.installation_id}") as alone:
        return "waiting" if alone is None else _do(s, case, held)


def _do(s: Services, case: Case, held: Hold) -> str:
    spec = _runner(s, case)
    if case.turn.status is ItemStatus.CANCELLED:
        return following.end_cancelled(s, case, spec if isinstance(spec, RunnerSpec) else None)
    if isinstance(spec, RunnerError):
        return _stop(s, case, held.holder, spec.code.value, spec.message)
    try:
        if case.turn.follow_json is not None:
            return following.step(s, case, held, spec)
        job = _prepared(s, case, held, spec)
        if is_followed(spec):
            return _begin(job)
        with Rooms.of(s.settings).enter(room_key(case.turn.session_id)) as room:
            return _in_room(job, room)
    except UserError as error:
        return _stop(s, case, held.holder, Code.NOT_READY.value, str(error))


def _begin(job: Work) -> str:
    """A remote agent's turn: what will be said is written down before anything is called; the steps follow."""
    s, case = job.s, job.case
    if case.scope.is_fork:
        text = "remote agents work with their own rights at GitHub, so never for a fork"
        return _stop(s, case, job.held.holder, Code.NOT_READY.value, text)
    wall_s = _wall_s(job)
    asked = ask_of(job.brief, Asking(case.turn.id, case.turn.role, wall_s), s.redactor)
    if not _start(job, asked, wall_s, following.first_standing(s, case, asked.ask.fresh_text or "")):
        return "late"
    with s.read() as conn:
        begun = open_case(conn, case.turn.id, s.settings)
    return following.step(s, begun, job.held, job.spec)


def _prepared(s: Services, case: Case, held: Hold, spec: RunnerSpec) -> Work:
    """A self-repair is about our own text: it needs neither GitHub nor the commits (SR-3)."""
    if case.turn.role is Role.SELF_REPAIR:
        mirror = places.mirror_of(s, case.repository.id)
        return Work(s, case, held, spec, mirror, brief_for(case, Outside(), s.store), "")
    with s.connect(case.run.installation_id) as github:
        return _prepare(s, case, held, spec, github.acting(Scope.READ, case.repository.id))


def _runner(s: Services, case: Case) -> RunnerSpec | RunnerError:
    with s.read() as conn:
        session = sessions.get(conn, case.turn.session_id)
        runners = registry(conn, s.settings)
    usage = USAGES[case.turn.role]
    return runners.find(session.runner_id, usage, choice_of(case.repository, case.turn.role).get("config"))


def _prepare(s: Services, case: Case, held: Hold, spec: RunnerSpec, client: Client) -> Work:
    mirror = places.fetch(s, client, case.run, case.repository, (case.run.head_sha, case.run.base_sha))
    outside = places.outside_of(client, case, mirror)
    if is_followed(spec):
        outside = replace(outside, remote_branch=branch_of(case))
    line = _final_words(s, case) if case.turn.purpose is Purpose.FINAL else ""
    brief = brief_for(case, outside, s.store, line)
    return Work(s, case, held, spec, mirror, brief, line)


def _final_words(s: Services, case: Case) -> str:
    """The result as Remedy itself says it; it stands where a model fails (T49)."""
    with s.read() as conn:
        view = scope_view(conn, s.store, case.scope.id, s.settings)
    if view.run is None or case.run.ci is None:
        return ""
    return render_final_summary(replace(view, run=replace(view.run, result=RESULT_OF_CI[case.run.ci])))


def _in_room(job: Work, room: Room) -> str:
    """Everything between the files and the stored answer; nobody else is in the room meanwhile."""
    s, case = job.s, job.case
    wall_s = _wall_s(job)
    start = _files(job, room)
    bounds, diary = bounds_of(case, job.spec), keeping.Diary(s, case.turn.id)
    desk = Desk(s, case, job.spec.id, job.brief.model, diary.host)
    tools = tool_server(toolbox(desk, bounds.grant.host_tools), job.spec, case.turn.id, wall_s, job.held.lost)
    may_ask = tools is not None and "request_human" in tools.box.names
    asking = Asking(
        case.turn.id, case.turn.role, wall_s, rung_of(job.spec, tools), may_ask, submitted=lambda: desk.submitted
    )
    asked = ask_of(job.brief, asking, s.redactor)
    if not _start(job, asked, wall_s):
        return "late"
    seat = Seat(case.repository.full_name, case.scope.is_fork, room, wall_s, case.turn.id, bounds)
    talk = (asked.ask, _session(s, case), job.brief.model)
    driven = drive(s.settings, job.spec, seat, talk, (diary, job.held.lost), tools)
    if driven is None:
        return "cancelled"
    outcome = _outcome(job, room, start, driven.result, asked.prompt.version)
    return "processed" if keeping.write(s, case, job.held.holder, outcome, driven.result) else "late"


def _outcome(job: Work, room: Room, start: tuple[str, str], result: TurnResult, words: str) -> keeping.Outcome:
    if not job.is_work or result.error is not None or result.value is None:
        return keeping.judge(job.s, keeping.Told(_model(job.spec), words), job.brief, result, job.fallback)
    summary = str(getattr(result.value, "summary_markdown", "")).strip().partition("\n")[0]
    return keeping.worked(job.s, result, harvest(job.s, job.case, job.mirror, room, start, summary))


def _model(spec: RunnerSpec) -> str:
    """Who judged: the runner, its version and the model that it was given, if one."""
    names = (spec.id, spec.manifest.metadata.version, str(spec.config.get("model") or ""))
    return " ".join(name for name in names if name)


def _files(job: Work, room: Room) -> tuple[str, str]:
    """The workspace of this turn: fresh for each round and each judge, as it was left for a restart (W53, CR-5)."""
    case, mirror = job.case, job.mirror
    if case.turn.role is Role.SELF_REPAIR:
        room.remove("workspace")
        room.folder("workspace")
        return "", ""
    commit = places.start_of(case) if job.is_work else places.fix_of(case)
    tree = mirror.agent_tree(commit, case.run.base_sha or commit) if mirror.has(case.run.base_sha) else ""
    tree = tree or mirror.tree_of(commit)
    place = places.workspace_of(room.path)
    if not (job.is_work and case.restarted and place.exists()):
        room.remove("workspace")
        mirror.workspace(commit, place, room.uid, tree)
    return commit, tree


def _start(job: Work, asked: Asked, wall_s: float, follow: Mapping[str, object] | None = None) -> bool:
    s, case = job.s, job.case
    now = s.clock()
    with s.write() as conn:
        started = turns.start(
            conn,
            case.turn.id,
            job.held.holder,
            now,
            prompt=asked.prompt.text,
            prompt_version=asked.prompt.version,
            nonce=asked.nonce,
            deadline_at=now + int(wall_s * 1000),
            runner_digest=job.spec.digest,
            grant_json=bounds_of(case, job.spec).grant.to_json(),
            follow_json=follow,
        )
        if started and follow is None:
            keeping.prepared(conn, case, now)
    return started


def _session(s: Services, case: Case) -> SessionRef | None:
    with s.read() as conn:
        row = sessions.get(conn, case.turn.session_id)
    return SessionRef(row.agent_session_id) if row.agent_session_id else None


def _wall_s(job: Work) -> float:
    """Seconds for the whole turn: the least of operator, policy, manifest and what the run has left (domain.md, 6)."""
    limits = limits_of(job.case.repository, job.s.settings)
    by_role = {Role.AGENT: limits.agent_turn_s, Role.SELF_REPAIR: limits.self_repair_turn_s}
    own = job.spec.manifest.spec.limits.turn_timeout_s
    wall_s: float = by_role.get(job.case.turn.role, limits.supervisor_turn_s)
    with job.s.read() as conn:
        left_s = spending.seconds_left(conn, job.case.run.id, limits)
    if left_s is not None and job.case.turn.purpose is not Purpose.FINAL:
        wall_s = min(wall_s, max(SHORTEST_TURN_S, left_s))
    return float(wall_s if own is None else min(wall_s, own))


def _stop(s: Services, case: Case, holder: Holder, code: str, error: str) -> str:
    """The turn cannot be done here; it is started and ended at once, so that the run says why."""
    fallback = _final_words(s, case) if case.turn.purpose is Purpose.FINAL else ""
    with s.write() as conn:
        begun = case.turn.follow_json is not None
        if not begun and not turns.start(conn, case.turn.id, holder, s.clock()):
            return "late"
    keeping.write(s, case, holder, keeping.failed(code, s.redactor.text(error), fallback), None)
    return "processed"
