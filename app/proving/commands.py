"""What `tests` of the base's policy says: own test commands, and paths that it puts into another class (5.3, PC-8)."""

from app.integrity.model import Files, Moved
from app.policy.model import Policy
from app.workspace.tests.model import OwnCommand


def commands_of(policy: Policy, base: Files) -> tuple[tuple[OwnCommand, ...], Moved]:
    """The head's copy has no effect (PX-30); a file of the tree that a command names is harness (PX-31)."""
    own = tuple(OwnCommand(one.framework, one.run, one.run_named or (), one.paths) for one in policy.tests if one.run)
    named = {word.removeprefix("./") for one in own for word in (*one.run, *one.run_named)}
    return own, Moved(
        source=tuple(path for one in policy.tests for path in one.source),
        test=tuple(path for one in policy.tests for path in one.test),
        harness=(*(path for one in policy.tests for path in one.harness), *sorted(named.intersection(base))),
    )
