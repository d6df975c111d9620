"""The outbox of one installation: every write to GitHub's API, in order per scope, never blindly twice."""

from collections.abc import Callable, Mapping

import structlog
from sqlalchemy import Connection

from app.errors import TransientError, UserError
from app.github.client import Client
from app.github.errors import GitHubError, InstallationGone, RateLimited
from app.github.retry import unknown_limit_wait_s
from app.github.tokens import Purpose
from app.ledger import outbox, pace, repos
from app.ledger.rows import Row
from app.ledger.words import OutboxKind
from app.services import Hold, Services, hold, services
from app.speech import answers, handover, issues, pulls, rerun, reviews, scope, trouble
from app.speech.letter import Dropped, Ending, Letter, NotNow, Sent

log = structlog.get_logger("deliver")

SENDERS: Mapping[OutboxKind, Callable[[Letter], Ending]] = {
    OutboxKind.UPSERT_COMMENT: scope.upsert_comment,
    OutboxKind.UPSERT_CHECK: scope.upsert_check,
    OutboxKind.OPEN_ISSUE: issues.open_issue,
    OutboxKind.UPDATE_ISSUE: issues.update_issue,
    OutboxKind.CLOSE_ISSUE: issues.close_issue,
    OutboxKind.REOPEN_ISSUE: issues.reopen_issue,
    OutboxKind.OPEN_PULL: pulls.open_pull,
    OutboxKind.UPDATE_PULL: pulls.update_pull,
    OutboxKind.SUBMIT_REVIEW: reviews.submit_review,
    OutboxKind.REPLY: answers.reply,
    OutboxKind.REACT: answers.react,
    OutboxKind.HIDE_REPLY: handover.hide,
    OutboxKind.RERUN_JOBS: rerun.rerun_jobs,
    OutboxKind.UPDATE_BRANCH: pulls.update_branch,
}

AT_A_TIME = 50
SHORT_WAIT_S = 2.0
FIRST_WAIT_MS, LONGEST_WAIT_MS = 2_000, 300_000
TRIES_OF_A_BUG = 5


def deliver(installation_id: str) -> str:
    """Send what is due for one installation, one row at a time (OB-2)."""
    s = services()
    with hold(s, f"outbox:{installation_id}") as held:
        if held is None:
            return "leased"
        return _send_due(s, int(installation_id), held)


def _send_due(s: Services, installation_id: int, held: Hold) -> str:
    with s.connect(installation_id) as client:
        for _ in range(AT_A_TIME):
            row = _next(s, installation_id, held)
            if row is None:
                return "idle"
            if not _wait_for_pace(s, installation_id):
                return "waiting"
            with s.write() as conn:
                begun = outbox.sending(conn, row.id, s.clock()) if held.valid(conn, s.clock()) else None
            if begun is None:
                continue
            before = client.writes
            ending = _send(s, client, begun)
            _count(s, installation_id, client.writes - before)
            if not _finish(s, begun, ending, held):
                return "late"
    s.ring("deliver", str(installation_id))
    return "processed"


def _next(s: Services, installation_id: int, held: Hold) -> Row | None:
    if held.lost():
        return None
    with s.read() as conn:
        return outbox.due(conn, installation_id, s.clock())


def _wait_for_pace(s: Services, installation_id: int) -> bool:
    """At least a second between writes (OB-6); a longer wait, a limit of GitHub's, is left to the sweep."""
    with s.read() as conn:
        wait_s = (pace.next_write(conn, installation_id) - s.clock()) / 1000
    if wait_s > SHORT_WAIT_S:
        return False
    if wait_s > 0:
        s.sleep(wait_s)
    return True


def _count(s: Services, installation_id: int, writes: int) -> None:
    """All that was sent counts, whatever came of it (GH-11)."""
    if writes:
        paces = {"pace_ms": int(s.settings.times.write_pace_s * 1000), "an_hour": s.settings.limits.writes_an_hour}
        with s.write() as conn:
            pace.wrote(conn, installation_id, writes, s.clock(), **paces)


def _send(s: Services, client: Client, row: Row) -> Ending | str:
    """Hand it to its sender; a text is the reason why GitHub will never take it (OB-7)."""
    with s.read() as conn:
        repository = _repository(conn, row)
    if repository is None:
        return Dropped("the repository is gone")
    letter = Letter(s, client.acting(Purpose.DELIVER, repository.id), row, repository)
    try:
        ending = SENDERS[row.kind](letter)
        trouble.over(letter, ending)
        return ending
    except RateLimited as limit:
        until = limit.retry_at or 0
        if not limit.told:
            until = max(until, s.clock() + unknown_limit_wait_s(row.tries - 1) * 1000)
        with s.write() as conn:
            pace.set_next_write(conn, row.installation_id, until)
        return NotNow(until, str(limit))
    except TransientError as passing:
        return NotNow(passing.retry_at or s.clock() + _backoff(row), str(passing))
    except InstallationGone as gone:
        with s.write() as conn:
            pace.set_next_write(conn, row.installation_id, s.clock() + LONGEST_WAIT_MS)
        return NotNow(s.clock() + LONGEST_WAIT_MS, str(gone))
    except UserError as refused:
        trouble.note(letter, refused)
        return str(refused)
    except GitHubError as refused:
        return str(refused)
    except Exception as error:  # the edge of a job: one letter must not hold back the others for ever
        log.exception("letter failed", kind=str(row.kind), key=row.key)
        why = f"{type(error).__name__}: {error}"
        return why if row.tries >= TRIES_OF_A_BUG else NotNow(s.clock() + _backoff(row), why)


def _repository(conn: Connection, row: Row) -> Row | None:
    """Where a row goes: named by its payload, or the one of its scope."""
    if (named := row.payload.get("repository_id")) is not None:
        return repos.get_repository(conn, int(named))
    return repos.repository_of_payload(conn, row.payload)


def _backoff(row: Row) -> int:
    return min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(int(row.tries), 10))


def _finish(s: Services, row: Row, ending: Ending | str, held: Hold) -> bool:
    """Note how it ended; False, and nothing is noted, when another sender took over: it looks for itself (OB-4)."""
    now = s.clock()
    with s.write() as conn:
        if not held.valid(conn, now):
            return False
        if isinstance(ending, Sent):
            outbox.done(conn, row.id, ending.remote_id, now)
        elif isinstance(ending, Dropped):
            outbox.dropped(conn, row.id, ending.why, now)
        elif isinstance(ending, NotNow):
            outbox.later(conn, row.id, ending.at, s.redactor.text(ending.why)[:500])
        else:
            outbox.failed(conn, row.id, s.redactor.text(ending)[:500], now)
            log.warning("letter refused", kind=str(row.kind), key=row.key, why=ending[:200])
    return True
