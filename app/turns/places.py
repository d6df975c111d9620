"""Git and folders of a run: its mirror, the address of its repository, and what stands in it before the agent comes."""

from collections.abc import Sequence
from pathlib import Path

from app.briefs import Outside
from app.briefs.case import Case
from app.github import pulls
from app.github.client import Client
from app.github.tokens import Purpose
from app.ledger.rows import Row
from app.render.prompts.inputs import ConventionFile, PullText
from app.services import Services
from app.workspace.checkout import Mirror
from app.workspace.packs import packs_of

CONVENTIONS = (
    "CONTRIBUTING.md",
    ".github/CONTRIBUTING.md",
    "docs/CONTRIBUTING.md",
    "AGENTS.md",
    "CLAUDE.md",
    ".github/copilot-instructions.md",
)
CONVENTION_CHARS = 12_000


def mirror_of(s: Services, repository_id: int) -> Mirror:
    """The bare store of a repository below the data folder."""
    return Mirror(s.folder("repos", f"{repository_id}.git"), s.settings.github.ca_file)


def address(s: Services, full_name: str) -> str:
    """Where git talks to; without any credential."""
    return f"{s.settings.github.web_url.rstrip('/')}/{full_name}.git"


def fetch(s: Services, client: Client, run: Row, repository: Row, shas: Sequence[str]) -> Mirror:
    """The mirror with these commits and ours of the run in it; a token is minted only if one of them is missing."""
    mirror = fetch_commits(s, client, repository, shas)
    packs_of(s.settings.data, run.id).bring(mirror)
    return mirror


def fetch_commits(s: Services, client: Client, repository: Row, shas: Sequence[str]) -> Mirror:
    """The mirror with these commits in it, as far as the repository has them; raises AccessRefused, TransientError."""
    mirror = mirror_of(s, repository.id)
    missing = [sha for sha in shas if sha and not mirror.has(sha)]
    if missing:
        token = client.token(Purpose.CLONE, repository.id)
        mirror.fetch(address(s, repository.full_name), token, missing)
    return mirror


def start_of(case: Case) -> str:
    """The commit on which the current step works: the head, or the last approved step's commit (PB-4)."""
    done = [step.commit_sha for step in case.steps if step.commit_sha and step.status.value == "APPROVED"]
    return str(done[-1]) if done else str(case.run.head_sha)


def outside_of(client: Client, case: Case, mirror: Mirror) -> Outside:
    """The pull request's words and change, and the contributor files of the base commit (PM-15 to PM-18)."""
    head, base = case.run.head_sha, case.run.base_sha
    fork_point = (mirror.merge_base(base, head) if base and mirror.has(base) else None) or ""
    title, body = "", ""
    if case.scope.key.startswith("pr:"):
        pull = pulls.get_pull(client, case.repository.full_name, int(case.scope.key[3:]))
        title, body = pull.title, pull.body
    diff = mirror.diff(fork_point, head).decode("utf-8", "replace") if fork_point else ""
    changed = {change.path for change in mirror.changes(fork_point, head)} if fork_point else set()
    files = [_convention(mirror, base or head, path, path in changed) for path in CONVENTIONS]
    words = PullText(title, body, diff, len(changed))
    return Outside(words, tuple(file for file in files if file is not None), command_of(case))


def _convention(mirror: Mirror, sha: str, path: str, changed: bool) -> ConventionFile | None:
    if not mirror.has(sha):
        return None
    data = mirror.file(sha, path)
    return None if data is None else ConventionFile(path, data.decode("utf-8", "replace")[:CONVENTION_CHARS], changed)


def command_of(case: Case) -> tuple[str, ...]:
    """How a person would run the named tests; shown in prompts only where every word is plain (PM-10)."""
    tests = [row.test_id for row in case.failures if row.framework == "pytest"][:10]
    return ("python", "-m", "pytest", "-q", *tests) if tests else ()


def fix_of(case: Case) -> str:
    """The commit that is judged: what the last agent turn left, else the head."""
    return str(case.left.get("commit") or case.run.head_sha)


def workspace_of(room: Path) -> Path:
    return room / "workspace"
