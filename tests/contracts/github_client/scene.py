"""A repository with an open pull request on the local GitHub, and the app's client for it."""

from dataclasses import dataclass
from pathlib import Path

from app.github import apps, checks
from app.github.calls import Pace
from app.github.checks import CheckWrite
from app.github.client import Client
from app.github.tokens import Purpose
from app.settings import GitHubSettings, Settings
from tests.github import LocalGitHub
from tests.github.core.state import Pull

REPO = "acme/billing"
WORKFLOW = """\
name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh ./check.sh
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: reports, path: report.xml}
"""
RED = "echo '<testsuite/>' > report.xml; echo FAILED test_total; exit 1\n"
MARKER = "<!-- remedy:status pr:1 v1 -->"
ISSUE = "<!-- remedy:issue f1 v1 -->"
FILES = {
    ".github/workflows/ci.yml": WORKFLOW,
    ".github/remedy.yml": "enabled: true\n",
    "check.sh": "echo all good\n",
    "README.md": "line one\nline two\n",
}


@dataclass
class Scene:
    """A repository with an open pull request by amy whose CI is queued, and the app's client."""

    hub: LocalGitHub
    client: Client
    pull: Pull
    installation_id: int
    repository_id: int

    @property
    def app_id(self) -> int:
        return self.hub.app.id

    @property
    def reader(self) -> Client:
        return self.client.acting(Purpose.READ, self.repository_id)

    @property
    def writer(self) -> Client:
        return self.client.acting(Purpose.DELIVER, self.repository_id)

    @property
    def number(self) -> int:
        return self.pull.thread.number

    @property
    def sha(self) -> str:
        return self.pull.head_sha


def settings_for(hub: LocalGitHub, folder: Path, version: str) -> Settings:
    return Settings(
        data=folder,
        app_id=hub.app.id,
        app_slug=hub.app.slug,
        private_key=hub.app.pem,
        github=GitHubSettings(api_url=hub.api_url, web_url=hub.web_url, api_version=version),
    )


def make(hub: LocalGitHub, tmp_path: Path, version: str = "2022-11-28") -> Scene:
    repository = hub.create_repo(REPO, FILES)
    hub.collaborator(REPO, "amy", "write")
    hub.push("amy", REPO, "feature", {"check.sh": RED}, "Break it")
    pull = hub.open_pull("amy", REPO, "feature", title="A feature", body="text")
    settings, pace = settings_for(hub, tmp_path, version), Pace(now_ms=hub.now_ms, sleep=lambda _: None)
    with Client(settings, None, pace=pace) as app:
        (installation,) = apps.find_installations(app)
    client = Client(settings, installation.id, pace=pace)
    return Scene(hub, client, pull, installation.id, repository.id)


def a_check(scene: Scene, **changes: object) -> CheckWrite:
    facts = {
        "name": "Remedy",
        "head_sha": scene.sha,
        "external_id": f"pr:{scene.number}",
        "status": "in_progress",
        "title": "Reading the log",
        "summary": "One check failed.",
    }
    return CheckWrite.model_validate({**facts, **changes})


def red_check(scene: Scene) -> checks.CheckRun:
    """The check of the job that really ran and failed."""
    scene.hub.run_ci()
    return next(run for run in checks.find_check_runs(scene.reader, REPO, scene.sha) if run.conclusion == "failure")
