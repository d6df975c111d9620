"""The kind of a job: its root cause (2.1, K-1 to K-9)."""
# ruff: noqa: E501 - lines of logs are as long, and as indented, as the tools print them

import pytest

from app.failures.log.steps import job_info
from app.failures.model import JOB_KINDS, JobInfo, Reading
from app.failures.read import read_log

FAILED = "##[error]Process completed with exit code {}.\n"
PYTEST_FAIL = """\
============================= test session starts ==============================
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

>   assert False, "{message}"
E   AssertionError: {message}

tests/test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_a - AssertionError: {message}
============================== 1 failed in 0.10s ===============================
"""
PASSED = "============================= test session starts ==============================\n============================== 3 passed in 0.10s ===============================\n"


def fail(message: str = "no") -> str:
    return PYTEST_FAIL.format(message=message)


ROWS: list[tuple[str, str, int | None, str]] = [
    ("a test failed", fail(), 1, "test_failure"),
    ("all failing tests timed out (K-8)", fail("Timeout of 50ms exceeded."), 1, "timeout"),
    ("tests passed", PASSED + "Post job cleanup.\n", None, "no_failure"),
    ("error rows in a passing job (K-3)", "a.c:1:2: error: no\nPost job cleanup.\n", None, "no_failure"),
    ("dns", "curl: (6) Could not resolve host: nope.invalid\n", 6, "infrastructure"),
    ("disk", "write failed: No space left on device\n", 1, "infrastructure"),
    (
        "tls",
        "curl: (35) error:14094410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure\n",
        35,
        "infrastructure",
    ),
    ("git", "fatal: unable to access 'https://github.com/a/b/': Empty reply from server\n", 128, "infrastructure"),
    ("lost runner", "##[error]The hosted runner lost communication with the server.\n", 1, "infrastructure"),
    ("rate limit", "Error: toomanyrequests: You have reached your pull rate limit.\n", 1, "infrastructure"),
    (
        "pip",
        "ERROR: Could not find a version that satisfies the requirement six==999\nERROR: No matching distribution found for six==999\n",
        1,
        "dependency_install",
    ),
    (
        "pip without network (network wins)",
        "WARNING: Retrying after NewConnectionError\nERROR: pip._vendor.urllib3 NewConnectionError: Temporary failure in name resolution\nERROR: No matching distribution found for six\n",
        1,
        "infrastructure",
    ),
    (
        "npm",
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/nope\n",
        1,
        "dependency_install",
    ),
    (
        "npm resolve",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\n",
        1,
        "dependency_install",
    ),
    (
        "npm network",
        "npm ERR! code ENOTFOUND\nnpm ERR! errno ENOTFOUND\nnpm ERR! network request to https://x failed\n",
        1,
        "infrastructure",
    ),
    (
        "maven",
        "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project a:b:jar:1\n",
        1,
        "dependency_install",
    ),
    ("apt", "E: Unable to locate package nope\n", 100, "dependency_install"),
    ("go modules", "cart.go:3:8: no required module provides package example.com/x; to add it:\n", 1, "compile_error"),
    ("bundler", 'Bundler could not find compatible versions for gem "rack":\n', 6, "dependency_install"),
    (
        "memory, node",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
        134,
        "oom_killed",
    ),
    ("memory, by its code", "doing things\n", 137, "oom_killed"),
    ("time, by its code", "doing things\n", 124, "timeout"),
    (
        "time of the job",
        "##[error]The job running on runner x has exceeded the maximum execution time of 360 minutes.\n",
        None,
        "timeout",
    ),
    ("crash", "Segmentation fault (core dumped)\n", 139, "crash"),
    (
        "sanitizer",
        "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\nSUMMARY: AddressSanitizer: heap-use-after-free a.c:3\n",
        1,
        "crash",
    ),
    ("command not found", "bash: line 1: nope: command not found\n", 127, "config_error"),
    ("missing target", "make: *** No rule to make target 'nope'.  Stop.\n", 2, "config_error"),
    ("missing script", 'npm ERR! Missing script: "nope"\n', 1, "config_error"),
    (
        "usage of pytest",
        "============================= test session starts ==============================\nERROR: usage: pytest [options]\n",
        4,
        "config_error",
    ),
    (
        "no tests",
        "============================= test session starts ==============================\ncollected 0 items\n\n============================ no tests ran in 0.01s =============================\n",
        5,
        "no_tests",
    ),
    ("cancelled", "##[error]The operation was canceled.\n", None, "cancelled"),
    ("cancelled after a failing test (K-5)", fail() + "##[error]The operation was canceled.\n", None, "test_failure"),
    ("compile error", "a.c:1:2: error: no\n", 1, "compile_error"),
    ("lint", "./a.py:33:11: F821 undefined name 'x'\n", 1, "lint"),
    (
        "two linters are still lint (K-2)",
        "./a.py:33:11: F821 undefined name 'x'\na.py:3: error: no  [arg-type]\n",
        1,
        "lint",
    ),
    ("formatter", "would reformat a.py\n1 file would be reformatted.\n", 1, "lint"),
    (
        "licences",
        "[ERROR] Failed to execute goal org.apache.rat:apache-rat-plugin:0.10:check (default) on project x: Too many files with unapproved license: 1\n",
        1,
        "lint",
    ),
    (
        "maven says why",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8:compile (x) on project y: Fatal error compiling: invalid target release: 17\n",
        1,
        "compile_error",
    ),
    (
        "an install failure explains suites that do not load (K-1)",
        "npm ERR! code ERESOLVE\nFAIL ./a.test.js\n  ● Test suite failed to run\n\n    Cannot find module 'x'\n\nTest Suites: 1 failed, 1 total\n",
        1,
        "dependency_install",
    ),
    (
        "suites that do not load",
        "FAIL ./a.test.js\n  ● Test suite failed to run\n\n    SyntaxError: no\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n",
        1,
        "collection_error",
    ),
    (
        "a package that does not build and a failing test (K-2)",
        "# x/a\na/a.go:3:1: undefined: y\nFAIL\tx/a [build failed]\n--- FAIL: TestB (0.00s)\n    b_test.go:5: no\nFAIL\nFAIL\tx/b\t0.01s\n",
        1,
        "mixed",
    ),
    (
        "internal error of pytest",
        "============================= test session starts ==============================\nINTERNALERROR> RuntimeError: hook bug\n",
        3,
        "crash",
    ),
    (
        "a log that ends inside a run (K-7)",
        "============================= test session starts ==============================\ncollected 4 items\n",
        None,
        "unknown",
    ),
    ("nothing said", "hello\n", 1, "unknown"),
    ("empty", "", None, "unknown"),
    (
        "compile error in another command than the failing test's",
        "##[group]Run make\na.c:1:2: error: no\n" + FAILED.format(2) + "##[group]Run pytest\n" + fail(),
        1,
        "mixed",
    ),
]


