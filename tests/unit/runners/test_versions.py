"""Version ranges of a manifest."""

import pytest

from app.runners.versions import is_in_range


@pytest.mark.parametrize(
    "version, wanted, expected",
    [
        ("1.18.4", ">=1.18,<2", True),
        ("2.0.0", ">=1.18,<2", False),
        ("1.2", "==1.2.0", True),
        ("1.10", ">1.9", True),
        ("v3.1-beta", ">=3", True),
        ("0.9.9", "<=0.9.9", True),
        ("", "", True),
        ("", ">=1", False),
        ("latest", ">=1", False),
        ("1.0", ">=1,nonsense", False),
    ],
)
def test_ranges(version: str, wanted: str, expected: bool) -> None:
    assert is_in_range(version, wanted) is expected
