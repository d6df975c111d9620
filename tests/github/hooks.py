"""Webhooks: build, validate, sign and deliver in order, keep the log, deliver again (github.md C8)."""

import hashlib
import hmac
import json
import random
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import httpx

from tests.github import bodies
from tests.github.core.permissions import HEARS, grants
from tests.github.core.state import App, Installation, Repository, User

if TYPE_CHECKING:
    from tests.github.world import World

BODY_LIMIT = 25 * 1024 * 1024
SETTLE_S = 60
_DAY_MS = 86_400_000
# These come to an app whatever it subscribed to (github.md, F-W13).
_ALWAYS = ("installation", "installation_repositories", "installation_target", "ping")

Receiver = Callable[[Mapping[str, str], bytes], int]


@dataclass
class Delivery:
    """One attempt; a redelivery is another one with the same `guid`."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    body: bytes
    at: int
    status: str = "pending"
    status_code: int = 0
    duration: float = 0.0
    redelivery: bool = False
    throttled_at: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    response: str = ""

    @property
    def payload(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.body)
        return loaded

    @property
    def ok(self) -> bool:
        return 200 <= self.status_code < 300


@dataclass(frozen=True)
class Event:
    """Something that happened. `only` limits it to the app that owns the object (github.md, F-E2)."""

    name: str
    action: str | None
    repository: Repository | None
    sender: User
    parts: Callable[[], dict[str, Any]]
    only: App | None = None

    @property
    def key(self) -> str:
        return "-".join([self.name, *([self.action] if self.action else [])]).replace("_", "-")


class Hooks:
    """The delivery thread and its log; `emit` inside a transaction, the events leave when it ends."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.log: list[Delivery] = []
        self.receiver: Receiver | None = None
        self._batch: list[Delivery] = []
        self._queue: deque[tuple[Delivery, str | None]] = deque()
        self._held: list[list[Any]] = []
        self._busy = False
        self._stopped = False
        self._settling = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="local-github-hooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=15)

    def emit(self, event: Event) -> None:
        """One delivery for every installation that hears this event; nothing is built when nobody does."""
        for installation in self._hearers(event):
            body = self._body(event, installation)
            if len(body) > BODY_LIMIT:
                continue
            repository_id = event.repository.id if event.repository is not None else None
            self._add(installation, event, body, repository_id)

    def flush(self) -> None:
        """Hand what a transaction emitted to the delivery thread, shuffled if a fault says so."""
        batch, self._batch = self._batch, []
        if not batch:
            return
        shuffle = self._world.faults.pick("hook", {"mode": "shuffle"}, only="shuffle")
        if shuffle is not None:
            random.Random(shuffle.seed).shuffle(batch)
        with self._changed:
            for delivery in batch:
                fault = self._world.faults.pick("hook", {"event": delivery.event, "action": delivery.action or ""})
                self._put(delivery, fault.hook if fault is not None else None, fault.by if fault is not None else 1)
            self._changed.notify_all()

    def settle(self, *, release: bool = False) -> None:
        """Wait until everything is delivered, with `release` also what a fault holds back. Raises TimeoutError."""
        with self._changed:
            self._settling += release
            self._changed.notify_all()
            done = self._changed.wait_for(
                lambda: not (self._queue or self._busy or (release and self._held)), timeout=SETTLE_S
            )
            self._settling -= release
        if not done:
            raise TimeoutError("webhook deliveries did not come to rest")

    def redeliver(self, delivery: Delivery) -> Delivery:
        """The same GUID and body once more, as a delivery of its own."""
        again = replace(
            delivery,
            id=self._world.state.new_id(),
            at=self._world.clock.now_ms(),
            status="pending",
            status_code=0,
            redelivery=True,
            throttled_at=None,
        )
        with self._changed:
            fault = self._world.faults.pick("hook", {"event": again.event, "action": again.action or ""})
            self._put(again, fault.hook if fault is not None else None, fault.by if fault is not None else 1)
            self._changed.notify_all()
        return again

    def within_window(self, app: App) -> list[Delivery]:
        """Newest first; what is older than the window is gone (F-W3)."""
        oldest = self._world.clock.now_ms() - (7 if self._world.options.ghes else 3) * _DAY_MS
        found = [delivery for delivery in self.log if delivery.app is app and delivery.at >= oldest]
        return sorted((d for d in found if d.status not in ("pending", "inactive")), key=lambda d: -d.id)

    def _hearers(self, event: Event) -> list[Installation]:
        if event.repository is None:
            raise ValueError("use emit_to for events without a repository")
        found = []
        for installation in self._world.state.installations_of(event.repository):
            app = installation.app
            if installation.suspended_at is not None or event.only not in (None, app):
                continue
            hears = event.name in _ALWAYS or (
                event.name in installation.events and grants(installation.permissions, HEARS[event.name])
            )
            if hears:
                found.append(installation)
        return found

    def emit_to(self, installation: Installation, event: Event) -> None:
        """An event of the installation itself, to its app alone."""
        self._add(installation, event, self._body(event, None), None)

    def emit_to_app(self, app: App, event: Event) -> None:
        """An event of the app itself, which no installation is part of."""
        self._batch.append(self._made(app, event, self._body(event, None)))

    def _add(self, installation: Installation, event: Event, body: bytes, repository_id: int | None) -> None:
        made = self._made(installation.app, event, body)
        self._batch.append(replace(made, installation_id=installation.id, repository_id=repository_id))

    def _made(self, app: App, event: Event, body: bytes) -> Delivery:
        return Delivery(
            id=self._world.state.new_id(),
            guid=str(uuid.UUID(int=self._world.state.random.getrandbits(128), version=4)),
            app=app,
            event=event.name,
            action=event.action,
            installation_id=None,
            repository_id=None,
            body=body,
            at=self._world.clock.now_ms(),
        )

    def _body(self, event: Event, installation: Installation | None) -> bytes:
        world = self._world
        payload: dict[str, Any] = {"sender": bodies.user(world, event.sender), **event.parts()}
        if event.action is not None:
            payload["action"] = event.action
        if event.repository is not None:
            payload["repository"] = bodies.repository(world, event.repository)
            if event.repository.owner.type == "Organization":
                payload["organization"] = bodies.organization(world, event.repository.owner)
        if installation is not None:
            payload["installation"] = {"id": installation.id, "node_id": bodies.node_id("MDIz", installation.id)}
        shaped = world.spec.shape_event(event.key, payload)
        for fault in world.spec.event_faults(event.key, shaped):
            world.record.violate("hook", event.key, f"{fault.field}: {fault.message}")
        return json.dumps(shaped, separators=(",", ":"), ensure_ascii=False).encode()

    def _put(self, delivery: Delivery, fault: str | None, by: int) -> None:
        self.log.append(delivery)
        if delivery.app.hook_url is None and self.receiver is None:
            delivery.status = "inactive"
        elif fault == "miss":
            delivery.status, delivery.status_code = "failed to connect to host", 502
        elif fault in ("delay", "throttle"):
            delivery.throttled_at = self._world.clock.now_ms() if fault == "throttle" else None
            self._held.append([delivery, by])
        else:
            self._queue.append((delivery, fault))
            if fault == "duplicate":
                self._queue.append((delivery, None))

    def _work(self) -> None:
        timeout_s = 30 if self._world.options.ghes else 10
        with httpx.Client(timeout=timeout_s, trust_env=False, verify=False) as client:  # plain HTTP
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._stopped or self._queue or (self._held and self._settling))
                    if self._stopped:
                        return
                    if not self._queue:
                        self._queue.append((self._held.pop(0)[0], None))
                    delivery, fault = self._queue.popleft()
                    self._busy = True
                self._send(client, delivery, fault)
                with self._changed:
                    self._busy = False
                    self._overtake()
                    self._changed.notify_all()

    def _overtake(self) -> None:
        for held in self._held:
            held[1] -= 1
        for held in [held for held in self._held if held[1] <= 0]:
            self._held.remove(held)
            self._queue.append((held[0], None))

    def _send(self, client: httpx.Client, delivery: Delivery, fault: str | None) -> None:
        delivery.headers = self._headers(delivery, fault)
        try:
            if self.receiver is not None:
                delivery.status_code = self.receiver(delivery.headers, delivery.body)
            else:
                answer = client.post(delivery.app.hook_url or "", content=delivery.body, headers=delivery.headers)
                delivery.status_code, delivery.response = answer.status_code, answer.text[:1000]
                delivery.duration = round(answer.elapsed.total_seconds(), 2)
            delivery.status = "OK" if delivery.ok else "Invalid HTTP Response: " + str(delivery.status_code)
        except httpx.TimeoutException:
            delivery.status, delivery.status_code = "timed out", 504
        except httpx.HTTPError:
            delivery.status, delivery.status_code = "failed to connect to host", 502
        except Exception as error:
            delivery.status, delivery.status_code = "failed to connect to host", 502
            self._world.record.violate("hook", "receiver", repr(error))

    def _headers(self, delivery: Delivery, fault: str | None) -> dict[str, str]:
        secret = b"not the secret" if fault == "bad_signature" else delivery.app.webhook_secret.encode()
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/7f0a1d2",
            "X-GitHub-Delivery": delivery.guid,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(delivery.app.id + 1000),
            "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": "sha1=" + hmac.new(secret, delivery.body, hashlib.sha1).hexdigest(),
            "X-Hub-Signature-256": "sha256=" + hmac.new(secret, delivery.body, hashlib.sha256).hexdigest(),
        }
        if self._world.options.ghes:
            headers |= {"X-GitHub-Enterprise-Version": self._world.options.ghes_version}
            headers |= {"X-GitHub-Enterprise-Host": self._world.api_url.split("//")[1].split("/")[0]}
        return headers
