"""What a diagnosis and a scope note beside their columns, as the values that people are shown."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from app.ledger import incidents
from app.ledger.rows import Row
from app.runs.view import AskedLog, ConfigMistake

CONFIG, ASKED, RERUN, WORKFLOW, TROUBLE = "config", "asked", "rerun", "workflow", "trouble"
WAITING_FOR, REPAIR_ON = "waiting_for", "repair_on"
"""Names in `diagnoses.details`; `trouble` also in `scopes.notes`."""
OWN_CONFIG = "own_config"
"""Name in `scopes.notes`: the mistake in the policy file as a pull request has it, with its head."""


def noted(conn: Connection, scope: Row, told: Row | None, web_url: str) -> Mapping[str, Any]:
    """The fields of a ScopeView that are notes: mistakes of files, logs that were asked for, what GitHub refuses."""
    details: Mapping[str, Any] = {} if told is None else told.details or {}
    notes: Mapping[str, Any] = scope.notes or {}
    own = notes.get(OWN_CONFIG)
    trouble = details.get(TROUBLE) or notes.get(TROUBLE) or {}
    return {
        "config": _mistake(details.get(CONFIG)),
        "config_in_head": _mistake(own) if own and own.get("sha") == scope.head_sha else None,
        "asked": tuple(AskedLog(**asked) for asked in details.get(ASKED, ())),
        "rerun": bool(details.get(RERUN)),
        "waiting_workflow": details.get(WORKFLOW, ""),
        "waiting_for": int(details.get(WAITING_FOR, 0)),
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


def _mistake(kept: Mapping[str, Any] | None) -> ConfigMistake | None:
    if not kept:
        return None
    return ConfigMistake(**{name: value for name, value in kept.items() if name != "sha"})
