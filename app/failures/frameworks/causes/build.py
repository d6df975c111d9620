"""A build or a checker that stopped without a source row."""

from app.failures.frameworks.causes.cause import Cause, cause

CAUSES: tuple[Cause, ...] = (
    cause(
        "compile_error",
        "maven-compiler",
        ("COMPILATION ERROR", "Compilation failure", "Fatal error compiling", "Compilation failed; see"),
        r"(?:\[ERROR\] )?.*(?:COMPILATION ERROR|Compilation failure"
        r"|Fatal error compiling.*|Compilation failed; see the compiler)",
    ),
    cause(
        "compile_error",
        "cargo-build",
        ("could not compile `", "aborting due to "),
        r"error: (?:could not compile `|aborting due to )",
    ),
    cause(
        "compile_error",
        "ld",
        ("ld returned ", "linker command failed", "Undefined symbols for architecture", "linking with `"),
        r".*(?:ld returned \d+ exit status|linker command failed"
        r"|Undefined symbols for architecture|error: linking with `)",
    ),
    cause(
        "compile_error",
        "elixirc",
        ("== Compilation error", "could not compile dependency", "Compilation error in file"),
        r".*(?:== Compilation error in file|could not compile dependency)",
    ),
    cause("compile_error", "swiftc", ("The following build commands failed",), r"The following build commands failed"),
    cause(
        "lint",
        "maven-checkstyle",
        ("Checkstyle violations", "checkstyle violations", "Checkstyle rule violations"),
        r".*(?:You have \d+ Checkstyle violation"
        r"|Checkstyle rule violations were found"
        r"|checkstyle violations)",
    ),
    cause(
        "lint",
        "maven-rat",
        ("unapproved license", "Unapproved licenses"),
        r".*(?:Too many files with unapproved license"
        r"|\b\d{1,6} Unknown Licenses|Files with unapproved licenses)",
    ),
    cause(
        "lint",
        "gradle-spotless",
        ("had format violations", "spotlessApply"),
        r".*(?:files had format violations|Run '.*spotlessApply' to fix)",
    ),
    cause(
        "lint",
        "mima",
        ("inary compatibility check", "mimaReportBinaryIssues"),
        r".*(?:Binary compatibility check failed|[Ff]ailed binary compatibility check)",
    ),
    cause(
        "lint",
        "maven",
        ("Failed to execute goal",),
        r"\[ERROR\] Failed to execute goal \S*(?:checkstyle|spotless"
        r"|pmd|spotbugs|findbugs|-rat-|license|formatter|japicmp"
        r"|revapi|sortpom|animal-sniffer|impsort|fmt-maven|ktlint"
        r"|detekt|modernizer|forbiddenapis)\S*:",
    ),
    cause(
        "compile_error",
        "maven-compiler",
        ("Failed to execute goal",),
        r"\[ERROR\] Failed to execute goal \S*(?:compiler"
        r"|kotlin|scala|groovy|gmavenplus)\S*:(?:test-?)?compile",
    ),
    cause(
        "lint",
        "gradle",
        ("Execution failed for task",),
        r"Execution failed for task '\S*?(?:[cC]heckstyle|spotless|[pP]md"
        r"|[sS]potbugs|detekt|[kK]tlint|:lint|[lL]icense|[cC]odenarc|apiCheck"
        r"|japicmp|[fF]orbiddenApis)",
    ),
    cause(
        "compile_error",
        "gradle",
        ("Execution failed for task",),
        r"Execution failed for task '\S*?:compile(?!\S*Dependencies)\S*'",
    ),
    cause("lint", "ruff", ("would be reformatted", "file reformatted"), r"\d+ files? would be reformatted"),
    cause("lint", "prettier", ("Code style issues",), r".*Code style issues (?:found|fixed)"),
    cause("lint", "mix-format", ("mix format failed",), r".*mix format failed"),
    cause(
        "lint",
        "license",
        ("license header", "License header"),
        r".*(?:missing|incorrect|without) (?:a )?[Ll]icense header",
    ),
)
