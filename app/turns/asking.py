"""Put a brief into words: the prompt with its nonce, the second asking, and the text for a session that is new."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.briefs import Brief
from app.redact import Redactor
from app.render.prompts import Prompt, render_prompt, with_nonce
from app.render.prompts.inputs import EvidenceLine, Form, Inputs, Reask, Rung
from app.runners.runner import Ask
from app.runs.model import Role


@dataclass(frozen=True)
class Asked:
    """A rendered prompt and all that goes with it to the runner."""

    prompt: Prompt
    nonce: str
    ask: Ask


def ask_of(brief: Brief, turn_id: str, role: Role, wall_s: float, redactor: Redactor) -> Asked:
    """The prompt of a brief; the same nonce stands in every text of the turn (PM-7, VF-4)."""
    inputs, nonce = _with_form(brief)
    prompt = render_prompt(brief.name, inputs, redactor=redactor)
    fresh = None
    if brief.fresh is not None:
        name, other = brief.fresh
        fresh = render_prompt(name, _same_nonce(other, nonce), redactor=redactor).text
    ask = Ask(
        turn_id=turn_id,
        text=prompt.text,
        nonce=nonce,
        deadline=time.monotonic() + wall_s,
        reask=None if brief.model is None else _second(brief, role, nonce, redactor),
        fresh_text=fresh,
    )
    return Asked(prompt, nonce, ask)


def _with_form(brief: Brief) -> tuple[Inputs, str]:
    if getattr(brief.inputs, "form", None) is None:
        return brief.inputs, ""
    inputs = with_nonce(brief.inputs)
    return inputs, inputs.form.nonce  # type: ignore[union-attr]


def _same_nonce(inputs: Inputs, nonce: str) -> Inputs:
    form: Form | None = getattr(inputs, "form", None)
    if form is None:
        return inputs
    return replace(inputs, form=replace(form, nonce=nonce))  # type: ignore[arg-type]


def _second(brief: Brief, role: Role, nonce: str, redactor: Redactor) -> Callable[[Sequence[str]], str]:
    """What is said when the result is missing or not in the asked form (VF-12)."""

    def text(reasons: Sequence[str]) -> str:
        inputs = Reask(
            kind="schema",
            form=Form(Rung.MARKER, nonce),
            role="agent" if role is Role.AGENT else brief.name,
            wrong=tuple(reasons)[:10],
            ids=tuple(EvidenceLine(found, kind, "") for found, kind in brief.allowed.items()),
            approve_needs=() if brief.rule is None else tuple(sorted(brief.rule.approve_ids)),
        )
        return render_prompt("reask", inputs, redactor=redactor).text

    return text
