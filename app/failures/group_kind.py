"""Which kind of thing a failure group is, in the words of the policy key `repair`: tests, a build, or lint."""

from collections.abc import Sequence
from typing import Literal

from app.failures.model import Failure

GroupKind = Literal["tests", "build", "lint"]

_LOADS = frozenset({"collection_error", "suite_error"})
_CHECKERS = ("flake8", "flake-8", "mypy", "mypy-status", "pyflakes", "pylint", "ruff")
_STYLE = ("black", "codestyle", "isort", "pep8", "pycodestyle", "pydocstyle")
"""What a plugin names its item of a file, as in `app/cart.py::FLAKE8` or `app/cart.py::ruff::format`."""


def kind_of(members: Sequence[Failure]) -> GroupKind:
    """Lint where a test runner only ran a checker; a build where nothing could be loaded or compiled; else tests."""
    if members and all(_is_lint(one) for one in members):
        return "lint"
    return "build" if members and all(one.failure_kind in _LOADS for one in members) else "tests"


def _is_lint(failure: Failure) -> bool:
    _, *parts = failure.test_id.lower().split("::")
    return failure.framework == "pytest" and bool(parts) and parts[0] in (*_CHECKERS, *_STYLE)
