"""A pull request that edits `.github/remedy.yml` hears of a mistake in it at once (decisions.md, row 72)."""

from app.events.places import POLICY_FILE, Place, is_on, policy_at
from app.github import pulls, repositories
from app.github.client import Client
from app.github.pulls import Pull
from app.ledger import repos, told, transitions
from app.ledger.rows import Row
from app.policy import PolicyError, read_policy
from app.services import Services


def mistake_in(s: Services, client: Client, place: Place, pull: Pull) -> PolicyError | None:
    """The mistake that this pull request brings into the file; None where its file is right, absent or untouched.

    Where the base has no policy, only somebody with write access who asks for Remedy in the new file is told (IT-8).
    """
    text = repositories.read_file(client, place.full_name, POLICY_FILE, pull.head.sha)
    found = read_policy(text)
    if not isinstance(found, PolicyError):
        return None
    before = repositories.read_file(client, place.full_name, POLICY_FILE, pull.base.ref)
    if text == before:
        return None
    asked = found.wants_remedy and not pull.is_fork
    if not asked and not is_on(policy_at(s, client, place, pull.base.ref)):
        return None
    changed = {file.filename for file in pulls.find_changed_files(client, place.full_name, pull.number)}
    return found if POLICY_FILE in changed else None


def note_mistake(s: Services, scope: Row, found: PolicyError | None) -> None:
    """Keep it for this head, and let the check say it; a file that is right again takes the note away."""
    now = s.clock()
    value = None if found is None else told.mistake(found) | {"sha": scope.head_sha}
    with s.write() as conn:
        if repos.note(conn, scope.id, told.OWN_CONFIG, value):
            transitions.show(conn, scope.id, now)
