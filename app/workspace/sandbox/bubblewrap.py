"""The bubblewrap backend: its options as a pure list, its start (sandbox.md, 4)."""

import asyncio
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from app.workspace.sandbox.chain import Staged, in_own_mounts, limited, stage
from app.workspace.sandbox.endpoints import wrap
from app.workspace.sandbox.model import HOME, MIB, WORKSPACE, SandboxUnavailable, Spec, Tier, Workspace
from app.workspace.sandbox.pipes import Pipes
from app.workspace.sandbox.process import SandboxProcess, Started
from app.workspace.sandbox.programs import CHAIN_ENV
from app.workspace.sandbox.seccomp import filter_of
from app.workspace.sandbox.uids import reap
from app.workspace.sandbox.watchdog import Watch

PATH = "/usr/local/bin:/usr/bin:/bin"
TMP_BYTES, SHM_BYTES, RUN_BYTES = 256 * MIB, 64 * MIB, 16 * MIB

ETC: Mapping[str, str] = {
    "/etc/passwd": "agent:x:1000:1000::/home/agent:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": "agent:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 sandbox\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


class Variant(Enum):
    """How the namespaces are made (sandbox.md, 4.5)."""

    STRICT = "strict"
    HOST_PROC = "read-only /proc"


@dataclass(frozen=True)
class Bubblewrap:
    """One bwrap program in one variant. `tier` is what its probe measured, `secrets` may be in no Spec (SX-12).

    `staging` is a folder of ours in which each run gets empty places for toolchains that its uid cannot reach.
    """

    program: Path
    variant: Variant
    tier: Tier
    toolchains: Mapping[str, Path] = field(default_factory=dict)
    secrets: Sequence[str] = field(default=(), repr=False)
    own_loopback: bool = True

    @property
    def name(self) -> str:
        return "bwrap" if self.variant is Variant.STRICT else f"bwrap, {self.variant.value}"

    def seen(self, workspace: Workspace, inside: str) -> str:
        """Paths are the true ones inside."""
        return inside

    async def start(self, spec: Spec) -> SandboxProcess:
        """Raises SandboxUnavailable for a machine without a filter, ValueError for a Spec that holds a secret."""
        refuse_secrets(spec, self.secrets)
        code = filter_of(platform.machine())
        if code is None:
            raise SandboxUnavailable(f"There is no system-call filter for {platform.machine()} machines (SX-18).")
        descriptors: list[int] = []
        spec, channel = wrap(spec, descriptors)
        place = spec.workspace
        staged = stage({**self.toolchains, **place.binds}, place.uid, Path(f"{place.path}.mounts"))
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        descriptors.append(write_end)
        try:
            wanted = options(spec, self.variant, staged, _Files(descriptors))
            filtered = ["--seccomp", str(memfd(code, descriptors)), "--json-status-fd", str(write_end)]
            arguments = memfd("\0".join([*wanted, *filtered, *SEALED]).encode() + b"\0", descriptors)
            argv = [*in_own_mounts(staged), *limited(place.uid, spec.limits)]
            argv += [str(self.program), "--args", str(arguments), "--", *spec.argv]
            pipes = await Pipes.spawn(argv, CHAIN_ENV, "/", descriptors, spec.stdin)
        except BaseException:
            os.close(read_end)
            if channel is not None:
                channel.close()
            raise
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return SandboxProcess(replace(self._started(pipes, spec, read_end), channel=channel))

    def _started(self, pipes: Pipes, spec: Spec, status: int) -> Started:
        place, limits = spec.workspace, spec.limits
        folders = () if place.frozen else (place.path,)
        tmpfs = TMP_BYTES + SHM_BYTES + RUN_BYTES + (place.home_bytes if place.home is None else 0)
        watched = Watch(limits, (*folders, *place.writable.values(), *([place.home] if place.home else [])), tmpfs)

        async def survivors() -> None:
            if place.uid is not None:
                await asyncio.to_thread(reap, place.uid)

        return Started(pipes, limits, self.tier, self.name, watched, status, survivors, spec.stream)


# Last of all: before these lines nothing could be bound below the folders that they shut.
SEALED = ("--remount-ro", "/usr/local", "--remount-ro", "/dev", "--remount-ro", "/")


class _Files:
    """Turns content into descriptors that bwrap copies from."""

    def __init__(self, descriptors: list[int]) -> None:
        self._descriptors = descriptors

    def __call__(self, content: bytes) -> str:
        return str(memfd(content, self._descriptors))


def options(spec: Spec, variant: Variant, staged: Staged, file: "_Files") -> list[str]:
    """The list of sandbox.md, 4.2, up to the filter; `file` gives a descriptor for content."""
    place = spec.workspace
    etc = [part for path, text in ETC.items() for part in ("--file", file(text.encode()), path)]
    proc = ["--proc", "/proc"] if variant is Variant.STRICT else ["--ro-bind", "/proc", "/proc"]
    home = (
        ["--size", str(place.home_bytes), "--tmpfs", HOME] if place.home is None else ["--bind", str(place.home), HOME]
    )
    own = [part for path in place.read_only for part in ("--ro-bind", f"{place.path}/{path}", f"{WORKSPACE}/{path}")]
    shown = [part for inside, path in sorted(staged.binds.items()) for part in ("--ro-bind", str(path), inside)]
    kept = [part for inside, path in place.writable.items() for part in ("--bind", str(path), inside)]
    given = [
        part for path, data in place.files.items() for part in ("--perms", "0600", "--ro-bind-data", file(data), path)
    ]
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", "sandbox", "--uid", "1000", "--gid", "1000", "--disable-userns"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--ro-bind", "/usr", "/usr", "--perms", "0755", "--size", str(MIB), "--tmpfs", "/usr/local"),
        *_merged(("/bin", "/sbin", "/lib", "/lib32", "/lib64")),
        *_try(("/etc/alternatives", "/etc/ssl/certs", "/etc/ld.so.cache", "/etc/localtime")),
        *etc,
        *proc,
        *("--dev", "/dev", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"),
        *("--size", str(TMP_BYTES), "--tmpfs", "/tmp", "--size", str(RUN_BYTES), "--tmpfs", "/run"),
        *home,
        *("--ro-bind" if place.frozen else "--bind", str(place.path), WORKSPACE),
        *own,
        *shown,
        *kept,
        *given,
        *("--chdir", f"{WORKSPACE}/{spec.cwd}".rstrip("/"), "--clearenv"),
        *(part for key, value in environment(spec.env, HOME).items() for part in ("--setenv", key, value)),
    ]


