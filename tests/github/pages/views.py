"""What each page shows."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.github.core.clock import iso
from tests.github.core.gitstore import EMPTY_TREE
from tests.github.core.messages import Answer
from tests.github.core.state import Pull, Repository
from tests.github.pages.ansi import log_lines
from tests.github.pages.markdown import to_html

if TYPE_CHECKING:
    from tests.github.local import LocalGitHub

View = Callable[["LocalGitHub", Mapping[str, str], Mapping[str, str]], Answer | str]
FOLDER = Path(__file__).parent / "templates"
_PAGES = Environment(
    loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_PAGES.filters |= {"markdown": to_html, "when": iso}
_ICONS = {"success": "✓", "failure": "✗", "timed_out": "✗", "neutral": "■", "skipped": "⊘", "cancelled": "⊘"}
_ICONS |= {"action_required": "!", "startup_failure": "✗", "queued": "●", "in_progress": "●"}


def render(github: "LocalGitHub", name: str, **values: Any) -> str:
    """A template in the frame of every page; `acting` are the people that a form may speak for."""
    users = [user for user in github.world.state.users.values() if user.type == "User"]
    # Who made the App has no part in its story: the last to be offered.
    people = [user.login for user in sorted(users, key=lambda user: user is github.app.owner)]
    style = (FOLDER / "style.css").read_text()
    template = _PAGES.get_template(f"{name}.html.j2")
    return template.render(github=github, people=people, style=style, icons=_ICONS, **values)


def front(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    return render(github, "front", repositories=list(github.world.state.repositories.values()))


def repository(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    found = _repository(github, parts)
    ref = parts.get("ref") or found.default_branch
    sha = _sha(found, ref)
    return render(
        github,
        "repository",
        repository=found,
        ref=ref,
        commit=found.git.one(sha),
        branches=github.branches(found),
        files=found.git.entries(sha),
        pulls=github.pulls(found),
        issues=github.issues(found),
    )


def thread(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    """An issue or a pull request with its conversation, and the checks of its head."""
    found = _repository(github, parts).threads[int(parts["number"])]
    pull = found.pull
    talk = [*found.comments, *(pull.reviews if pull is not None else [])]
    talk.sort(key=lambda said: getattr(said, "created_at", 0) or getattr(said, "submitted_at", 0))
    checks = github.checks(pull.repository, pull.head_sha) if pull is not None else []
    newest = list({(check.app.id, check.name): check for check in checks}.values())
    commits = _commits(pull) if pull is not None else []
    return render(github, "thread", thread=found, pull=pull, talk=talk, checks=newest, commits=commits)


def files(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    """The diff of a pull request or of a commit."""
    found = _repository(github, parts)
    if "number" in parts:
        pull = found.threads[int(parts["number"])].pull
        if pull is None:
            raise LookupError("an issue has no files")
        old, new, title = _start(pull), pull.head_sha, f"{pull.thread.title} #{pull.number}"
    else:
        commit = found.git.one(_sha(found, parts["sha"]))
        old, new, title = (commit.parents or (EMPTY_TREE,))[0], commit.sha, commit.message
    return render(github, "files", repository=found, title=title, sha=new, changes=found.git.changes(old, new))


def blob(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    found = _repository(github, parts)
    text = github.read_file(found, parts["path"], parts["ref"])
    if text is None:
        raise LookupError(f"no {parts['path']} at {parts['ref']}")
    return render(github, "blob", repository=found, path=parts["path"], ref=parts["ref"], text=text)


def check(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    """A check run: its text, annotations and buttons; a job's log where there is one."""
    found = github.world.state.checks[int(parts["check"])]
    return _check_page(github, found.id)


def job(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    return _check_page(github, github.world.state.jobs[int(parts["job"])].check.id)


def workflow_run(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    found = github.world.state.runs[int(parts["run"])]
    return render(github, "run", run=found)


def deliveries(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    return render(github, "deliveries", deliveries=list(reversed(github.deliveries()))[:200])


def app_page(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> str:
    """The app, and where it can be installed."""
    app = next(app for app in github.world.state.apps.values() if app.slug == parts["slug"])
    everything = list(github.world.state.repositories.values())
    held = {number for i in github.world.state.installations.values() if i.app is app for number in i.repositories}
    return render(github, "app", app=app, repositories=everything, held=held)


def avatar(github: "LocalGitHub", parts: Mapping[str, str], given: Mapping[str, str]) -> Answer:
    hue = int(parts["id"]) * 47 % 360
    square = f'<rect width="8" height="8" fill="hsl({hue} 45% 55%)"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">{square}</svg>'
    return Answer(200, svg.encode(), {"Content-Type": "image/svg+xml"})


def _check_page(github: "LocalGitHub", number: int) -> str:
    found = github.world.state.checks[number]
    log = log_lines(github.job_log(found)) if found.job is not None else []
    pulls = [pull for pull in found.repository.pulls if pull.head_sha == found.head_sha]
    return render(github, "check", check=found, log=log, pulls=pulls)


def _repository(github: "LocalGitHub", parts: Mapping[str, str]) -> Repository:
    found = github.world.state.find_repository(f"{parts['owner']}/{parts['repo']}")
    if found is None:
        raise LookupError(f"no repository {parts['owner']}/{parts['repo']}")
    return found


def _sha(repository: Repository, name: str) -> str:
    found = repository.git.resolve(name)
    if found is None:
        raise LookupError(f"no commit {name}")
    return found


def _start(pull: Pull) -> str:
    return pull.repository.git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha


def _commits(pull: Pull) -> list[Any]:
    return pull.repository.git.commits(f"{_start(pull)}..{pull.head_sha}")[::-1]


def table(*rows: tuple[str, View]) -> list[tuple[re.Pattern[str], View]]:
    return [(re.compile(pattern), view) for pattern, view in rows]


REPO = r"/(?P<owner>[^/]+)/(?P<repo>[^/]+)"
VIEWS = table(
    ("/", front),
    ("/_deliveries", deliveries),
    (r"/_avatar/(?P<id>\d+)", avatar),
    (r"/apps/(?P<slug>[^/]+)(/installations/new)?", app_page),
    (REPO, repository),
    (REPO + r"/tree/(?P<ref>.+)", repository),
    (REPO + r"/(pull|issues)/(?P<number>\d+)", thread),
    (REPO + r"/pull/(?P<number>\d+)/files", files),
    (REPO + r"/commit/(?P<sha>[0-9a-f]+)", files),
    (REPO + r"/blob/(?P<ref>[^/]+)/(?P<path>.+)", blob),
    (REPO + r"/runs/(?P<check>\d+)", check),
    (REPO + r"/actions/runs/(?P<run>\d+)", workflow_run),
    (REPO + r"/actions/runs/\d+/job/(?P<job>\d+)", job),
)
