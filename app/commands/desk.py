"""What a command works with: its row, its scope, the person, and the answer it gives."""

from dataclasses import dataclass, field

from app.ledger.rows import Row
from app.ledger.transitions import Who
from app.ledger.words import CommandOutcome
from app.services import Services


@dataclass(frozen=True)
class Said:
    """The outcome of a command. `reply` names a template of replies/, empty for none: success needs none (CM-7).

    `why` is one of that reply's words, `reason` a sentence of ours.
    """

    outcome: CommandOutcome
    reply: str = ""
    why: str = ""
    reason: str = ""
    rings: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True)
class Desk:
    """One command at work; `argument` is the raw rest of its line, `plan` the fenced YAML after it or empty."""

    s: Services
    command: Row
    scope: Row
    repository: Row

    @property
    def argument(self) -> str:
        return str(self.command.args).partition("\n")[0].strip()

    @property
    def plan(self) -> str:
        return str(self.command.args).partition("\n")[2]

    @property
    def who(self) -> Who:
        return Who(self.command.actor, self.command.actor_id)


def accepted(*rings: tuple[str, str]) -> Said:
    return Said(CommandOutcome.ACCEPTED, rings=rings)


def no_effect(why: str) -> Said:
    """Nothing was changed, and here is why (CM-9)."""
    return Said(CommandOutcome.NO_EFFECT, "nothing", why)


def refused(why: str, reason: str = "") -> Said:
    """Understood and not done; nothing was changed."""
    return Said(CommandOutcome.REFUSED, "not_now", why, reason)
