"""Render one prompt: pure, within its budget, with the version of the words that were used."""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from jinja2 import meta
from markupsafe import Markup

from app.errors import UserError
from app.redact import Redactor
from app.render.engine import TEMPLATES, environment
from app.render.prompts import blocks
from app.render.prompts.budget import HARD_END_BYTES, TOTALS, Caps, estimate, ladder
from app.render.prompts.inputs import AgentCorrect, AgentResume, EvidenceLine, Failure, Form, Inputs, Place, Rung
from app.render.text import clean

WithForm = TypeVar("WithForm")

JUDGES = frozenset({"plan_review", "review"})
_KIND_WORDS = {"grid": "proof grid", "gate": "integrity gate"}


@dataclass(frozen=True)
class Prompt:
    """`version` is `<name>@<number>+<12 hex>` (PM-33); `cuts` names the parts that were shortened to fit."""

    text: str
    version: str
    cuts: tuple[str, ...] = ()


def render_prompt(name: str, inputs: Inputs, limit: int = 0, redactor: Redactor | None = None) -> Prompt:
    """The prompt `name` for `inputs`, of at most `limit` estimated tokens (0: the prompt's own total).

    Parts are cut in the order of `budget.CUTS`; ids, error heads, evidence and the form always stay.
    Raises UserError when what must stay is over 1 MiB, ValueError when a marker form has no nonce.
    """
    form = getattr(inputs, "form", None)
    if isinstance(form, Form) and form.rung is Rung.MARKER and not form.nonce:
        raise ValueError("a marker form needs a nonce: use with_nonce")
    redactor = redactor or Redactor(())
    ready = _with_kinds(blocks.prepared(inputs, redactor), inputs, redactor)
    steps = ladder(name, len(_failures(ready)))
    text, cuts = _first_that_fits(name, ready, steps, limit or TOTALS[name])
    if len(text.encode()) > HARD_END_BYTES:
        raise UserError(f"The prompt {name} is longer than 1 MiB even after every cut; it was not sent.")
    return Prompt(text, version(name), cuts)


def with_nonce(inputs: WithForm, draw: Callable[[], str] | None = None) -> WithForm:
    """`inputs` with a new nonce of 16 base32 characters that none of its texts holds (PM-7, VF-4)."""
    draw = draw or _draw
    held = "\n".join(_texts(inputs))
    nonce = draw()
    while nonce in held:
        nonce = draw()
    form = replace(inputs.form, nonce=nonce)  # type: ignore[attr-defined]
    made: WithForm = replace(inputs, form=form)  # type: ignore[type-var]
    return made


def _draw() -> str:
    return base64.b32encode(secrets.token_bytes(10)).decode()


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for item in value for text in _texts(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return [text for part in fields(value) for text in _texts(getattr(value, part.name))]
    return []


def _failures(inputs: Inputs) -> tuple[Failure, ...]:
    if isinstance(inputs, AgentResume):
        return inputs.work.failures if inputs.work else ()
    found: tuple[Failure, ...] = getattr(inputs, "failures", ())
    return found


def _with_kinds(ready: Inputs, raw: Inputs, redactor: Redactor) -> Inputs:
    """In feedback for an agent an evidence id becomes its kind, "(proof grid)"; an unknown one stays hidden (PM-6)."""
    if not isinstance(ready, AgentCorrect) or not isinstance(raw, AgentCorrect):
        return ready
    kinds = {line.evidence_id.lower(): line for line in raw.evidence}
    feedback = blocks.EVIDENCE_ID.sub(lambda found: _kind(kinds.get(found[0].lower())), redactor.text(raw.feedback))
    return replace(ready, feedback=blocks.mask(clean(feedback)))


def _kind(line: EvidenceLine | None) -> str:
    return f"({_KIND_WORDS.get(line.kind, line.kind)})" if line else blocks.HIDDEN


def _first_that_fits(
    name: str, inputs: Inputs, steps: list[tuple[Caps, tuple[str, ...]]], limit: int
) -> tuple[str, tuple[str, ...]]:
    """The least cut text below the limit, found by halving: each step only shortens; else the shortest there is."""
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if estimate(_render(name, inputs, steps[middle][0])) <= limit:
            high = middle
        else:
            low = middle + 1
    caps, cuts = steps[low]
    return _render(name, inputs, caps), tuple(dict.fromkeys(cuts))


def _render(name: str, inputs: Inputs, caps: Caps) -> str:
    values: dict[str, object] = {"i": inputs, "caps": caps, "judge": name in JUDGES, "resumed": None, **FUNCTIONS}
    if isinstance(inputs, AgentResume) and inputs.work is not None:
        work = replace(inputs.work, form=inputs.form, attempts=inputs.attempts, place=Place.LEFT)
        values |= {"i": work, "resumed": inputs}
    return environment().get_template(f"prompts/{name}.md.j2").render(values).strip("\n") + "\n"


FUNCTIONS: Mapping[str, object] = {
    "block": blocks.block,
    "command_line": lambda arguments: Markup(blocks.plain_command(arguments)),
    "first": blocks.first,
    "last": blocks.last,
    "last_lines": blocks.last_lines,
    "whole": blocks.whole,
    "whole_files": blocks.whole_files,
}


def sources(name: str) -> list[str]:
    """The template files that make up the prompt `name`, its own first."""
    found = [f"prompts/{name}.md.j2"]
    for source in found:
        tree = environment().parse((TEMPLATES / source).read_text())
        referenced = [other for other in meta.find_referenced_templates(tree) if other is not None]
        found += sorted(set(referenced) - set(found))
    return found


@cache
def digest(name: str) -> str:
    """sha256 over the template and the parts it includes (PM-33)."""
    total = hashlib.sha256()
    for source in sources(name):
        total.update((TEMPLATES / source).read_bytes())
    return total.hexdigest()


@cache
def _numbers() -> Mapping[str, Mapping[str, Any]]:
    numbers: Mapping[str, Mapping[str, Any]] = json.loads((TEMPLATES / "prompts" / "versions.json").read_text())
    return numbers


def version(name: str) -> str:
    """`<name>@<number>+<first 12 hex of the digest>`; stored with the turn (PM-34)."""
    return f"{name}@{_numbers()[name]['number']}+{digest(name)[:12]}"
