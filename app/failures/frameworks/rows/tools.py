"""Which tool printed a row: its code, its file, its words, or the command above it; and what kind of tool that is."""

import re
from functools import lru_cache

from app.failures.model import Severity

COMPILERS = frozenset(
    [
        "gcc",
        "ld",
        "javac",
        "kotlinc",
        "scalac",
        "csc",
        "msbuild",
        "dotnet",
        "tsc",
        "tsd",
        "rustc",
        "cargo-build",
        "cargo-check",
        "go-build",
        "go-vet",
        "swiftc",
        "ghc",
        "elixirc",
        "erlc",
        "maven-compiler",
        "linker",
        "vbc",
        "fsc",
        "groovyc",
        "dart",
        "msvc",
        "ocaml",
        "dmd",
        "nim",
        "zig",
        "crystal",
        "haxe",
        "fpc",
        "gfortran",
        "php",
    ]
)
_SEVERITIES: dict[str, Severity] = {
    "e": "error",
    "f": "error",
    "fatal": "error",
    "error": "error",
    "w": "warning",
    "warn": "warning",
    "warning": "warning",
    "style": "warning",
    "c": "warning",
    "convention": "warning",
    "r": "warning",
    "refactor": "warning",
    "performance": "warning",
    "portability": "warning",
    "a": "warning",
    "suggestion": "notice",
    "hint": "notice",
    "note": "notice",
    "info": "notice",
    "i": "notice",
    "information": "notice",
}
_CODES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"TS\d{4,5}$"), "tsc"),
    (re.compile(r"(?:CS|BC|FS)\d{4}$"), "csc"),
    (re.compile(r"(?:MSB|NETSDK|NU|CA|IDE|SA)\d{3,5}$"), "msbuild"),
    (re.compile(r"LNK\d{4}$"), "ld"),
    (re.compile(r"E0\d{3}$"), "rustc"),
    (re.compile(r"MD\d{3}"), "markdownlint"),
    (re.compile(r"B\d{3}$"), "flake8"),
    (re.compile(r"DL\d{4}$"), "hadolint"),
    (re.compile(r"SC\d{4}$"), "shellcheck"),
    (re.compile(r"[CRWEF]\d{4}$"), "pylint"),
    (re.compile(r"D\d{3}$"), "pydocstyle"),
    (re.compile(r"[A-Z]{1,4}\d{3}$"), "flake8"),
    (re.compile(r"GHC-\d+$"), "ghc"),
)
_BY_FILE: tuple[tuple[tuple[str, ...], str], ...] = (
    ((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cu", ".m", ".mm", ".inl", ".ipp"), "gcc"),
    ((".java",), "javac"),
    ((".swift",), "swiftc"),
    ((".hs", ".lhs"), "ghc"),
    ((".ex", ".exs", ".eex", ".heex"), "elixirc"),
    ((".erl", ".hrl"), "erlc"),
    ((".rs",), "rustc"),
    ((".go",), "go-build"),
    ((".scala",), "scalac"),
    ((".kt", ".kts"), "kotlinc"),
    ((".py", ".pyi"), "mypy"),
    ((".dart",), "dart"),
    ((".ml", ".mli"), "ocaml"),
    ((".d",), "dmd"),
    ((".nim",), "nim"),
    ((".zig",), "zig"),
    ((".cr",), "crystal"),
    ((".hx",), "haxe"),
    ((".pas", ".pp", ".lpr"), "fpc"),
    ((".f", ".f90", ".f95"), "gfortran"),
    ((".groovy",), "groovyc"),
    ((".fs", ".fsx"), "fsc"),
    ((".vb",), "vbc"),
    ((".cs",), "csc"),
    ((".ts", ".tsx"), "tsc"),
)
_COMMANDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?:^|[\s/;&|(]){word}(?:\s|$|;)"), tool)
    for word, tool in (
        ("ruff", "ruff"),
        ("flake8", "flake8"),
        ("mypy", "mypy"),
        ("pylint", "pylint"),
        ("pycodestyle", "pep8"),
        ("pep8", "pep8"),
        ("pydocstyle", "pydocstyle"),
        ("bandit", "bandit"),
        ("eslint", "eslint"),
        ("stylelint", "stylelint"),
        ("tslint", "tslint"),
        ("standard", "standardjs"),
        ("prettier", "prettier"),
        ("markdownlint(?:-cli2?)?", "markdownlint"),
        ("golangci-lint", "golangci-lint"),
        ("golint", "golint"),
        ("staticcheck", "staticcheck"),
        ("go vet", "go-vet"),
        ("gometalinter", "gometalinter"),
        ("gosec", "gosec"),
        ("cargo clippy", "clippy"),
        ("clippy", "clippy"),
        ("hlint", "hlint"),
        ("phpstan", "phpstan"),
        ("psalm", "psalm"),
        ("rubocop", "rubocop"),
        ("yamllint", "yamllint"),
        ("luacheck", "luacheck"),
        ("typos", "typos"),
        ("misspell", "misspell"),
        ("ansible-lint", "ansible-lint"),
        ("tsc", "tsc"),
        ("vale", "vale"),
        ("codespell", "codespell"),
        ("pyright", "pyright"),
        ("phpcs", "phpcs"),
        ("remark", "remark-lint"),
    )
)
_NOT_ENDS = re.compile(r"\[[a-z][a-z-]+\]$")
_GOLANGCI = re.compile(r"\([a-z]\w+\)$")


def severity_of(word: str | None, default: str) -> Severity:
    """The severity that a word of a row means."""
    text = (word or default).strip().lower().removeprefix("fatal ").removeprefix("internal compiler ")
    return _SEVERITIES.get(text, "error")


def tool_of(code: str | None, file: str, message: str, command: str) -> str:
    """Canonical name of the tool behind a row, empty when nothing says it."""
    named = tool_of_command(command)
    if named and not (code and code.startswith(("TS", "CS"))):
        return named
    if code and code.startswith("C") and compiler_of(file) == "gcc":
        return "msvc"
    for pattern, tool in _CODES:
        if code and pattern.match(code):
            return tool
    if file.endswith((".py", ".pyi")):
        return "mypy" if _NOT_ENDS.search(message) else ""
    if file.endswith(".go") and _GOLANGCI.search(message):
        return "golangci-lint"
    return ""


@lru_cache(maxsize=256)
def tool_of_command(command: str) -> str:
    return next((tool for pattern, tool in _COMMANDS if pattern.search(command)), "") if command else ""


def compiler_of(file: str) -> str:
    """The compiler of a file's language, for rows that say `error:` and no tool."""
    return next((tool for ends, tool in _BY_FILE if file.endswith(ends)), "")
