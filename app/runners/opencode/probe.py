"""Is an OpenCode server usable with these models? Three calls in order, each judged before the next (B1 to B6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.runners.codes import RunnerFailure
from app.runners.opencode.client import Client
from app.runners.runner import Readiness
from app.runners.versions import is_in_range

ACCEPTED = ">=1.18,<2"
SURFACE = (
    ("/global/health", "get"),
    ("/provider", "get"),
    ("/session", "post"),
    ("/session/{sessionID}/message", "post"),
    ("/session/{sessionID}/abort", "post"),
)


@dataclass(frozen=True)
class Model:
    """`provider/model`, split at the first slash, and a variant or none."""

    provider: str
    name: str
    variant: str | None = None


def model_of(text: str, variant: str | None) -> Model:
    """B11: names of models hold slashes, names of providers do not."""
    provider, _, name = text.partition("/")
    return Model(provider, name, variant)


async def probe(client: Client, model: Model | None, wanted: str) -> Readiness:
    """Stops at the first call that does not satisfy; what fails is words, never an exception (B5)."""
    version = None
    try:
        health = await client.health()
        version = str(health.get("version")) if isinstance(health, dict) else None
        problem = (
            of_health(health, wanted) or of_surface(await client.doc()) or of_models(await client.providers(), model)
        )
    except RunnerFailure as stopped:
        problem = stopped.error.message
    return Readiness(problem is None, version, () if problem is None else (problem,))


def of_health(health: Any, wanted: str) -> str | None:
    """B2."""
    if not isinstance(health, dict) or health.get("healthy") is not True:
        return "the server says that it is not healthy"
    version = health.get("version")
    if not isinstance(version, str) or not is_in_range(version, wanted):
        return f"the server's version is {version or 'not told'}, wanted is {wanted}"
    return None


def of_surface(doc: Any) -> str | None:
    """B3."""
    paths = doc.get("paths") if isinstance(doc, dict) else None
    missing = [f"{verb.upper()} {path}" for path, verb in SURFACE if verb not in _dict(_dict(paths).get(path))]
    return f"the server does not offer {', '.join(missing)}" if missing else None


def of_models(told: Any, model: Model | None) -> str | None:
    """B4: an unknown variant is accepted in silence later, an unknown model is an error without a reason."""
    if not isinstance(told, dict) or not isinstance(told.get("connected"), list):
        return "the server's list of providers has another form"
    if model is None:
        return None
    if model.provider not in told["connected"]:
        return f"the provider {model.provider} is not connected"
    providers = [one for one in told.get("all") or () if isinstance(one, dict) and one.get("id") == model.provider]
    found = _dict(_dict(providers[0].get("models")).get(model.name)) if providers else {}
    if found.get("status") != "active":
        return f"the model {model.provider}/{model.name} is {found.get('status') or 'unknown'}, not active"
    if _dict(found.get("capabilities")).get("toolcall") is not True:
        return f"the model {model.provider}/{model.name} cannot call tools"
    if model.variant is not None and model.variant not in _dict(found.get("variants")):
        return f"the model {model.provider}/{model.name} has no variant {model.variant}"
    return None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
