"""Did every test of a job fail before it began, for a reason that is not the code's own (IT-23, G25)?"""

import re
from collections.abc import Sequence

from app.failures.model import Failure
from app.failures.recorder import Run

HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook|\b(?:setUpClass|setUpModule|beforeAll|afterAll|setup_all)\b')
_OF_THE_CODE = re.compile(
    r"\b(?:Assertion|Attribute|Import|Indentation|Index|Key|ModuleNotFound|Name|Reference|Syntax|Type|Unbound\w*)Error\b"
    r"|\bfixture '[^']*' not found|\bassert "
)
"""Errors that no machine makes: the change, or the test, is wrong."""


def all_in_set_up(failures: Sequence[Failure], runs: Sequence[Run]) -> bool:
    """True when no test of any run got past its set-up. `failures` are the job's, without the flaky ones."""
    counted = [run for run in runs if run.failed is not None and run.ran is not None]
    unknown = any(run.found and run not in counted for run in runs)
    past = any(run.passed or (run.ran or 0) > (run.failed or 0) for run in counted)
    return bool(failures) and not unknown and not past and all(_in_set_up(failure) for failure in failures)


def _in_set_up(failure: Failure) -> bool:
    """pytest counts what fails in a test's call as failed, and in its set-up as an error."""
    before = HOOK.search(failure.test_id) or (failure.framework == "pytest" and failure.failure_kind == "error")
    return bool(before) and not _OF_THE_CODE.search(f"{failure.error_head}\n{failure.detail_tail}")
