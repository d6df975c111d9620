"""The layers of a proof: what `setup` leaves, made once for each state of the manifests (proof.md, PT-10, PX-34)."""

import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from app.integrity.classes import class_of
from app.integrity.model import Moved
from app.workspace.checkout import Mirror
from app.workspace.git import Git
from app.workspace.grid.files import entries_of
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.cleanup import open_tree
from app.workspace.sandbox.model import Sandbox
from app.workspace.tests.model import TestJob
from app.workspace.tests.own import setups
from app.workspace.tests.setup import Layer, run_setup


@dataclass
class Layers:
    """They live as long as the proof that made them, so nothing of a pull request reaches another one's tests."""

    rooms: Rooms
    mirror: Mirror
    moved: Moved = field(default_factory=Moved)
    _states: dict[tuple[tuple[tuple[str, ...], ...], str], str] = field(default_factory=dict)
    _made: dict[str, Layer] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _room: Room | None = None

    def __enter__(self) -> "Layers":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def of(self, sandbox: Sandbox, job: TestJob, tree: str) -> Layer:
        """The layer of the manifests that `tree` holds; the first tree with such manifests makes it."""
        commands = setups(job)
        if not commands:
            return Layer()
        if (commands, tree) not in self._states:
            self._states[commands, tree] = self._state(commands, tree)
        key = self._states[commands, tree]
        if key not in self._made:
            self._made[key] = await self._make(sandbox, job, tree)
        return self._made[key]

    def _state(self, commands: tuple[tuple[str, ...], ...], tree: str) -> str:
        """Commands and all files that steer a test run: manifests, locks, what the commands name (PX-31)."""
        entries = entries_of(Git(self.mirror.path), tree)
        steering = [
            (path, one.mode, one.id) for path, one in entries.items() if class_of(path, self.moved) == "harness"
        ]
        return hashlib.sha256(json.dumps([commands, sorted(steering)]).encode()).hexdigest()

    async def _make(self, sandbox: Sandbox, job: TestJob, tree: str) -> Layer:
        if self._room is None:
            self._room = self._stack.enter_context(self.rooms.scratch())
        room, n = self._room, len(self._made)
        self.mirror.tree_files(tree, room.path / f"tree{n}", room.uid)
        try:
            own = replace(job, files=room.path / f"tree{n}", uid=room.uid)
            layer = await run_setup(sandbox, own, room.folder(f"layer{n}"))
        finally:
            room.remove(f"tree{n}")
        open_tree(room.path / f"layer{n}", room.uid)
        return layer
