"""Check suites."""

from typing import Any

from tests.github import bodies, events
from tests.github.acts import checks
from tests.github.call import Call
from tests.github.core.messages import Answer, Refused, invalid

GROUP = "checks"


def list_suites_for_ref(call: Call) -> Any:
    found = call.world.state.suites_of(call.repository, call.sha(call.params["ref"]))
    if "app_id" in call.query:
        found = [suite for suite in found if suite.app.id == call.query["app_id"]]
    if "check_name" in call.query:
        found = [suite for suite in found if any(run.name == call.query["check_name"] for run in suite.runs)]
    return call.page(found, lambda suite: bodies.check_suite(call.world, suite), "check_suites")


def get_suite(call: Call) -> Any:
    return bodies.check_suite(call.world, call.suite)


def create_suite(call: Call) -> Any:
    sha = call.repository.git.resolve(call.body["head_sha"])
    if sha is None:
        raise invalid("CheckSuite", "head_sha")
    known = {suite.id for suite in call.world.state.suites_of(call.repository, sha) if suite.app is call.app}
    suite = checks.suite_for(call.world, call.repository, call.app, sha, checks.branch_of(call.repository, sha))
    return Answer(200 if suite.id in known else 201, bodies.check_suite(call.world, suite))


def rerequest_suite(call: Call) -> Any:
    if call.suite.app is not call.app:
        raise Refused(403, "Resource not accessible by integration")
    call.suite.asked_again = True
    events.check_suite(call.world, "rerequested", call.suite, call.actor)
    return Answer(201, {})
