"""Every family's own small cases, plain and in every frame (W7, LP-1 to LP-18, section 3.2)."""

import pytest

from tests.unit.failures import cases_jvm_and_beam, cases_native, cases_script, cases_variants
from tests.unit.failures.reading import FRAMINGS, Case, check, check_framing

CASES = (*cases_native.CASES, *cases_script.CASES, *cases_jvm_and_beam.CASES, *cases_variants.CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_framework_is_read(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_frame_changes_nothing(case: Case, framing: str) -> None:
    check_framing(case, framing)
