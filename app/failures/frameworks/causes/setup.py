"""A wrong command or configuration, and runs without tests."""

from app.failures.frameworks.causes.cause import ANY, Cause, cause

CAUSES: tuple[Cause, ...] = (
    cause(
        "config_error",
        "shell",
        (
            "command not found",
            "not recognized as an internal or external command",
            ": not found",
            "is not recognized as the name of",
        ),
        r"(?:\S*(?:sh|bash|zsh|dash)(?:\.exe)?: (?:line )?\d*:? ?.*(?:command )?not found$"
        r"|/\S+: (?:line )?\d+: \S+: (?:command )?not found|.*is not recognized as an internal or "
        r"external command|.*is not recognized as the name of a cmdlet"
        r"|\S+: command not found$|make: \S+: Command not found|env: .*: No such file)",
    ),
    cause(
        "config_error",
        "shell",
        (
            "No such file or directory",
            "Permission denied",
            "No rule to make target",
            "missing script",
            "Missing script",
            "Couldn't find a package.json",
            "unknown shorthand flag",
        ),
        r"(?:\S*(?:sh|bash)(?:\.exe)?: (?:line )?\d*:? ?.*: (?:No such file or directory"
        r"|Permission denied|cannot execute)|/\S+: (?:line )?\d+: .*: (?:No such file or directory"
        r"|Permission denied)|make(?:\[\d+\])?: \*\*\* No rule to make target"
        r"|npm (?:ERR!|error) .*[Mm]issing script|.*Couldn't find a package\.json"
        r"|cp: cannot stat|cat: .*: No such file|chmod: cannot access|cd: .*: No such file"
        r"|error:? unknown shorthand flag|chmod: .*No such file|python\d?(?:\.\d+)?: can't open fi"
        r"le)",
    ),
    cause(
        "config_error",
        "cmake",
        ("CMake Error", "configure: error:", "meson.build:"),
        r"(?:CMake Error(?: at| in|:)|configure: error: |meson\.build:\d+:\d+: ERROR)",
    ),
    cause(
        "config_error",
        "usage",
        (
            "unrecognized arguments",
            "unknown option",
            "no such option",
            "No such option",
            "invalid option",
            "Unknown option",
            "Unrecognized option",
            "flag provided but not defined",
            "unexpected argument",
            "no such subcommand",
            "no such command",
        ),
        r"(?:\S+(?: \S+)?: )?(?:[Ee]rror: |ERROR: |error:? )?(?:unrecognized arguments"
        r"|[Uu]nknown option|[Nn]o such option|invalid option|Unrecognized option"
        r"|flag provided but not defined|unexpected argument|no such (?:sub)?command)",
    ),
    cause(
        "config_error",
        "actions",
        (
            "Unable to resolve action",
            "Input required and not supplied",
            "Unexpected value",
            "Can't find 'action.yml'",
            "not found in root project",
            "A problem occurred evaluating",
            "A problem occurred configuring",
            "Unable to locate executable file",
            "Unknown lifecycle phase",
            "could not find `Cargo.toml`",
        ),
        ANY + r"(?:Unable to resolve action|Input required and not supplied|Can't find 'action\.yml'"
        r"|Task '.*' not found in (?:root )?project|A problem occurred (?:evaluating"
        r"|configuring)|Unable to locate executable file|Unknown lifecycle phase"
        r"|could not find `Cargo\.toml`)",
    ),
    cause(
        "config_error",
        "eslint",
        (
            "couldn't find a configuration file",
            "couldn't find the config",
            "couldn't find an eslint.config",
            "No inputs were found in config",
            "error TS18003",
            "Invalid configuration object",
            "error TS5",
        ),
        r".*(?:couldn't find (?:a configuration file|the config"
        r"|an eslint\.config)|No inputs were found in config"
        r"|Invalid configuration object)",
    ),
    cause(
        "no_tests",
        "no-tests",
        (
            "No tests found, exiting with code 1",
            "No test files found, exiting with code 1",
            "No tests were found",
            "no tests to run",
            "No tests executed",
            "No test files found",
        ),
        r".*(?:No tests? (?:files )?found, exiting with code 1"
        r"|No tests were executed|No tests were found!!!)",
    ),
)
