"""Which deliveries are stored: github.md B10, IT-6, decision 58."""

import pytest

from app.events.payloads import MODELS
from app.events.router import ACTIONS, HANDLED, interested


def test_every_event_that_is_handled_has_a_model():
    """GH-33."""
    assert set(ACTIONS) == set(MODELS) - {"ping"}
    assert len(HANDLED) == sum(len(actions) for actions in ACTIONS.values())


CASES = [
    ("a red check", "check_run", "completed", "failure", True),
    ("a check that ran out of time", "check_run", "completed", "timed_out", True),
    ("infrastructure", "check_run", "completed", "startup_failure", True),
    ("CI waits for approval", "check_run", "completed", "action_required", True),
    ("a word of tomorrow", "check_run", "completed", "half_green", True),
    ("a green check", "check_run", "completed", "success", False),
    ("a skipped check", "check_run", "completed", "skipped", False),
    ("a cancelled check", "check_run", "completed", "cancelled", False),
    ("a neutral check", "check_run", "completed", "neutral", False),
    ("a stale check", "check_run", "completed", "stale", False),
    ("Re-run of a green check", "check_run", "rerequested", "success", True),
    ("a button", "check_run", "requested_action", "neutral", True),
    ("a check that starts", "check_run", "created", None, False),
    ("a green suite", "check_suite", "completed", "success", True),
    ("a green workflow", "workflow_run", "completed", "success", True),
    ("a new comment", "issue_comment", "created", None, True),
    ("an edited comment (F-E4)", "issue_comment", "edited", None, False),
    ("a label", "pull_request", "labeled", None, False),
    ("a new head", "pull_request", "synchronize", None, True),
    ("a job (not subscribed)", "workflow_job", "completed", "failure", False),
    ("a new repository", "installation_repositories", "added", None, True),
    ("ping", "ping", "", None, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_stored(case):
    _, event, action, conclusion, stored = case
    assert interested(event, action, conclusion) is stored
