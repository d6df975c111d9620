"""The filter's bytes, read by a small interpreter of classic BPF."""

import errno
import struct

import pytest

from app.workspace.sandbox.seccomp import MACHINES, filter_of, numbers

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def answer(machine: str, number: int, *args: int, audit: int | None = None) -> int:
    """What the kernel would answer to one call."""
    code = filter_of(machine)
    assert code is not None
    program = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    wide = [*args, *[0] * (6 - len(args))]
    arch = MACHINES[machine].audit if audit is None else audit
    data = struct.pack("<IIQ6Q", number, arch, 0, *wide)
    loaded, at = 0, 0
    while True:
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x06:
            return int(value)
        if operation == 0x20:
            loaded = struct.unpack_from("<I", data, value)[0]
            continue
        holds = {0x15: loaded == value, 0x25: loaded > value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[
            operation
        ]
        at += yes if holds else no


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_the_list_is_denied_and_others_are_not(machine: str) -> None:
    """SX-18, SB-32."""
    assert {answer(machine, number) for number in numbers(machine).values()} == {ERRNO | errno.EPERM}
    assert len(filter_of(machine) or b"") // 8 < 256
    allowed = [n for n in range(500) if answer(machine, n, 1) == ALLOW]
    assert len(allowed) > 400


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide_for_five_calls(machine: str) -> None:
    """Sandbox.md, section 5: another architecture, clone3, namespaces by clone, families, terminals, segments."""
    m = MACHINES[machine]
    assert answer(machine, 1, audit=0x40000003) == KILL
    assert answer(machine, m.clone3) == ERRNO | errno.ENOSYS
    assert answer(machine, m.clone, 0x10000000) == ERRNO | errno.EPERM
    assert answer(machine, m.clone, 0x01200011) == ALLOW
    assert [answer(machine, m.socket, family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
    assert {answer(machine, m.socket, family) for family in (0, 3, 17, 31, 38, 40)} == {ERRNO | errno.EAFNOSUPPORT}
    assert {answer(machine, m.ioctl, 0, request) for request in (0x5412, 0x541C)} == {ERRNO | errno.EPERM}
    assert answer(machine, m.ioctl, 0x5412, 0x5401) == ALLOW
    assert [answer(machine, m.shmget, 0, size) for size in (4096, 65536)] == [ALLOW] * 2
    assert {answer(machine, m.shmget, 0, size) for size in (65537, 1 << 32, (1 << 32) + 1)} == {ERRNO | errno.EPERM}


def test_a_machine_without_a_table_has_no_filter() -> None:
    """SX-18."""
    assert filter_of("riscv64") is None


def test_x32_calls_do_not_exist() -> None:
    """SB-33."""
    assert answer("x86_64", 0x40000000 + 39) == ERRNO | errno.ENOSYS