def environment(env: Mapping[str, str], home: str) -> dict[str, str]:
    """The whole environment of a run: these names, and what the caller built from nothing (SX-11)."""
    return {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8", **env}


def _merged(paths: Iterable[str]) -> list[str]:
    """A link is made again, a folder (a system that keeps /bin apart from /usr/bin) is bound."""
    found: list[str] = []
    for path in paths:
        if os.path.islink(path):
            found += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            found += ["--ro-bind", path, path]
    return found


def _try(paths: Iterable[str]) -> list[str]:
    return [part for path in paths for part in ("--ro-bind-try", path, path)]


def memfd(content: bytes, keep: list[int]) -> int:
    """A fresh descriptor that holds `content`, read from its start; fresh because all copies share one offset."""
    descriptor = os.memfd_create("remedy", os.MFD_CLOEXEC)
    keep.append(descriptor)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def refuse_secrets(spec: Spec, secrets: Sequence[str]) -> None:
    """No value of a secret may be in argv, environment or files of a run; a hit is our bug (SX-12)."""
    texts = [
        *spec.argv,
        *spec.env.values(),
        *(data.decode("utf-8", "replace") for data in spec.workspace.files.values()),
    ]
    for secret in secrets:
        if secret and any(secret in text for text in texts):
            raise ValueError("a secret of the app was about to be handed to a sandbox")
