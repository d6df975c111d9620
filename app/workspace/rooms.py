"""Folders that runs live in: one room for each thing that is worked on, with a uid of its own for a root app."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import TransientError, UserError
from app.settings import Settings
from app.workspace.sandbox.chain import shut_folder
from app.workspace.sandbox.cleanup import remove_tree
from app.workspace.sandbox.uids import Uids, reap, tasks_of


def room_key(session_id: str) -> str:
    """The room of a conversation: its files and HOME outlive a turn (CR-5)."""
    return f"session:{session_id}"


@dataclass(frozen=True)
class Room:
    """A folder below `workspaces` under an opaque id; what is in it belongs to `uid`, None when the app is not root."""

    path: Path
    uid: int | None

    def folder(self, name: str) -> Path:
        """An existing or new folder of the room that `uid` owns, for its HOME or for reports."""
        path = self.path / name
        if not path.exists():
            path.mkdir(mode=0o700)
            if self.uid is not None:
                os.chown(path, self.uid, self.uid)
        return path

    def remove(self, name: str) -> None:
        """Delete a folder of the room as its uid, so that it can be made afresh (W53)."""
        for path in (self.path / name, self.path / f"{name}.mounts", self.path / f"{name}.plain"):
            remove_tree(path, self.uid)


@dataclass(frozen=True)
class Rooms:
    """All rooms below `data`; `uids` is None when the app is not root."""

    data: Path
    uids: Uids | None

    @staticmethod
    def of(settings: Settings) -> "Rooms":
        """Raises UserError when the uid pool is wrong or a dropped uid cannot reach the data folder (PN-11)."""
        uids = Uids.of(settings.data / "uids", settings.sandbox.uid_pool) if os.geteuid() == 0 else None
        rooms = Rooms(settings.data, uids)
        rooms.prepare()
        return rooms

    def prepare(self) -> None:
        """Make the folder; raises UserError that names the folder which keeps the pool's uids out."""
        for folder in (self.data, self._folder):
            if not folder.exists():
                folder.mkdir(mode=0o711, parents=True)
                folder.chmod(0o711)
        if self.uids is None:
            return
        self._folder.chmod(0o711)
        if shut := shut_folder(self._folder / "room", self.uids.first):
            raise UserError(
                f"The data folder {self.data} cannot be used by a root app: {shut} keeps other users out. "
                f"Choose REMEDY_DATA elsewhere or allow others to search it (chmod o+x)."
            )

    @contextmanager
    def enter(self, key: str) -> Iterator[Room]:
        """The room of `key`, made at the first time and kept afterwards; nobody else is in it meanwhile.

        Processes that an ended worker left in it are killed. Raises TransientError when another worker is in it.
        """
        room_id = _id_of(key)
        with self._locked(room_id):
            yield self._open(room_id)

    @contextmanager
    def scratch(self) -> Iterator[Room]:
        """A room that is gone afterwards."""
        room_id = secrets.token_hex(12)
        with self._locked(room_id):
            try:
                yield self._open(room_id)
            finally:
                self._delete(room_id)

    def remove(self, key: str) -> None:
        """Delete the room of `key` and all that is in it; raises TransientError while somebody is in it."""
        room_id = _id_of(key)
        with self._locked(room_id):
            self._delete(room_id)

    def sweep(self, keep: Collection[str]) -> int:
        """Delete every room that is not of a key in `keep` and that nobody is in; how many were deleted."""
        kept = {_id_of(key) for key in keep}
        gone = 0
        for room_id in sorted({path.name.partition(".")[0] for path in self._folder.iterdir()} - kept):
            with suppress(TransientError), self._locked(room_id):
                self._delete(room_id)
                gone += 1
        return gone

    def _open(self, room_id: str) -> Room:
        path = self._folder / room_id
        uid = self.uids.take(room_id) if self.uids is not None else None
        if uid is not None and tasks_of(uid):
            reap(uid)
        if not path.exists():
            path.mkdir(mode=0o711)
            path.chmod(0o711)
        return Room(path, uid)

    def _delete(self, room_id: str) -> None:
        path = self._folder / room_id
        uid = self.uids.take(room_id) if self.uids is not None else None
        if uid is not None and tasks_of(uid):
            reap(uid)
        for part in list(path.iterdir()) if path.is_dir() else ():
            remove_tree(part, uid)
        remove_tree(path, None)
        if self.uids is not None and uid is not None:
            self.uids.give_back(uid)
        self._lock(room_id).unlink(missing_ok=True)

    @contextmanager
    def _locked(self, room_id: str) -> Iterator[None]:
        """The kernel frees the lock when its holder dies."""
        path = self._lock(room_id)
        while True:
            with open(path, "ab") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise TransientError("another worker is in this workspace") from error
                # The holder before us may have deleted the file together with its room.
                if path.exists() and os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                    yield
                    return

    def _lock(self, room_id: str) -> Path:
        return self._folder / f"{room_id}.lock"

    @property
    def _folder(self) -> Path:
        return self.data / "workspaces"


def _id_of(key: str) -> str:
    """The name of a key's room: safe in a path whatever the key holds."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]
