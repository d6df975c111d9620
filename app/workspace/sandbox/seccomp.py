"""The system-call filter as bytes, one table per machine; pure (sandbox.md, section 5)."""

import errno
import struct
from collections.abc import Mapping
from dataclasses import dataclass

_LD, _JEQ, _JGT, _JGE, _JSET, _RET = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NR, _ARCH, _ARGS = 0, 4, 16
_X32 = 0x40000000
_CLONE_NEW = 0x7E020000
_SHM_BYTES = 65536
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

# name -> number on x86_64 and arm64 (include/uapi/asm-generic/unistd.h); None where the machine has no such call.
_DENIED: Mapping[str, tuple[int, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "uselib": (134, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "fanotify_init": (300, 262),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
}


@dataclass(frozen=True)
class Machine:
    """Numbers of one architecture: its audit id and the calls whose arguments are looked at."""

    audit: int
    column: int
    clone: int
    socket: int
    ioctl: int
    shmget: int
    clone3: int = 435


MACHINES: Mapping[str, Machine] = {
    "x86_64": Machine(0xC000003E, 0, clone=56, socket=41, ioctl=16, shmget=29),
    "aarch64": Machine(0xC00000B7, 1, clone=220, socket=198, ioctl=29, shmget=194),
}


def numbers(machine: str) -> dict[str, int]:
    """Name -> number of the denied calls that `machine` has."""
    column = MACHINES[machine].column
    return {name: number for name, row in _DENIED.items() if (number := row[column]) is not None}


def filter_of(machine: str) -> bytes | None:
    """The filter as an array of `struct sock_filter`, or None for a machine without a table (SX-18)."""
    found = MACHINES.get(machine)
    if found is None:
        return None
    return b"".join(struct.pack("<HBBI", *row) for row in _program(machine, found))


def _program(machine: str, m: Machine) -> list[tuple[int, int, int, int]]:
    rows = [_load(_ARCH), *_unless(m.audit, _KILL), _load(_NR)]
    if machine == "x86_64":
        rows += [(_JGE, 0, 1, _X32), _answer(errno.ENOSYS)]
    rows += _when(m.clone3, [_answer(errno.ENOSYS)])
    for number in numbers(machine).values():
        rows += _when(number, [_answer(errno.EPERM)])
    rows += _when(m.clone, [_load(_ARGS), (_JSET, 0, 1, _CLONE_NEW), _answer(errno.EPERM), (_RET, 0, 0, _ALLOW)])
    known = [(_JEQ, len(_FAMILIES) - n, 0, family) for n, family in enumerate(_FAMILIES)]
    rows += _when(m.socket, [_load(_ARGS), *known, _answer(errno.EAFNOSUPPORT), (_RET, 0, 0, _ALLOW)])
    pushes = [(_JEQ, len(_TERMINAL) - n, 0, request) for n, request in enumerate(_TERMINAL)]
    rows += _when(m.ioctl, [_load(_ARGS + 8), *pushes, (_RET, 0, 0, _ALLOW), _answer(errno.EPERM)])
    # The size is 64 bits wide: its upper half must be 0, its lower half small.
    size = [_load(_ARGS + 12), (_JEQ, 0, 2, 0), _load(_ARGS + 8), (_JGT, 0, 1, _SHM_BYTES)]
    rows += _when(m.shmget, [*size, _answer(errno.EPERM), (_RET, 0, 0, _ALLOW)])
    return [*rows, (_RET, 0, 0, _ALLOW)]


def _load(offset: int) -> tuple[int, int, int, int]:
    return (_LD, 0, 0, offset)


def _answer(code: int) -> tuple[int, int, int, int]:
    return (_RET, 0, 0, _ERRNO | code)


def _unless(value: int, action: int) -> list[tuple[int, int, int, int]]:
    return [(_JEQ, 1, 0, value), (_RET, 0, 0, action)]


def _when(number: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Skip `then` unless the loaded number is `number`; each `then` ends in a return."""
    return [(_JEQ, 0, len(then), number), *then]
