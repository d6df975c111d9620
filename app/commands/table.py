"""Every command: verb, who may say it, its line of help, and the function that does it."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from app.commands import verbs
from app.commands.desk import Desk, Said
from app.commands.parser import normalise


@dataclass(frozen=True)
class Command:
    """`who` is write or read; `names` are the words for it, the first is what people are shown."""

    names: tuple[str, ...]
    who: str
    line: str
    example: str
    run: Callable[[Desk, Connection], Said]

    @property
    def verb(self) -> str:
        return self.names[0]


COMMANDS = (
    Command(
        ("fix", "start", "retry"),
        "write",
        "Repair the failing tests of this commit, whatever their cause.",
        "/remedy fix",
        verbs.command_fix,
    ),
    Command(
        ("resume",),
        "write",
        "Go on, with new rounds; a hint reaches the agent.",
        "/remedy resume round once, after the sum",
        verbs.command_resume,
    ),
    Command(("block",), "write", "Stop now and keep the state.", "/remedy block rewriting it", verbs.command_block),
    Command(("cancel",), "write", "End the run for good.", "/remedy cancel", verbs.command_cancel),
    Command(
        ("dry-run", "dryrun"),
        "write",
        "Show plan and prompts; nothing is started.",
        "/remedy dry-run",
        verbs.command_dry_run,
    ),
    Command(("status",), "read", "Write the status comment anew.", "/remedy status", verbs.command_status),
    Command(("ping",), "read", "Say whether Remedy is there.", "/remedy ping", verbs.command_ping),
    Command(("help",), "read", "List the commands.", "/remedy help", verbs.command_help),
)


def find(verb: str) -> Command | None:
    """The command with this word, in any case and with any accents (PL-6)."""
    word = normalise(verb)
    return next((command for command in COMMANDS if word in command.names), None)


def nearest(verb: str) -> str:
    """The verb that was probably meant; `help` when none is near."""
    known = [name for command in COMMANDS for name in command.names]
    return next(iter(difflib.get_close_matches(normalise(verb), known, 1)), "help")
