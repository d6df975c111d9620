"""The local GitHub as an object: its life from start to stop, and all verbs."""

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from tests.github import auth, pipeline
from tests.github.acts import manifest as manifests
from tests.github.core.clock import Clock
from tests.github.core.messages import FileBody, Request
from tests.github.core.state import ACTIONS_APP_ID, App
from tests.github.server import Server
from tests.github.verbs import (
    CiVerbs,
    FaultVerbs,
    InstallationVerbs,
    LookingVerbs,
    RepositoryVerbs,
    ThreadVerbs,
)
from tests.github.world import Options, World

# What github.md B10 asks for; a test may hand in `app.yml` itself.
MANIFEST: Mapping[str, Any] = {
    "name": "Remedy",
    "url": "https://remedy.example",
    "default_permissions": {
        "metadata": "read",
        "actions": "read",
        "checks": "write",
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "merge_queues": "read",
    },
    "default_events": [
        *("check_run", "check_suite", "workflow_run", "pull_request", "issue_comment"),
        *("pull_request_review", "pull_request_review_comment", "merge_group"),
    ],
}


class LocalGitHub(RepositoryVerbs, ThreadVerbs, CiVerbs, InstallationVerbs, FaultVerbs, LookingVerbs):
    """One GitHub with one app under test, listening on two ports of 127.0.0.1 from `start` to `stop`.

    `clock` gives UTC milliseconds (default: the wall); `hook_url` is where webhooks go; `manifest` is app.yml as a
    mapping; `folder` keeps repositories and logs (default: a temporary one); `ports` are API and store (0: any).
    As a context manager it starts, and at a clean end stops and verifies: violations, unmet expectations and faults
    that met nothing raise AssertionError.
    """

    def __init__(
        self,
        clock: Callable[[], int] | None = None,
        *,
        hook_url: str | None = None,
        manifest: Mapping[str, Any] = MANIFEST,
        folder: Path | None = None,
        options: Options | None = None,
        ports: tuple[int, int] = (0, 0),
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="local-github-", ignore_cleanup_errors=True)
        self.world = World(folder or Path(self._temporary.name), Clock(clock), options or Options())
        self._server = Server(self, *ports)
        main, self.world.store_url = self._server.urls
        self.world.web_url = main
        self.world.api_url = f"{main}/api/v3" if self.world.options.ghes else main
        vendor = self.world.state.user("remedy-vendor")
        self._add_actions()
        app = manifests.new_app(self.world, vendor, str(manifest.get("name", "Remedy")), dict(manifest), _private_key())
        self.world.app_id = app.id
        app.hook_url = hook_url

    @property
    def app(self) -> App:
        """The app under test: `id`, `slug`, `pem`, `webhook_secret`."""
        return self.world.state.apps[self.world.app_id]

    @property
    def api_url(self) -> str:
        return self.world.api_url

    @property
    def web_url(self) -> str:
        return self.world.web_url

    @property
    def store_url(self) -> str:
        return self.world.store_url

    def now_ms(self) -> int:
        return self.world.clock.now_ms()

    def start(self) -> "LocalGitHub":
        self._server.start()
        self.world.hooks.start()
        self.world.runner.start()
        return self

    def stop(self) -> None:
        self.world.runner.stop()
        self.world.hooks.stop()
        self._server.stop()
        self._temporary.cleanup()

    def transport(self) -> httpx.MockTransport:
        """Serves the API to an httpx client without any socket."""
        return httpx.MockTransport(self._without_socket)

    def __enter__(self) -> "LocalGitHub":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self.world.options.strict:
                self.settle()
                self.verify()
        finally:
            self.stop()

    def _without_socket(self, request: httpx.Request) -> httpx.Response:
        raw = request.url.raw_path.decode().partition("?")[0]
        headers = tuple((name.lower(), value) for name, value in request.headers.multi_items())
        query = tuple(request.url.params.multi_items())
        asked = Request(request.method, raw, query, headers, request.read())
        answer = pipeline.handle(self.world, asked)
        body = answer.body.path.read_bytes() if isinstance(answer.body, FileBody) else answer.body
        assert body is None or isinstance(body, bytes)
        return httpx.Response(answer.status, headers=answer.headers, content=body or b"")

    def _add_actions(self) -> None:
        state = self.world.state
        owner = state.user("github", "Organization")
        bot = state.user("github-actions[bot]")
        state.apps[ACTIONS_APP_ID] = App(
            id=ACTIONS_APP_ID,
            slug="github-actions",
            name="GitHub Actions",
            owner=owner,
            bot=bot,
            pem=_private_key(),
            webhook_secret="",
            permissions={"actions": "write", "checks": "write", "contents": "read"},
            events=[],
            url="https://help.github.com/en/actions",
        )


@cache
def _private_key() -> str:
    """One key for all local GitHubs of a process: making one takes a while."""
    return auth.new_private_key()
