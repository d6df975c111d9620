"""What differs between languages, as one row each: grammar, file names, node types (proof.md, 8.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tree_sitter import Language as Grammar


@dataclass(frozen=True)
class Language:
    """`functions`, `calls`, `strings` and `comments` are node types; `module` and `loader` name the grammar's wheel."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    functions: frozenset[str]
    calls: frozenset[str]
    strings: frozenset[str]
    comments: frozenset[str] = frozenset(("comment", "line_comment", "block_comment"))
    loader: str = "language"

    def grammar(self) -> Grammar:
        return _grammar(self.module, self.loader)


@cache
def _grammar(module: str, loader: str) -> Grammar:
    make: Callable[[], object] = getattr(import_module(module), loader)
    return Grammar(make())


_JS_FUNCTIONS = frozenset(
    ("function_declaration", "function_expression", "arrow_function", "method_definition", "generator_function")
)
_JS_STRINGS = frozenset(("string", "template_string", "regex"))

LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        (".py", ".pyi"),
        "tree_sitter_python",
        frozenset(("function_definition", "lambda")),
        frozenset(("call",)),
        frozenset(("string",)),
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        _JS_FUNCTIONS,
        frozenset(("call_expression",)),
        _JS_STRINGS,
    ),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        _JS_FUNCTIONS,
        frozenset(("call_expression",)),
        _JS_STRINGS,
        loader="language_typescript",
    ),
    Language(
        "typescript",
        (".tsx",),
        "tree_sitter_typescript",
        _JS_FUNCTIONS,
        frozenset(("call_expression",)),
        _JS_STRINGS,
        loader="language_tsx",
    ),
    Language(
        "go",
        (".go",),
        "tree_sitter_go",
        frozenset(("function_declaration", "method_declaration", "func_literal")),
        frozenset(("call_expression",)),
        frozenset(("interpreted_string_literal", "raw_string_literal", "rune_literal")),
    ),
    Language(
        "rust",
        (".rs",),
        "tree_sitter_rust",
        frozenset(("function_item", "closure_expression")),
        frozenset(("call_expression", "macro_invocation")),
        frozenset(("string_literal", "raw_string_literal", "char_literal")),
    ),
    Language(
        "java",
        (".java",),
        "tree_sitter_java",
        frozenset(("method_declaration", "constructor_declaration", "lambda_expression")),
        frozenset(("method_invocation", "object_creation_expression")),
        frozenset(("string_literal", "character_literal")),
    ),
    Language(
        "ruby",
        (".rb", ".rake"),
        "tree_sitter_ruby",
        frozenset(("method", "singleton_method", "lambda")),
        frozenset(("call", "command")),
        frozenset(("string", "simple_symbol", "heredoc_body")),
    ),
)


def language_of(path: str) -> Language | None:
    """By the end of the name; None for a file that no rule can split."""
    folded = path.casefold()
    return next((row for row in LANGUAGES if folded.endswith(row.suffixes)), None)


def is_javascript(language: Language) -> bool:
    return language.name in ("javascript", "typescript")
