"""From what an agent handed in to one validated result: the ladder of sources (runners.md, 4.1)."""

import base64
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from app.runners.runner import Answer, Source
from app.runs.verdicts import Invalid, read_marker, validate

STRUCTURED_BYTES = 256 * 1024


@dataclass(frozen=True)
class Handed:
    """The outcome of the ladder: a value with its source, or why there is none.

    `conflict`: two sources gave valid results that do not agree (VF-7), so nothing counts and nothing is wrong in form.
    """

    value: BaseModel | None = None
    source: Source | None = None
    missing: bool = False
    conflict: bool = False
    reasons: tuple[str, ...] = ()


def new_nonce() -> str:
    """16 random base32 characters, for one turn's prompt only (VF-4)."""
    return base64.b32encode(secrets.token_bytes(10)).decode()


def read_result(model: type[BaseModel], answer: Answer, submitted: object | None, nonce: str) -> Handed:
    """The first rung that gave something counts; every rung is validated here (RN-24, RN-25).

    Order: structured output, the last accepted `submit_result`, the marker line. Prose never counts (RN-27).
    """
    rungs = [
        (Source.STRUCTURED, _checked(model, answer.structured)),
        (Source.TOOL, _checked(model, submitted)),
        (Source.MARKER, _marked(model, answer, nonce)),
    ]
    given = [(source, found) for source, found in rungs if not (isinstance(found, Invalid) and found.missing)]
    if not given:
        return Handed(missing=True, reasons=("no result was handed in",))
    source, first = given[0]
    if isinstance(first, Invalid):
        return Handed(source=source, reasons=first.reasons)
    values = [value for _, value in given if not isinstance(value, Invalid)]
    if not _agree(values):
        return Handed(conflict=True, reasons=("two sources gave results that do not agree",))
    return Handed(value=first, source=source)


def _checked(model: type[BaseModel], payload: object | None) -> BaseModel | Invalid:
    if payload is None:
        return Invalid(missing=True)
    if len(json.dumps(payload)) > STRUCTURED_BYTES:
        return Invalid(missing=False, reasons=(f"the result is larger than {STRUCTURED_BYTES} bytes",))
    return validate(model, payload)


def _marked(model: type[BaseModel], answer: Answer, nonce: str) -> BaseModel | Invalid:
    found = read_marker(answer.text, model, nonce)
    if isinstance(found, Invalid):
        return found
    if answer.hidden_marker:
        return Invalid(missing=False, reasons=("more than one line begins with a marker word",))
    return validate(model, found)


def _agree(values: Sequence[BaseModel]) -> bool:
    """VF-7: verdicts agree in `decision`; results without a decision must be equal."""
    kept = [getattr(value, "decision", value) for value in values]
    return all(one == kept[0] for one in kept)
