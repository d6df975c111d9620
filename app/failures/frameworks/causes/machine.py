"""The machine: memory, disk, time limits, cancelled jobs, processes that died."""

from app.failures.frameworks.causes.cause import ANY, Cause, cause

CAUSES: tuple[Cause, ...] = (
    cause(
        "infrastructure",
        "disk-full",
        ("No space left on device", "ENOSPC", "disk quota exceeded", "There is not enough space on the disk"),
        ANY + r"(?:No space left on device|ENOSPC|[Dd]isk quota exceeded"
        r"|There is not enough space on the disk)",
    ),
    cause(
        "oom_killed",
        "oom",
        (
            "heap out of memory",
            "Cannot allocate memory",
            "OOMKilled",
            "oom-kill",
            "Out of memory",
            "out of memory",
            "OutOfMemoryError",
            "std::bad_alloc",
        ),
        ANY + r"(?:JavaScript heap out of memory|Cannot allocate memory|OOMKilled"
        r"|oom-kill|Out of memory: Kill|runtime: out of memory|OutOfMemoryError: (?:Java heap"
        r"|GC overhead|Metaspace)|virtual memory exhausted)|.*(?:^"
        r"|\s)Killed(?:\s+|$)",
    ),
    cause(
        "oom_killed",
        "oom",
        ("Killed\n", " Killed ", "Killed signal terminated", "exit code: 137", "exit code 137", "signal 9", "SIGKILL"),
        r"(?:.*: line \d+: +\d+ Killed |Killed$|.*Killed signal terminated program"
        r"|.*(?:exit code:? 137|signal 9,? SIGKILL|SIGKILL\b.*kill))",
    ),
    cause(
        "timeout",
        "timeout",
        (
            "exceeded the maximum execution time",
            "has timed out after",
            "has exceeded the maximum",
            "No output has been received in the last",
            "exceeded the maximum time limit for jobs",
            "execution took longer than",
            "Too long with no output",
            "timeout: sending signal",
            "job timed out",
        ),
        ANY + r"(?:exceeded the maximum execution time|The action .* has timed out after"
        r"|has exceeded the maximum|No output has been received in the last"
        r"|exceeded the maximum time limit for jobs|execution took longer than"
        r"|Too long with no output|timeout: sending signal|[Jj]ob timed out)",
    ),
    cause(
        "cancelled",
        "cancelled",
        (
            "The operation was canceled",
            "The run was canceled by",
            "Canceling since a higher priority",
            "The job was canceled",
        ),
        r"(?:Error: )?(?:The operation was canceled|The run was canceled by"
        r"|Canceling since a higher priority|The job was canceled)",
    ),
    cause(
        "crash",
        "crash",
        (
            "Segmentation fault",
            "core dumped",
            "Bus error",
            "Illegal instruction",
            "Fatal Python error",
            "terminate called after throwing",
            "The forked VM terminated",
            "fatal error has been detected by the Java Runtime",
        ),
        ANY + r"(?:Segmentation fault|\(core dumped\)|Bus error(?: |$)|Illegal instruction(?: "
        r"|$)|Fatal Python error|terminate called after throwing|The forked VM terminated without"
        r"|A fatal error has been detected by the Java Runtime)",
    ),
    cause(
        "crash",
        "asan",
        ("Sanitizer: ", "SUMMARY: "),
        r".*(?:(?:Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer: \S|SUMMARY: \w+Sanitizer)",
    ),
)
