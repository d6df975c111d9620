"""Put a brief into words: the prompt with its nonce, the second asking, and the text for a session that is new."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.briefs import Brief
from app.redact import Redactor
from app.render.prompts import Prompt, render_prompt, with_nonce
from app.render.prompts.inputs import EvidenceLine, Form, Inputs, Reask, Rung
from app.runners.runner import Ask, nothing_submitted
from app.runs.model import Role


@dataclass(frozen=True)
class Asked:
    """A rendered prompt and all that goes with it to the runner."""

    prompt: Prompt
    nonce: str
    ask: Ask


@dataclass(frozen=True)
class Asking:
    """Who is asked, in which turn and how long; `rung` is how the result is to come back, `may_ask` a person too."""

    turn_id: str
    role: Role
    wall_s: float
    rung: Rung = Rung.MARKER
    may_ask: bool = False
    submitted: Callable[[], object | None] = nothing_submitted


def ask_of(brief: Brief, asking: Asking, redactor: Redactor) -> Asked:
    """The prompt of a brief; the same nonce stands in every text of the turn (PM-7, VF-4)."""
    inputs, nonce = _with_form(brief, asking)
    prompt = render_prompt(brief.name, inputs, redactor=redactor)
    fresh = None
    if brief.fresh is not None:
        name, other = brief.fresh
        fresh = render_prompt(name, _same_form(other, inputs), redactor=redactor).text
    ask = Ask(
        turn_id=asking.turn_id,
        text=prompt.text,
        nonce=nonce,
        deadline=time.monotonic() + asking.wall_s,
        reask=None if brief.model is None else _second(brief, asking, nonce, redactor),
        fresh_text=fresh,
        submitted=asking.submitted,
    )
    return Asked(prompt, nonce, ask)


def again_of_work(nonce: str, redactor: Redactor) -> Callable[[Sequence[str]], str]:
    """The second asking of an agent's turn whose first prompt is in its row."""

    def text(reasons: Sequence[str]) -> str:
        inputs = Reask(kind="schema", form=Form(Rung.MARKER, nonce), role="agent", wrong=tuple(reasons)[:10])
        return render_prompt("reask", inputs, redactor=redactor).text

    return text


def _with_form(brief: Brief, asking: Asking) -> tuple[Inputs, str]:
    form: Form | None = getattr(brief.inputs, "form", None)
    if form is None:
        return brief.inputs, ""
    asked = replace(form, rung=asking.rung, may_ask=asking.may_ask)
    inputs = with_nonce(replace(brief.inputs, form=asked))  # type: ignore[arg-type]
    return inputs, inputs.form.nonce  # type: ignore[union-attr]


def _same_form(inputs: Inputs, first: Inputs) -> Inputs:
    form: Form | None = getattr(first, "form", None)
    if form is None or getattr(inputs, "form", None) is None:
        return inputs
    return replace(inputs, form=form)  # type: ignore[arg-type]


def _second(brief: Brief, asking: Asking, nonce: str, redactor: Redactor) -> Callable[[Sequence[str]], str]:
    """What is said when the result is missing or not in the asked form (VF-12)."""

    def text(reasons: Sequence[str]) -> str:
        inputs = Reask(
            kind="schema",
            form=Form(asking.rung, nonce),
            role="agent" if asking.role is Role.AGENT else brief.name,
            wrong=tuple(reasons)[:10],
            ids=tuple(EvidenceLine(found, kind, "") for found, kind in brief.allowed.items()),
            approve_needs=() if brief.rule is None else tuple(sorted(brief.rule.approve_ids)),
        )
        return render_prompt("reask", inputs, redactor=redactor).text

    return text
