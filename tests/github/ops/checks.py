"""Check runs."""

from typing import Any

from tests.github import bodies, events
from tests.github.acts import checks
from tests.github.call import Call
from tests.github.core.ci import CheckRun
from tests.github.core.messages import Answer, Refused, invalid

GROUP = "checks"


def create(call: Call) -> Any:
    """Not idempotent: the same name and commit make a second one (F-C8)."""
    sha = call.repository.git.resolve(call.body["head_sha"])
    if sha is None:
        raise invalid("CheckRun", "head_sha", message=f"No commit found for SHA: {call.body['head_sha']}")
    checks.check_given(call.body)
    suite = checks.suite_for(call.world, call.repository, call.app, sha, checks.branch_of(call.repository, sha))
    check = checks.new_check(call.world, suite, call.body["name"])
    events.check_run(call.world, "created", check, call.actor)
    checks.apply(call.world, check, call.body, call.actor)
    return bodies.check_run(call.world, check)


def update(call: Call) -> Any:
    checks.own(call.check, call.app)
    checks.check_given(call.body)
    checks.apply(call.world, call.check, call.body, call.actor)
    return bodies.check_run(call.world, call.check)


def get(call: Call) -> Any:
    return bodies.check_run(call.world, call.check)


def list_annotations(call: Call) -> Any:
    return call.page(call.check.annotations, lambda given: bodies.annotation(call.world, call.check, given))


def rerequest_run(call: Call) -> Any:
    checks.own(call.check, call.app)
    call.check.suite.asked_again = True
    events.check_run(call.world, "rerequested", call.check, call.actor)
    return Answer(201, {})


def list_for_ref(call: Call) -> Any:
    sha = call.sha(call.params["ref"])
    runs = [run for suite in call.world.state.suites_of(call.repository, sha) for run in _filtered(call, suite.runs)]
    if "app_id" in call.query:
        runs = [run for run in runs if run.app.id == call.query["app_id"]]
    newest = sorted(runs, key=lambda run: -run.id)
    return call.page(newest, lambda run: bodies.check_run(call.world, run), "check_runs")


def list_for_suite(call: Call) -> Any:
    newest = sorted(_filtered(call, call.suite.runs), key=lambda run: -run.id)
    return call.page(newest, lambda run: bodies.check_run(call.world, run), "check_runs")


def _filtered(call: Call, runs: list[CheckRun]) -> list[CheckRun]:
    """`filter=latest`, the default, shows the newest of each name in a suite."""
    shown = runs if call.query.get("filter") == "all" else list({run.name: run for run in runs}.values())
    name, status = call.query.get("check_name"), call.query.get("status")
    if status not in (None, "queued", "in_progress", "completed"):
        raise Refused(422, "Validation Failed")
    return [run for run in shown if name in (None, run.name) and status in (None, run.status)]
