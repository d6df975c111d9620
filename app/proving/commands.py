"""What `tests` of the base's policy says: own test commands, and paths that it puts into another class (5.3, PC-8)."""

from app.integrity.model import Files, Moved
from app.policy.model import Policy
from app.workspace.tests.model import OwnCommand


def commands_of(policy: Policy, base: Files) -> tuple[tuple[OwnCommand, ...], Moved]:
    """The head's copy has no effect (PX-30); a file of the tree that a command names is harness (PX-31)."""
    own = tuple(
        OwnCommand(one.framework, one.run or (), one.run_named or (), one.paths, one.setup)
        for one in policy.tests
        if one.run or one.setup
    )
    words = (word for one in own for argv in (*one.setup, one.run, one.run_named) for word in argv)
    named = {word.removeprefix("./") for word in words}
    return own, Moved(
        source=tuple(path for one in policy.tests for path in one.source),
        test=tuple(path for one in policy.tests for path in one.test),
        harness=(*(path for one in policy.tests for path in one.harness), *sorted(named.intersection(base))),
    )
