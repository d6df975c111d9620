"""Logs of CI jobs as GitHub Actions writes them, made for tests: which tests fail and with which error."""

from collections.abc import Sequence

STAMP = "2026-11-30T10:00:00.0000000Z "
PAGES = "tests/test_pages.py::test_last_page_is_full"
OTHER = "tests/test_pages.py::test_a_part_of_a_page_counts"


def red(tests: Sequence[str] = (PAGES,), error: str = "assert 3 == 2") -> str:
    """The log of a pytest job in which these tests fail with this error."""
    return many([(test, error) for test in tests])


def many(failing: Sequence[tuple[str, str]]) -> str:
    """The log of a pytest job in which each test fails with its own error."""
    lines = [
        "##[group]Run python -m pytest",
        "python -m pytest",
        "##[endgroup]",
        "============================= test session starts ==============================",
        f"collected {len(failing) + 5} items",
        "",
        "=================================== FAILURES ===================================",
    ]
    for test, error in failing:
        file, _, name = test.partition("::")
        lines += [
            f"{f' {name} ':_^80}",
            "",
            f"    def {name.partition('[')[0]}():",
            f">       {error}",
            f"E       {error}",
            "",
            f"{file}:9: AssertionError",
        ]
    lines.append("=========================== short test summary info ============================")
    lines += [f"FAILED {test} - {error}" for test, error in failing]
    lines.append(f"========================= {len(failing)} failed, 5 passed in 0.12s =========================")
    lines.append("##[error]Process completed with exit code 1.")
    return "".join(f"{STAMP}{line}\n" for line in lines)


def broken_set_up(tests: Sequence[str] = (PAGES, OTHER)) -> str:
    """The log of a pytest job in which no test got past a fixture that wants a database."""
    error = "ConnectionRefusedError: [Errno 111] Connection refused"
    lines = [
        "##[group]Run python -m pytest",
        "python -m pytest",
        "##[endgroup]",
        "============================= test session starts ==============================",
        "==================================== ERRORS ====================================",
    ]
    for test in tests:
        lines += [f"{' ERROR at setup of ' + test.partition('::')[2] + ' ':_^80}", "", f"E       {error}", ""]
        lines.append("tests/conftest.py:7: ConnectionRefusedError")
    lines.append("=========================== short test summary info ============================")
    lines += [f"ERROR {test} - {error}" for test in tests]
    lines += [f"{f' {len(tests)} errors in 0.12s ':=^80}", "##[error]Process completed with exit code 1."]
    return "".join(f"{STAMP}{line}\n" for line in lines)


def broken_machine() -> str:
    """The log of a job whose machine lost the network before a test ran."""
    lines = [
        "##[group]Run pip install -r requirements.txt",
        "pip install -r requirements.txt",
        "##[endgroup]",
        "The runner has received a shutdown signal. This can happen when the runner service is stopped.",
        "##[error]The operation was canceled.",
    ]
    return "".join(f"{STAMP}{line}\n" for line in lines)


def broken_build() -> str:
    """The log of a job whose compiler stopped before a test could run."""
    lines = [
        "##[group]Run npx tsc --noEmit",
        "npx tsc --noEmit",
        "##[endgroup]",
        "src/cart.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/shop.ts(3,1): error TS2304: Cannot find name 'cart'.",
        "##[error]Process completed with exit code 2.",
    ]
    return "".join(f"{STAMP}{line}\n" for line in lines)


def nothing_known() -> str:
    """The log of a job that failed without naming a test."""
    lines = [
        "##[group]Run ./deploy.sh",
        "./deploy.sh",
        "##[endgroup]",
        "it did not work",
        "##[error]Process completed with exit code 1.",
    ]
    return "".join(f"{STAMP}{line}\n" for line in lines)