@pytest.mark.parametrize(("text", "code", "kind"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_job_has_the_kind_of_its_root_cause(text: str, code: int | None, kind: str) -> None:
    reading = read_log([(text + (FAILED.format(code) if code is not None else "")).encode()])
    assert reading.job_kind == kind
    assert kind in JOB_KINDS
    if code is not None:
        assert reading.exit_code == code


def test_a_cause_without_a_row_is_one_diagnostic() -> None:
    """OUT-9."""
    reading = read_log([b"curl: (6) Could not resolve host: nope.invalid\n" + FAILED.format(6).encode()])
    assert [(row.file, row.line, row.tool, row.message) for row in reading.diagnostics] == [
        (None, None, "network", "curl: (6) Could not resolve host: nope.invalid")
    ]


CLOSINGS = [
    ("GitHub Actions", "##[error]Process completed with exit code 7.", 7),
    ("Travis", 'The command "make test" exited with 2.\n\nDone. Your build exited with 1.', 2),
    ("Travis passes", 'The command "make test" exited with 0.\n\nDone. Your build exited with 0.', 0),
    ("GitLab", "ERROR: Job failed: exit code 3", 3),
    ("CircleCI", "Exited with code exit status 4", 4),
    ("Buildkite", "Error: The command exited with status 5", 5),
]


@pytest.mark.parametrize(("text", "code"), [row[1:] for row in CLOSINGS], ids=[row[0] for row in CLOSINGS])
def test_the_exit_code_of_each_system_is_read(text: str, code: int) -> None:
    """Section 1.3."""
    assert read_log([text.encode()]).exit_code == code


JOB = {
    "id": 42,
    "name": "build (ubuntu)",
    "conclusion": "failure",
    "started_at": "2026-11-30T09:00:00Z",
    "completed_at": "2026-11-30T09:02:00Z",
    "steps": [
        {
            "name": "lint",
            "number": 1,
            "conclusion": "success",
            "started_at": "2026-11-30T09:00:00Z",
            "completed_at": "2026-11-30T09:00:59Z",
        },
        {
            "name": "test",
            "number": 2,
            "conclusion": "failure",
            "started_at": "2026-11-30T09:01:00Z",
            "completed_at": "2026-11-30T09:01:30Z",
        },
    ],
}


def with_steps(*parts: tuple[str, str]) -> Reading:
    text = "".join(f"{stamp} {line}\n" for stamp, block in parts for line in block.splitlines())
    return read_log([text.encode()], job=job_info(JOB))


def go_failure(name: str) -> str:
    return f"=== RUN   {name}\n    a_test.go:1: no\n--- FAIL: {name} (0.00s)\nFAIL\nFAIL\tx/a\t0.1s"


def test_failures_of_a_passing_step_are_dropped() -> None:
    """IN-4, LP-5."""
    reading = with_steps(
        ("2026-11-30T09:00:10.0000000Z", go_failure("TestGreen")),
        ("2026-11-30T09:01:10.0000000Z", go_failure("TestRed")),
    )
    assert [found.test_id for found in reading.failures] == ["TestRed"]


def test_a_failed_step_that_prints_nothing_falls_back_to_the_whole_log() -> None:
    """IN-4, IN-5."""
    reading = with_steps(
        ("2026-11-30T09:00:10.0000000Z", go_failure("TestPrintedElsewhere")),
        ("2026-11-30T09:01:10.0000000Z", "nothing"),
    )
    assert [found.test_id for found in reading.failures] == ["TestPrintedElsewhere"]


def test_within_the_first_second_the_last_command_begins_the_step() -> None:
    """Section 1.3: times have whole seconds."""
    reading = with_steps(
        ("2026-11-30T09:01:00.1000000Z", go_failure("TestOfThePastStep")),
        ("2026-11-30T09:01:00.5000000Z", "##[group]Run go test\n" + go_failure("TestOfThisStep")),
    )
    assert [found.test_id for found in reading.failures] == ["TestOfThisStep"]


@pytest.mark.parametrize(
    ("conclusion", "kind"), [("cancelled", "cancelled"), ("timed_out", "timeout"), ("success", "no_failure")]
)
def test_the_conclusion_decides_when_no_test_explains_the_end(conclusion: str, kind: str) -> None:
    """OUT-8."""
    assert read_log([b"hello\n"], job=JobInfo(conclusion=conclusion)).job_kind == kind


def test_job_json_of_any_shape_is_tolerated() -> None:
    odd = job_info({"id": "x", "steps": [1, {"name": None, "started_at": "nonsense"}], "conclusion": None})
    assert odd.job_id == 0
    assert odd.steps[0].started_at is None
    assert job_info({}).steps == ()
