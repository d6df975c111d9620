"""Make and change check runs; a suite that comes to its end says so."""

from typing import TYPE_CHECKING, Any

from tests.github import events
from tests.github.core.ci import CheckRun, CheckSuite
from tests.github.core.messages import Refused, invalid
from tests.github.core.state import App, Repository, User

if TYPE_CHECKING:
    from tests.github.world import World

TITLE_LIMIT = 255
TEXT_LIMIT = 64 * 1024
_OUTPUT = ("title", "summary", "text")
_PLAIN = ("name", "external_id", "details_url")


def suite_for(world: "World", repository: Repository, app: App, sha: str, branch: str | None) -> CheckSuite:
    """The app's suite of this commit, made when there is none."""
    for suite in world.state.suites_of(repository, sha):
        if suite.app is app:
            return suite
    return new_suite(world, repository, app, (sha, branch, None))


def new_suite(world: "World", repository: Repository, app: App, at: tuple[str, str | None, str | None]) -> CheckSuite:
    """`at` is the commit, its branch and the commit before it."""
    now = world.clock.now_ms()
    suite = CheckSuite(world.state.new_id(), repository, app, at[0], at[1], at[2], now, now)
    world.state.suites[suite.id] = suite
    return suite


def new_check(world: "World", suite: CheckSuite, name: str) -> CheckRun:
    check = CheckRun(world.state.new_id(), suite, name, world.clock.now_ms())
    suite.runs.append(check)
    world.state.checks[check.id] = check
    return check


def branch_of(repository: Repository, sha: str) -> str | None:
    """The branch whose tip this commit is; None for a fork's (F-C11)."""
    tips = repository.git.refs()
    return next((ref.removeprefix("refs/heads/") for ref, tip in tips.items() if tip == sha), None)


def check_given(given: dict[str, Any]) -> None:
    """The rules that GitHub states in prose only, before anything changes; raises Refused(422)."""
    if given.get("status") == "completed" and "conclusion" not in given:
        raise invalid("CheckRun", "conclusion", "missing_field", "conclusion is required when status is completed")
    for annotation in (given.get("output") or {}).get("annotations") or []:
        _check_annotation(annotation)


def apply(world: "World", check: CheckRun, given: dict[str, Any], actor: User) -> None:
    """Lay a checked body over a check run; annotations append (F-C4), a conclusion completes it (F-C2)."""
    was = check.status
    for key in _PLAIN:
        if key in given:
            setattr(check, key, given[key])
    _apply_output(check, given.get("output") or {})
    if "actions" in given:
        check.actions = given["actions"]
    now = world.clock.now_ms()
    if "conclusion" in given:
        check.status, check.conclusion = "completed", given["conclusion"]
        check.completed_at = now
        check.started_at = check.started_at or now
    elif "status" in given:
        check.status, check.conclusion, check.completed_at = given["status"], None, None
        if given["status"] == "in_progress":
            check.started_at = check.started_at or now
    check.suite.updated_at = now
    check.suite.asked_again = False
    if check.status == "completed" and was != "completed":
        completed(world, check, actor)


def completed(world: "World", check: CheckRun, actor: User) -> None:
    """Say that it is completed and, with the last of them, that the suite is."""
    events.check_run(world, "completed", check, actor)
    if check.suite.status == "completed":
        events.check_suite(world, "completed", check.suite, actor)


def own(check: CheckRun, app: App) -> None:
    """Only the app that made a check run may change it (F-C6)."""
    if check.app is not app:
        raise Refused(
            403, f"Invalid app_id `{app.id}` - check run can only be modified by the GitHub App that created it."
        )


def _apply_output(check: CheckRun, output: dict[str, Any]) -> None:
    for key in _OUTPUT:
        if key in output:
            setattr(check, key, output[key])
    check.annotations += output.get("annotations") or []


def _check_annotation(annotation: dict[str, Any]) -> None:
    if len(annotation.get("title") or "") > TITLE_LIMIT:
        raise invalid("CheckAnnotation", "title")
    for key in ("message", "raw_details"):
        if len((annotation.get(key) or "").encode()) > TEXT_LIMIT:
            raise invalid("CheckAnnotation", key)
    columns = annotation.get("start_column") is not None or annotation.get("end_column") is not None
    if columns and annotation["start_line"] != annotation["end_line"]:
        raise invalid("CheckAnnotation", "start_column")
