"""Be an ordinary user for a while: a forked child without rights, so that nothing has to be readable anew."""

import concurrent.futures.thread  # noqa: F401  asyncio asks for it late, when the child cannot read the interpreter
import os
import pickle
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

NOBODY = 65534
T = TypeVar("T")


def as_ordinary_user(work: Callable[[], T]) -> T:
    """The answer of `work`, done by a child that gave up root; a failure there fails here with its traceback."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads at a fork; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(work, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    assert said, "the child died"
    answer, trouble = pickle.loads(said)
    assert not trouble, trouble
    return answer


def user_reads_us() -> bool:
    """Can an ordinary user read this checkout? Not where a folder above it is shut (a home, a temporary folder)."""
    us = Path(__file__)
    return os.geteuid() != 0 or as_ordinary_user(lambda: os.access(us, os.R_OK))


def _child(work: Callable[[], Any], pipe: int) -> None:
    code = 1
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        os.environ["HOME"] = "/nonexistent"
        os.chdir("/")
        try:
            said = (work(), "")
        except BaseException:
            said = (None, traceback.format_exc())
        with os.fdopen(pipe, "wb") as file:
            pickle.dump(said, file)
        code = 0
    finally:
        os._exit(code)


@contextmanager
def reachable_folder(uid: int | None = None) -> Iterator[Path]:
    """A folder that other uids can search; pytest's own temporary folders are shut for them."""
    folder = Path(tempfile.mkdtemp(prefix="remedy-test-"))
    try:
        folder.chmod(0o711)
        if uid is not None and os.geteuid() == 0:
            os.chown(folder, uid, uid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
