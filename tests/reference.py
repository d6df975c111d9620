"""The parts of `docs/` that are made from the code: `python -m tests.reference` writes them, a test compares them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.cli import remedy
from app.commands.table import COMMANDS
from app.policy.model import Policy
from app.settings import Settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BARE = ("DATABASE_URL", "REDIS_URL", "RUNNERS_DIR")
SEE_ABOVE = ("data", "url")
"""Defaults that depend on where the process runs."""


def in_comments() -> Iterator[str]:
    """The commands that people say on GitHub."""
    yield "| say | also | who | what happens | example |"
    yield "|---|---|---|---|---|"
    for one in COMMANDS:
        also = ", ".join(f"`{name}`" for name in one.names[1:])
        who = "write access" if one.who == "write" else "readers"
        yield f"| `/remedy {one.verb}` | {also} | {who} | {one.line} | `{one.example}` |"


def in_the_terminal() -> Iterator[str]:
    """The commands of the program `remedy`."""
    yield "| command | what it does | options |"
    yield "|---|---|---|"
    yield from _commands("remedy", typer.main.get_command(remedy))


def _commands(prefix: str, group: Any) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        kinds: dict[str, list[Any]] = {"argument": [], "option": []}
        for one in command.params:
            kinds[one.param_type_name].append(one)
        words = [one.metavar or one.name.upper() for one in kinds["argument"]]
        given = " ".join(f"`{one.opts[0]}`" for one in kinds["option"] if one.name != "help")
        first = (command.help or "").strip().split("\n\n")[0]
        yield f"| `{_cell(' '.join((prefix, name, *words)))}` | {_cell(first)} | {given} |"
        if hasattr(command, "commands"):
            yield from _commands(f"{prefix} {name}", command)


def environment() -> Iterator[str]:
    """Every variable that a process reads, with its default."""
    yield "| name | default |"
    yield "|---|---|"
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        variable = str(alias) if alias in BARE else f"REMEDY_{name.upper()}"
        default = field.get_default(call_default_factory=name not in SEE_ABOVE)
        if isinstance(default, BaseModel):
            for inner, value in default:
                yield f"| `{variable}__{inner.upper()}` | {_value(value)} |"
        else:
            yield f"| `{variable}` | {_value(default) if name not in SEE_ABOVE else 'see above'} |"


def policy() -> Iterator[str]:
    """Every key of `.github/remedy.yml`."""
    yield "| key | default | meaning |"
    yield "|---|---|---|"
    for name, field in Policy.model_fields.items():
        yield f"| `{name}` | {_default_of(field)} | {_cell(field.description or '')} |"


def _default_of(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        parts = [
            f"`{name}: {inner}`" for name, inner in value if not isinstance(inner, BaseModel) and inner is not None
        ]
        return " ".join(part for part in parts if not part.endswith(": ()`"))
    return _value(value)


def _value(value: Any) -> str:
    if hasattr(value, "get_secret_value"):
        value = value.get_secret_value()
    if isinstance(value, tuple | list):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value not in ("", None, {}) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PARTS = {
    ("commands.md", "comments"): in_comments,
    ("commands.md", "terminal"): in_the_terminal,
    ("configure.md", "environment"): environment,
    ("configure.md", "policy"): policy,
}


def filled(name: str, text: str) -> str:
    """The page with its generated parts as they should be."""
    for (page, part), make in PARTS.items():
        if page == name:
            marks = (f"<!-- made from the code: {part} -->", f"<!-- end of {part} -->")
            pattern = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
            new = "\n".join((marks[0], *make(), marks[1]))
            text, count = pattern.subn(lambda _match, new=new: new, text)
            assert count == 1, f"{name} has no place for {part}"
    return text


def main() -> None:
    """Write the parts anew."""
    for name in {page for page, _ in PARTS}:
        path = DOCS / name
        path.write_text(filled(name, path.read_text()))


if __name__ == "__main__":
    main()
