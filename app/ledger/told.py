"""What a diagnosis and a scope note beside their columns, as the values that people are shown."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from app.ledger import incidents
from app.ledger.rows import Row
from app.runs.view import AskedLog, ConfigMistake, Press, Unasked

CONFIG, ASKED, RERUN, WORKFLOW, TROUBLE = "config", "asked", "rerun", "workflow", "trouble"
WAITING_FOR, REPAIR_ON, LEFT, UNASKED = "waiting_for", "repair_on", "left", "unasked"
BASE_TIP = incidents.BASE_TIP
"""Names in `diagnoses.details`; `trouble` also in `scopes.notes`."""
OWN_CONFIG, PRESSED, ANNOTATED, OWN_WAY = "own_config", "pressed", "annotated", "own_way"
"""Names in `scopes.notes`, each with its head: the mistake in the policy file as a pull request has it; the last press
of a button; that lines of the diff are marked; that CI is green, and whether with the published fix is not known."""


def noted(conn: Connection, scope: Row, told: Row | None, web_url: str) -> Mapping[str, Any]:
    """The fields of a ScopeView that are notes: mistakes of files, logs that were asked for, what GitHub refuses."""
    details: Mapping[str, Any] = {} if told is None else told.details or {}
    notes: Mapping[str, Any] = scope.notes or {}
    here = {name: note for name, note in notes.items() if note.get("sha") in (None, scope.head_sha)}
    trouble = details.get(TROUBLE) or here.get(TROUBLE) or {}
    return {
        "config": _mistake(details.get(CONFIG)),
        "config_in_head": _mistake(here.get(OWN_CONFIG)),
        "press": Press(**_of_head(here[PRESSED])) if PRESSED in here else None,
        "own_way": OWN_WAY in here,
        "asked": tuple(AskedLog(**asked) for asked in details.get(ASKED, ())),
        "rerun": bool(details.get(RERUN)),
        "waiting_workflow": details.get(WORKFLOW, ""),
        "waiting_for": int(details.get(WAITING_FOR, 0)),
        "left": tuple(details.get(LEFT, ())),
        "unasked": _unasked(details.get(UNASKED)),
        "sightings": _sightings(details.get(REPAIR_ON)),
        "trouble": trouble.get("text", ""),
        "trouble_url": trouble.get("url", ""),
        **incidents.shown(conn, scope, told, web_url),
    }


def mistake(error: Any) -> dict[str, Any]:
    """A PolicyError as a note."""
    return {name: getattr(error, name) for name in ("path", "text", "line", "column", "field", "excerpt")}


def _sightings(kept: Mapping[str, Any] | None) -> tuple[int, int] | None:
    return (int(kept["seen"]), int(kept["wanted"])) if kept else None


def _unasked(kept: Mapping[str, Any] | None) -> Unasked | None:
    return Unasked(kept["key"], tuple(kept["kinds"]), tuple(kept["titles"])) if kept else None


def _mistake(kept: Mapping[str, Any] | None) -> ConfigMistake | None:
    if not kept:
        return None
    return ConfigMistake(**_of_head(kept))


def _of_head(note: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in note.items() if name != "sha"}
