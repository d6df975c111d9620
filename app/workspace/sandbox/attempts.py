"""What hostile code tries from inside a sandbox; standard library only, runs inside, prints one line per attempt.

The argument is one JSON object: `pid` (the app's), `key` (a private file of it), `port` (a loopback service of it),
`abstract` and `socket` (its Unix sockets), `numbers` (system calls by name), `names` (allowed in the environment),
`workspace` (the one folder that must be writable).
"""

import ctypes
import errno
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

ASKED: dict[str, Any] = {}
LIBC = ctypes.CDLL(None, use_errno=True)
DENIED = (errno.EPERM, errno.EACCES, errno.ENOSYS)


def environment() -> str | None:
    extra = sorted(set(os.environ) - set(ASKED["names"]))
    return f"holds {', '.join(extra)}" if extra else None


def processes() -> str | None:
    count = sum(name.isdigit() for name in os.listdir("/proc"))
    return f"{count} processes are visible" if count > 9 else None


def first_process() -> str | None:
    with open("/proc/1/environ", "rb") as file:
        extra = [part for part in file.read().split(b"\0") if part and not part.startswith((b"PATH=", b"PWD="))]
    return "its environment shows more than PATH" if extra else None


def app_process() -> str | None:
    for name in ("environ", "maps", "root", "cwd", "mem"):
        path = f"/proc/{ASKED['pid']}/{name}"
        if _reads(path) and not _is_ours(ASKED["pid"]):
            return f"{path} can be read"
    return None


def private_files() -> str | None:
    for path in (ASKED["key"], f"/proc/1/root{ASKED['key']}", "/etc/shadow", "/root/.ssh", "/var/run/secrets"):
        if _reads(path):
            return f"{path} can be read"
    return None


def system_folders() -> str | None:
    for folder in ("/", "/etc", "/usr", "/usr/local", "/dev", "/proc", "/sys"):
        if _writes(os.path.join(folder, "remedy-attempt"), os.O_CREAT):
            return f"{folder} can be written"
    return None


def kernel_settings() -> str | None:
    for path in (
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/sys/kernel/mm/ksm/run",
    ):
        if _writes(path, 0):
            return f"{path} opens for writing"
    return None


def devices() -> str | None:
    allowed = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "core"}
    extra = sorted(set(os.listdir("/dev")) - allowed - {"stdin", "stdout", "stderr", "console"})
    return f"/dev holds {', '.join(extra)}" if extra else None


def network() -> str | None:
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        if _connects(family, (address, ASKED["port"])):
            return f"the app's port answers on {address}"
    for name in (ASKED["socket"], "\0" + ASKED["abstract"]):
        if _connects(socket.AF_UNIX, name):
            return "a Unix socket of the app answers"
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    return f"interfaces {', '.join(names)}" if names else None


def families() -> str | None:
    for name, family in (("AF_PACKET", 17), ("AF_ALG", 38), ("AF_VSOCK", 40), ("AF_BLUETOOTH", 31)):
        try:
            socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_STREAM).close()
        except OSError:
            continue
        return f"{name} opens"
    return None


def system_calls() -> str | None:
    for name, number in ASKED["numbers"].items():
        ctypes.set_errno(0)
        answer = LIBC.syscall(number, 0, 0, 0, 0, 0)
        if answer != -1 or ctypes.get_errno() not in DENIED:
            return f"{name} is not denied ({os.strerror(ctypes.get_errno())})"
    return None


def namespaces() -> str | None:
    if LIBC.unshare(0x10000000) == 0:
        return "a user namespace can be made"
    return "a file system can be mounted" if LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 else None


def rights() -> str | None:
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    wanted = {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16, "Seccomp": "2"}
    wrong = [name for name, value in wanted.items() if status.get(name, value).strip() != value]
    if os.getuid() == 0:
        wrong.append("uid 0")
    return f"{', '.join(wrong)}" if wrong else None


def descriptors() -> str | None:
    """0, 1 and 2 are pipes or /dev/null, anything else is the list's own."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if int(name) > 2 or not target.startswith(("pipe:", "/dev/null", "socket:")):
            return f"descriptor {name} is {target}"
    return None


def terminal() -> str | None:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return None
    return "there is a controlling terminal"


def work() -> str | None:
    """Not an attempt: what must go on working."""
    for folder in (ASKED["workspace"], "/tmp", os.environ["HOME"], "/dev/shm"):
        path = os.path.join(folder, "remedy-work")
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)
    with open("/dev/null", "wb") as file:
        file.write(b"x")
    return None


ATTEMPTS: tuple[Callable[[], str | None], ...] = (
    environment,
    processes,
    first_process,
    app_process,
    private_files,
    system_folders,
    kernel_settings,
    devices,
    network,
    families,
    system_calls,
    namespaces,
    rights,
    descriptors,
    terminal,
    work,
)


def _connects(family: int, address: Any) -> bool:
    try:
        with socket.socket(family) as client:
            client.settimeout(1)
            return client.connect_ex(address) == 0
    except OSError:
        return False


def _reads(path: str) -> bool:
    try:
        if os.path.isdir(path):
            return bool(os.listdir(path))
        with open(path, "rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _writes(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | flags))
    except OSError:
        return False
    return True


def _is_ours(pid: int) -> bool:
    """In a namespace of our own the app's number may be one of our processes."""
    return processes() is None and pid < 10


def _answers() -> Iterator[tuple[str, str]]:
    for attempt in ATTEMPTS:
        try:
            found = attempt()
        except OSError as error:
            found = f"{error}" if attempt is work else None
        yield attempt.__name__, f"OPEN {found}" if found else "blocked"


def _leave_daemon() -> None:
    """A process that has left its parent, its session and its pipes; the caller looks for it."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in (0, 1, 2):
                os.close(descriptor)
            os.execv("/bin/sleep", ["sleep", "600"])
        os._exit(0)
    os.wait()


if __name__ == "__main__":
    ASKED |= json.loads(sys.argv[1])
    for name, answer in _answers():
        sys.stdout.write(f"{name}: {answer}\n")
    sys.stdout.flush()
    _leave_daemon()
