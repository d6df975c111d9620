"""What the base says about the failures of a head: the same checks on its tip and on the merge base, logs included."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.diagnosis.collect import GREEN, RED, is_ours
from app.diagnosis.reading import CheckRead, options_of, read_beside, read_logs
from app.failures.blame import Colour
from app.failures.diff_places import Shown, shown_by
from app.github import checks, repositories
from app.github.checks import CheckRun
from app.github.client import Client
from app.github.repositories import Comparison
from app.ledger.rows import Row
from app.services import Services


@dataclass(frozen=True)
class CheckSeen:
    """One check at one commit of the base; `fingerprints` are the failures in its log, None when nobody read it."""

    conclusion: str | None = None
    fingerprints: frozenset[str] | None = None

    def colour_of(self, fingerprint: str) -> Colour:
        """A red check says nothing about a failure that its log does not show (BL-14); nor does one that never ran."""
        if self.conclusion == GREEN:
            return "green"
        return "red" if self.fingerprints is not None and fingerprint in self.fingerprints else "missing"


@dataclass(frozen=True)
class BaseSeen:
    """Checks of the base by name; `behind` counts its commits that the head lacks. `read` are logs read on the way.

    `diff` are the lines that the diff of the pull request shows.
    """

    tip_sha: str = ""
    merge_base_sha: str = ""
    tip: Mapping[str, CheckSeen] = field(default_factory=dict)
    merge_base: Mapping[str, CheckSeen] = field(default_factory=dict)
    behind: int = 0
    read: tuple[tuple[str, CheckRead], ...] = ()
    diff: Shown = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """Names of the checks to look for; `known` gives failures of a commit by check, where they were read before."""

    names: Sequence[str]
    known: Callable[[str], Mapping[str, set[str]]]


def look_at_base(s: Services, client: Client, repo: str, scope: Row, wanted: Wanted) -> BaseSeen:
    """The base as it is now and as the head has it (BL-1). The base of a branch scope is the commit before its head."""
    tip_sha, merge_sha, compared = _commits(client, repo, scope)
    read: list[tuple[str, CheckRead]] = []
    how = options_of(s, s.settings.limits)
    seen: dict[str, Mapping[str, CheckSeen]] = {}
    for sha in dict.fromkeys(sha for sha in (tip_sha, merge_sha) if sha):
        found, known = _runs(client, repo, sha, wanted.names, s.settings.app_id), wanted.known(sha)
        unread = [run for name, run in found.items() if run.conclusion in RED and name not in known]
        fresh = {one.check.name: one for one in read_beside(client, repo, read_logs(client, repo, unread, how), how)}
        read += [(sha, one) for one in fresh.values()]
        seen[sha] = {name: _seen(run, fresh.get(name), known.get(name)) for name, run in found.items()}
    checks_at = (seen.get(tip_sha, {}), seen.get(merge_sha, {}))
    diff = shown_by((one.filename, one.patch or "") for one in compared.files)
    return BaseSeen(tip_sha, merge_sha, *checks_at, compared.behind_by, tuple(read), diff)


def _commits(client: Client, repo: str, scope: Row) -> tuple[str, str, Comparison]:
    """Tip of the base, merge base, and how the head stands to the base; empty where GitHub does not know them."""
    if scope.key.startswith("branch:"):
        commit = repositories.find_commit(client, repo, scope.head_sha)
        parent = commit.parents[0].sha if commit is not None and commit.parents else ""
        return parent, parent, Comparison()
    branch = repositories.get_branch(client, repo, scope.base_ref)
    compared = repositories.find_comparison(client, repo, scope.base_ref, scope.head_sha)
    tip = branch.sha if branch is not None else ""
    return (tip, "", Comparison()) if compared is None else (tip, compared.merge_base or "", compared)


def _runs(client: Client, repo: str, sha: str, names: Sequence[str], app_id: int) -> dict[str, CheckRun]:
    """The newest completed run of each of these checks at a commit."""
    wanted = set(names)
    found: dict[str, CheckRun] = {}
    for run in checks.find_check_runs(client, repo, sha):
        if run.name in wanted and run.status == "completed" and not is_ours(run, app_id):
            found[run.name] = max(run, found.get(run.name, run), key=lambda one: one.id)
    return found


def _seen(run: CheckRun, read: CheckRead | None, known: set[str] | None) -> CheckSeen:
    if known is not None:
        return CheckSeen(run.conclusion, frozenset(known))
    if read is None or read.reading is None:
        return CheckSeen(run.conclusion)
    return CheckSeen(run.conclusion, frozenset(failure.fingerprint for failure in read.reading.failures))
