"""What GitHub refuses in a repository is said on the surfaces that still work, once, until it works again (W95)."""

from app.errors import UserError
from app.github.errors import BranchNotUpdated, IssuesDisabled, PermissionMissing
from app.ledger import repos, told, transitions
from app.speech.letter import Ending, Letter, Sent


def note(letter: Letter, refused: UserError) -> None:
    """Keep a refusal that an owner can lift, and have comment and check say it."""
    if not isinstance(refused, PermissionMissing | IssuesDisabled | BranchNotUpdated) or not letter.told("scope_id"):
        return
    text, url = letter.s.redactor.text(str(refused))[:500], ""
    if isinstance(refused, PermissionMissing):
        text = f"Remedy lacks the permission {refused.permission} on this repository."
        url = refused.settings_url
    s, scope_id = letter.s, letter.told("scope_id")
    with s.write() as conn:
        note_of_head = {"sha": letter.told("head_sha")} if isinstance(refused, BranchNotUpdated) else {}
        kept = {"text": text, "url": url, "kind": str(letter.row.kind), **note_of_head}
        if repos.note(conn, scope_id, told.TROUBLE, kept):
            transitions.show(conn, scope_id, s.clock())


def over(letter: Letter, ending: Ending) -> None:
    """The same kind of letter went through: nothing is refused any more."""
    if not isinstance(ending, Sent) or not letter.told("scope_id"):
        return
    s, scope_id = letter.s, letter.told("scope_id")
    with s.read() as conn:
        scope = repos.get_scope(conn, scope_id)
    known = ((scope.notes or {}) if scope is not None else {}).get(told.TROUBLE)
    if known and known.get("kind") == str(letter.row.kind):
        with s.write() as conn:
            repos.note(conn, scope_id, told.TROUBLE, None)
            transitions.show(conn, scope_id, s.clock())
