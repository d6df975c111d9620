"""How large a change is: files, lines, and how much of it is tests."""

import re
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

_TEST = re.compile(r"(^|/)(tests?|specs?|__tests__)/|(^|/)(test_[^/]*|[^/]*_test)\.|\.(test|spec)\.", re.IGNORECASE)


@dataclass(frozen=True)
class Size:
    """`files` are "path +n -n" in order; `test_added` and `test_removed` count lines of test files."""

    files: tuple[str, ...]
    added: int
    removed: int
    test_added: int = 0
    test_removed: int = 0


def size_of(diff: bytes) -> Size:
    """The size of a unified diff; a diff that cannot be read counts as nothing."""
    try:
        patch = PatchSet(diff.decode("utf-8", "replace"))
    except UnidiffParseError:
        return Size((), 0, 0)
    tests = [file for file in patch if _TEST.search(file.path)]
    return Size(
        tuple(f"{file.path} +{file.added} -{file.removed}" for file in patch),
        patch.added,
        patch.removed,
        sum(file.added for file in tests),
        sum(file.removed for file in tests),
    )
