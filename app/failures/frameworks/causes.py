"""Cause lines without a source row: network, install, memory, disk, time, crash, configuration (OUT-9)."""

import re
from dataclasses import dataclass
from typing import ClassVar

import re2

from app.failures.frameworks.detector import Line, Sink
from app.failures.model import JobKind


@dataclass(frozen=True)
class Cause:
    """A line that tells why a job failed. `tool` is its canonical name in section 5."""

    kind: JobKind
    tool: str
    wakes: tuple[str, ...]
    pattern: re.Pattern[str]


def _cause(kind: JobKind, tool: str, wakes: tuple[str, ...], pattern: str) -> Cause:
    return Cause(kind, tool, wakes, re.compile(pattern))


_ANY = r".{0,400}?"
CAUSES: tuple[Cause, ...] = (
    _cause("infrastructure", "network", ("Could not resolve host", "Couldn't resolve host", "Temporary failure in name resolution", "Temporary failure resolving", "unable to resolve host address", "Name or service not known"),
           _ANY + r"(?:Could(?: not|n't) resolve (?:host|proxy)|Temporary failure (?:in name resolution|resolving)|unable to resolve host address|Name or service not known)"),
    _cause("infrastructure", "network", ("SSL connect error", "SSL_connect", "TLS handshake", "handshake failure", "SSL_ERROR_SYSCALL", "ssl3_read_bytes", "gnutls_handshake"),
           _ANY + r"(?:SSL connect error|SSL_connect|TLS handshake timeout|handshake failure|SSL_ERROR_SYSCALL|gnutls_handshake\(\) failed)"),
    _cause("infrastructure", "network", ("unable to access 'http", "fatal: unable to connect to", "Could not read from remote repository", "early EOF", "RPC failed; ", "The remote end hung up"),
           r"(?:fatal: |error: )?(?:unable to access 'https?://.*': (?!The requested URL returned error: 40[134])|unable to connect to|Could not read from remote repository|early EOF|RPC failed;|The remote end hung up)"),
    _cause("infrastructure", "network", ("curl: (",), r"curl: \((?:5|6|7|18|28|35|52|55|56|92)\) .*|curl: \(22\) The requested URL returned error: (?:5\d\d|429)"),
    _cause("infrastructure", "network", ("Couldn't establish HTTP connection", "Network is unreachable", "No route to host", "dial tcp", "i/o timeout", "net/http: "),
           _ANY + r"(?:Couldn't establish HTTP connection|Network is unreachable|No route to host|dial tcp .*(?:timeout|no such host|refused|reset)|net/http: (?:TLS|request canceled))"),
    _cause("infrastructure", "network", ("ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "ETIMEDOUT", "ECONNREFUSED", "ERR_SOCKET_TIMEOUT"),
           r"(?:npm|yarn|pnpm|error).{0,60}?(?:(?:ERR!|error) )?(?:code |errno |An unexpected error occurred: ).{0,200}?(?:ENOTFOUND|EAI_AGAIN|ECONNRESET|ETIMEDOUT|ECONNREFUSED|ERR_SOCKET_TIMEOUT)"),
    _cause("infrastructure", "network", ("502 Bad Gateway", "503 Service", "504 Gateway", "500 Internal Server Error", "429 Too Many", "toomanyrequests", "rate limit exceeded", "Rate limit exceeded", "429 too many"),
           r"(?:error|ERROR|Error|E:|fatal|npm|curl|W:|Err:|\[ERROR\]|> |##).{0,300}?(?:502 Bad Gateway|503 Service|504 Gateway|500 Internal Server Error|429 [Tt]oo [Mm]any|toomanyrequests|[Rr]ate limit exceeded)|toomanyrequests: "),
    _cause("infrastructure", "network", ("Failed to fetch", "Hash Sum mismatch", "Unable to connect to", "Could not connect to", "Failed to connect to"),
           r"(?:E: (?:Failed to fetch|Unable to fetch)|E: .*Hash Sum mismatch|W: Failed to fetch|.{0,200}(?:Unable|Could not|Failed) to connect to (?:\S+\.)+\w+(?::\d+| port \d+))"),
    _cause("infrastructure", "network", ("Could not transfer artifact", "Connection timed out", "Read timed out", "Connection reset by peer", "Could not GET 'http", "Could not HEAD 'http", "ReadTimeoutError", "ConnectTimeoutError", "NewConnectionError", "ConnectionResetError"),
           r"\[ERROR\].*Could not transfer artifact.*(?:timed out|reset|refused|status code: 5|handshake|Name or service)|\s*> Could not (?:GET|HEAD) 'http|.*pip\._vendor.*(?:ReadTimeoutError|ConnectTimeoutError|NewConnectionError)|(?:E|Err|error|ERROR|fatal)\b.{0,200}(?:Connection timed out|Connection reset by peer)"),
    _cause("infrastructure", "network", ("lost communication with the server", "The runner has received a shutdown signal", "The hosted runner encountered an error", "failed to pull image", "Error response from daemon", "Docker pull failed"),
           _ANY + r"(?:lost communication with the server|The runner has received a shutdown signal|The hosted runner encountered an error|Error response from daemon: (?:Get|received unexpected|pull access|toomanyrequests|manifest)|Docker pull failed)"),
    _cause("infrastructure", "disk-full", ("No space left on device", "ENOSPC", "disk quota exceeded", "There is not enough space on the disk"), _ANY + r"(?:No space left on device|ENOSPC|[Dd]isk quota exceeded|There is not enough space on the disk)"),
    _cause("dependency_install", "pip-install", ("No matching distribution found", "ResolutionImpossible", "conflicting dependencies", "Failed building wheel for", "subprocess-exited-with-error", "Could not find a version that satisfies"),
           r"(?:ERROR: |\s*ERROR: |error: |× )?(?:No matching distribution found for|Could not find a version that satisfies the requirement|ResolutionImpossible|Cannot install .* because these package versions have conflicting dependencies|Failed building wheel for|subprocess-exited-with-error)"),
    _cause("dependency_install", "pip-install", ("version solving failed", "No solution found when resolving", "PackagesNotFoundError", "UnsatisfiableError", "LibMambaUnsatisfiableError", "ResolvePackageNotFound", "SolverProblemError"),
           r".{0,60}(?:version solving failed|No solution found when resolving|PackagesNotFoundError|UnsatisfiableError|ResolvePackageNotFound|SolverProblemError)"),
    _cause("dependency_install", "npm-install", ("npm ERR! code E", "npm error code E", "ERESOLVE", "ERR_PNPM_", "Couldn't find any versions for", "Couldn't find package", "npm \x1b"),
           r"npm (?:ERR!|error) code (?:E404|E401|E403|ERESOLVE|ETARGET|EINTEGRITY|EUSAGE|ENOVERSIONS|EBADENGINE|EBADPLATFORM|EPEERINVALID|ENOTSUP|EJSONPARSE)|.{0,10}ERR_PNPM_(?!RECURSIVE|RUN)|error Couldn't find (?:any versions for|package)|error .*The engine \"\w+\" is incompatible"),
    _cause("dependency_install", "npm-install", ("npm ERR! 404", "npm error 404", "lock file's", "can only install packages when your package.json"),
           r"npm (?:ERR!|error) (?:404 +(?:Not Found|'.*' is not)|`npm ci` can only install packages|.*lock file's)"),
    _cause("dependency_install", "maven-deps", ("Could not resolve dependencies for project", "Could not find artifact", "Non-resolvable parent POM", "Could not resolve all", "Could not resolve com.", "could not be resolved from the project repositories"),
           r"(?:\[ERROR\] .*(?:Could not resolve dependencies for project|Could not find artifact|Non-resolvable (?:parent|import) POM)|\s*(?:> )?Could not resolve all (?:files|dependencies|artifacts|task dependencies) for|.*\(or one of its dependencies\) could not be resolved)"),
    _cause("dependency_install", "bundler", ("Could not find gem", "Bundler could not find compatible versions", "An error occurred while installing", "Could not find compatible versions", "could not be installed to an installable", "installable set of packages"),
           r"(?:Could not find gem|Bundler could not find compatible versions|An error occurred while installing \S+|.*Your requirements could not be resolved to an installable set of packages|.*Could not find compatible versions)"),
    _cause("dependency_install", "go-mod", ("no required module provides package", "unknown revision", "cannot find module providing package", "missing go.sum entry", "reading https://proxy"),
           r".{0,300}(?:no required module provides package|unknown revision|cannot find module providing package|missing go\.sum entry)"),
    _cause("dependency_install", "cargo-build", ("failed to select a version for", "no matching package named", "failed to get `", "failed to download from"), r"error: (?:failed to select a version for|no matching package named|failed to get `)"),
    _cause("dependency_install", "apt", ("Unable to locate package", "has no installation candidate", "unmet dependencies", "Unable to correct problems", "Unable to find a match", "No available formula", "unable to select packages"),
           r"(?:E: (?:Unable to locate package|Package '.*' has no installation candidate|Unable to correct problems|Unmet dependencies)|Error: Unable to find a match|Error: No available formula|ERROR: unable to select packages|.*The following packages have unmet dependencies)"),
    _cause("dependency_install", "nuget-restore", ("error NU1", "Unable to find package", "Failed to restore"), r".*(?:error NU1\d{3}|Unable to find package '?\S+)"),
    _cause("dependency_install", "sbt", ("sbt.ResolveException", "ResolutionException", "unresolved dependency", "sbt.librarymanagement.ResolveException", "Error downloading"), r"\[error\].*(?:ResolveException|ResolutionException|unresolved dependency|Error downloading)"),
    _cause("dependency_install", "lein-deps", ("Could not find artifact", "This could be due to a typo in :dependencies"), r"(?:Could not find artifact \S+ in|This could be due to a typo in :dependencies)"),
    _cause("dependency_install", "hex", ("Hex dependency resolution failed", "Unchecked dependencies for environment", "Failed to fetch record for"), r".*(?:Hex dependency resolution failed|Unchecked dependencies for environment|Failed to fetch record for)"),
    _cause("oom_killed", "oom", ("heap out of memory", "Cannot allocate memory", "OOMKilled", "oom-kill", "Out of memory", "out of memory", "OutOfMemoryError", "std::bad_alloc"),
           _ANY + r"(?:JavaScript heap out of memory|Cannot allocate memory|OOMKilled|oom-kill|Out of memory: Kill|runtime: out of memory|OutOfMemoryError: (?:Java heap|GC overhead|Metaspace)|virtual memory exhausted)|.*(?:^|\s)Killed(?:\s+|$)"),
    _cause("oom_killed", "oom", ("Killed\n", " Killed ", "Killed signal terminated", "exit code: 137", "exit code 137", "signal 9", "SIGKILL"), r"(?:.*: line \d+: +\d+ Killed |Killed$|.*Killed signal terminated program|.*(?:exit code:? 137|signal 9,? SIGKILL|SIGKILL\b.*kill))"),
    _cause("timeout", "timeout", ("exceeded the maximum execution time", "has timed out after", "has exceeded the maximum", "No output has been received in the last", "exceeded the maximum time limit for jobs", "execution took longer than", "Too long with no output", "timeout: sending signal", "job timed out"),
           _ANY + r"(?:exceeded the maximum execution time|The action .* has timed out after|has exceeded the maximum|No output has been received in the last|exceeded the maximum time limit for jobs|execution took longer than|Too long with no output|timeout: sending signal|[Jj]ob timed out)"),
    _cause("cancelled", "cancelled", ("The operation was canceled", "The run was canceled by", "Canceling since a higher priority", "The job was canceled"), r"(?:Error: )?(?:The operation was canceled|The run was canceled by|Canceling since a higher priority|The job was canceled)"),
    _cause("crash", "crash", ("Segmentation fault", "core dumped", "Bus error", "Illegal instruction", "Fatal Python error", "terminate called after throwing", "The forked VM terminated", "fatal error has been detected by the Java Runtime"),
           _ANY + r"(?:Segmentation fault|\(core dumped\)|Bus error(?: |$)|Illegal instruction(?: |$)|Fatal Python error|terminate called after throwing|The forked VM terminated without|A fatal error has been detected by the Java Runtime)"),
    _cause("crash", "asan", ("Sanitizer: ", "SUMMARY: "), r".*(?:(?:Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer: \S|SUMMARY: \w+Sanitizer)"),
    _cause("compile_error", "maven-compiler", ("COMPILATION ERROR", "Compilation failure", "Fatal error compiling", "Compilation failed; see"), r"(?:\[ERROR\] )?.*(?:COMPILATION ERROR|Compilation failure|Fatal error compiling.*|Compilation failed; see the compiler)"),
    _cause("compile_error", "cargo-build", ("could not compile `", "aborting due to "), r"error: (?:could not compile `|aborting due to )"),
    _cause("compile_error", "ld", ("ld returned ", "linker command failed", "Undefined symbols for architecture", "linking with `"), r".*(?:ld returned \d+ exit status|linker command failed|Undefined symbols for architecture|error: linking with `)"),
    _cause("compile_error", "elixirc", ("== Compilation error", "could not compile dependency", "Compilation error in file"), r".*(?:== Compilation error in file|could not compile dependency)"),
    _cause("compile_error", "swiftc", ("The following build commands failed",), r"The following build commands failed"),
    _cause("lint", "maven-checkstyle", ("Checkstyle violations", "checkstyle violations", "Checkstyle rule violations"), r".*(?:You have \d+ Checkstyle violation|Checkstyle rule violations were found|checkstyle violations)"),
    _cause("lint", "maven-rat", ("unapproved license", "Unapproved licenses"), r".*(?:Too many files with unapproved license|\b\d{1,6} Unknown Licenses|Files with unapproved licenses)"),
    _cause("lint", "gradle-spotless", ("had format violations", "spotlessApply"), r".*(?:files had format violations|Run '.*spotlessApply' to fix)"),
    _cause("lint", "mima", ("Binary compatibility check failed", "mimaReportBinaryIssues"), r".*(?:Binary compatibility check failed|failed binary compatibility check)"),
    _cause("lint", "maven", ("Failed to execute goal",), r"\[ERROR\] Failed to execute goal \S*(?:checkstyle|spotless|pmd|spotbugs|findbugs|-rat-|license|formatter|japicmp|revapi|sortpom|animal-sniffer|impsort|fmt-maven|ktlint|detekt|modernizer|forbiddenapis)\S*:"),
    _cause("compile_error", "maven-compiler", ("Failed to execute goal",), r"\[ERROR\] Failed to execute goal \S*(?:compiler|kotlin|scala|groovy|gmavenplus)\S*:(?:test-?)?compile"),
    _cause("lint", "gradle", ("Execution failed for task",), r"Execution failed for task '\S*?(?:[cC]heckstyle|spotless|[pP]md|[sS]potbugs|detekt|[kK]tlint|:lint|[lL]icense|[cC]odenarc|apiCheck|japicmp|[fF]orbiddenApis)"),
    _cause("compile_error", "gradle", ("Execution failed for task",), r"Execution failed for task '\S*?:compile(?!\S*Dependencies)\S*'"),
    _cause("lint", "ruff", ("would be reformatted", "file reformatted"), r"\d+ files? would be reformatted"),
    _cause("lint", "prettier", ("Code style issues",), r".*Code style issues (?:found|fixed)"),
    _cause("lint", "mix-format", ("mix format failed",), r".*mix format failed"),
    _cause("lint", "license", ("license header", "License header"), r".*(?:missing|incorrect|without) (?:a )?[Ll]icense header"),
    _cause("config_error", "shell", ("command not found", "not recognized as an internal or external command", ": not found", "is not recognized as the name of"),
           r"(?:\S*(?:sh|bash|zsh|dash)(?:\.exe)?: (?:line )?\d*:? ?.*(?:command )?not found$|/\S+: (?:line )?\d+: \S+: (?:command )?not found|.*is not recognized as an internal or external command|.*is not recognized as the name of a cmdlet|\S+: command not found$|make: \S+: Command not found|env: .*: No such file)"),
    _cause("config_error", "shell", ("No such file or directory", "Permission denied", "No rule to make target", "missing script", "Missing script", "Couldn't find a package.json", "unknown shorthand flag"),
           r"(?:\S*(?:sh|bash)(?:\.exe)?: (?:line )?\d*:? ?.*: (?:No such file or directory|Permission denied|cannot execute)|/\S+: (?:line )?\d+: .*: (?:No such file or directory|Permission denied)|make(?:\[\d+\])?: \*\*\* No rule to make target|npm (?:ERR!|error) .*[Mm]issing script|.*Couldn't find a package\.json|cp: cannot stat|cat: .*: No such file|chmod: cannot access|cd: .*: No such file|error:? unknown shorthand flag|chmod: .*No such file|python\d?(?:\.\d+)?: can't open file)"),
    _cause("config_error", "cmake", ("CMake Error", "configure: error:", "meson.build:"), r"(?:CMake Error(?: at| in|:)|configure: error: |meson\.build:\d+:\d+: ERROR)"),
    _cause("config_error", "usage", ("unrecognized arguments", "unknown option", "no such option", "No such option", "invalid option", "Unknown option", "Unrecognized option", "flag provided but not defined", "unexpected argument", "no such subcommand", "no such command"),
           r"(?:\S+(?: \S+)?: )?(?:[Ee]rror: |ERROR: |error:? )?(?:unrecognized arguments|[Uu]nknown option|[Nn]o such option|invalid option|Unrecognized option|flag provided but not defined|unexpected argument|no such (?:sub)?command)"),
    _cause("config_error", "actions", ("Unable to resolve action", "Input required and not supplied", "Unexpected value", "Can't find 'action.yml'", "not found in root project", "A problem occurred evaluating", "A problem occurred configuring", "Unable to locate executable file", "Unknown lifecycle phase", "could not find `Cargo.toml`"),
           _ANY + r"(?:Unable to resolve action|Input required and not supplied|Can't find 'action\.yml'|Task '.*' not found in (?:root )?project|A problem occurred (?:evaluating|configuring)|Unable to locate executable file|Unknown lifecycle phase|could not find `Cargo\.toml`)"),
    _cause("config_error", "eslint", ("couldn't find a configuration file", "couldn't find the config", "couldn't find an eslint.config", "No inputs were found in config", "error TS18003", "Invalid configuration object", "error TS5"), r".*(?:couldn't find (?:a configuration file|the config|an eslint\.config)|No inputs were found in config|Invalid configuration object)"),
    _cause("no_tests", "no-tests", ("No tests found, exiting with code 1", "No test files found, exiting with code 1", "No tests were found", "no tests to run", "No tests executed", "No test files found"), r".*(?:No tests? (?:files )?found, exiting with code 1|No tests were executed|No tests were found!!!)"),
)  # fmt: skip


_WORDS = tuple((word.rstrip("\n"), at) for at, cause in enumerate(CAUSES) for word in cause.wakes)
_SET = re2.Set.SearchSet()
for _word, _at in _WORDS:
    _SET.Add(re2.escape(_word))
_SET.Compile()


class Causes:
    """Tells candidates; whether one counts is decided by kind.py."""

    name: ClassVar[str] = "causes"
    wakes: ClassVar[tuple[str, ...]] = tuple(sorted({word for word, _ in _WORDS}))

    def feed(self, line: Line, out: Sink) -> bool:
        for at in sorted({_WORDS[found][1] for found in _SET.Match(line.text) or ()}):
            if CAUSES[at].pattern.match(line.text):
                out.cause(CAUSES[at].kind, line.text, CAUSES[at].tool)
                break
        return False

    def end(self, out: Sink) -> None:
        pass
