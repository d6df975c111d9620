"""Which kind of thing a group is for the policy key `repair`."""

import pytest

from app.failures.group_kind import kind_of
from app.failures.model import Failure, FailureKind


def one(test_id: str, kind: FailureKind = "fail", framework: str = "pytest") -> Failure:
    return Failure(test_id, framework, kind)


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ([one("tests/a.py::test_a")], "tests"),
        ([one("tests/a.py::test_a", "timeout")], "tests"),
        ([one("tests/a.py", "collection_error")], "build"),
        ([one("src/a.test.ts", "suite_error", "jest"), one("src/b.test.ts", "suite_error", "jest")], "build"),
        ([one("tests/a.py", "collection_error"), one("tests/a.py::test_a")], "tests"),
        ([one("app/a.py::FLAKE8"), one("app/a.py::flake-8::FLAKE8"), one("app/a.py::ruff::format")], "lint"),
        ([one("app/a.py::mypy"), one("tests/a.py::test_a")], "tests"),
        ([one("a::black", framework="rspec")], "tests"),
        ([one("tests/a.py::TestBlack::test_a")], "tests"),
        ([], "tests"),
    ],
)
def test_kinds(members: list[Failure], kind: str) -> None:
    assert kind_of(members) == kind
