"""Check runs, check suites and annotations as JSON."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.github.bodies.commits import simple_commit
from tests.github.bodies.people import app, node_id
from tests.github.bodies.repositories import repository
from tests.github.bodies.threads import pull_minimal
from tests.github.core.ci import CheckRun, CheckSuite
from tests.github.core.clock import iso

if TYPE_CHECKING:
    from tests.github.world import World


def check_run(world: "World", check: CheckRun, *, hook: bool = False) -> dict[str, Any]:
    """`hook` lays the whole suite inside, as webhooks do."""
    repo = check.repository
    url = f"{world.api_url}/repos/{repo.full_name}/check-runs/{check.id}"
    page = f"{world.web_url}/{repo.full_name}/runs/{check.id}"
    return {
        "id": check.id,
        "node_id": node_id("CR", check.id),
        "name": check.name,
        "head_sha": check.head_sha,
        "external_id": check.external_id or "",
        "url": url,
        "html_url": check.details_url if check.job is not None else page,
        "details_url": check.details_url or check.app.url,
        "status": check.status,
        "conclusion": check.conclusion,
        "started_at": iso(check.started_at or check.created_at),
        "completed_at": iso(check.completed_at),
        "output": {
            "title": check.title,
            "summary": check.summary,
            "text": check.text,
            "annotations_count": len(check.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": check_suite(world, check.suite) if hook else {"id": check.suite.id},
        "app": app(world, check.app),
        "pull_requests": _pulls(world, check.suite),
    }


def check_suite(world: "World", suite: CheckSuite) -> dict[str, Any]:
    repo = suite.repository
    url = f"{world.api_url}/repos/{repo.full_name}/check-suites/{suite.id}"
    return {
        "id": suite.id,
        "node_id": node_id("CS", suite.id),
        "head_branch": suite.head_branch,
        "head_sha": suite.head_sha,
        "status": suite.status,
        "conclusion": suite.conclusion,
        "url": url,
        "before": suite.before,
        "after": suite.head_sha,
        "pull_requests": _pulls(world, suite),
        "app": app(world, suite.app),
        "repository": repository(world, repo, inner=True),
        "created_at": iso(suite.created_at),
        "updated_at": iso(suite.updated_at),
        "latest_check_runs_count": len(suite.latest),
        "check_runs_url": f"{url}/check-runs",
        "head_commit": simple_commit(world, repo, suite.head_sha),
        "rerequestable": True,
        "runs_rerequestable": True,
    }


def annotation(world: "World", check: CheckRun, given: dict[str, Any]) -> dict[str, Any]:
    optional = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
    page = f"{world.web_url}/{check.repository.full_name}"
    return {**optional, **given, "blob_href": f"{page}/blob/{check.head_sha}/{quote(given['path'])}"}


def _pulls(world: "World", suite: CheckSuite) -> list[dict[str, Any]]:
    """Open pull requests of this repository's own branches; empty for forks (github.md, F-C11)."""
    if suite.head_branch is None:
        return []
    found = [
        pull
        for pull in suite.repository.pulls
        if pull.state == "open" and not pull.is_from_fork and pull.head_sha == suite.head_sha
    ]
    return [pull_minimal(world, pull) for pull in found]
