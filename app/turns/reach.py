"""What an agent can reach from inside its sandbox: its models and our tools, each with a token of this turn."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.errors import UserError
from app.runners.registry import RunnerSpec
from app.runners.runner import HostTools
from app.settings import ModelSettings
from app.turns.tools.serve import ToolServer
from app.workspace.gateway import Gateway
from app.workspace.launcher import Launcher
from app.workspace.sandbox.interpreters import NotBindable, inspect
from app.workspace.serving import serving

MODEL_URL, MODEL_KEY = "{model_url}", "{model_key}"
"""In a manifest's command and environment: the gateway's address without `/v1`, and the token that stands for a key
(RN-42); beside them `{config.NAME}` is a value of the runner's configuration."""


def shown_to(spec: RunnerSpec) -> dict[str, Path]:
    """Inside path -> host path of all that a runner needs to start: its copy, its environment, its operator's folders.

    Raises UserError when its environment's Python cannot be shown.
    """
    shown = {spec.inside_path: spec.folder, **{str(folder): folder for folder in spec.shown}}
    if spec.own is None:
        return shown
    python = inspect(spec.own / "bin" / "python")
    if python is None:
        raise UserError(f"{spec.id}: its environment is not there; install it again.")
    try:
        return {**shown, **python.binds(), str(spec.own): spec.own}
    except NotBindable as why:
        raise UserError(f"{spec.id}: its Python cannot be shown inside the sandbox: {why}.") from why


def with_models(launcher: Launcher, spec: RunnerSpec, models: ModelSettings) -> tuple[Launcher, RunnerSpec]:
    """The gateway for a runner that names it; any other runner gets no way out at all (SX-4)."""
    values = {f"{{config.{name}}}": str(value) for name, value in spec.config.items()}
    if any(MODEL_URL in text for text in (*spec.argv, *spec.env.values())):
        token = secrets.token_urlsafe(32)
        values |= {MODEL_URL: f"http://127.0.0.1:{launcher.port('model')}", MODEL_KEY: token}
        launcher = replace(launcher, serve={**launcher.serve, "model": serving(Gateway(models, token))})
    env = {name: _filled(text, values) for name, text in spec.env.items()}
    return launcher, replace(spec, argv=tuple(_filled(text, values) for text in spec.argv), env=env)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """One pass, so that nothing in a value is taken for a name."""
    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], text) if values else text


def with_tools(launcher: Launcher, tools: ToolServer | None) -> tuple[Launcher, HostTools | None]:
    """The turn's tools on a port of its own; None leaves things as they are."""
    if tools is None:
        return launcher, None
    served = replace(launcher, serve={**launcher.serve, "tools": serving(tools)})
    return served, HostTools(f"http://127.0.0.1:{served.port('tools')}{tools.path}", tools.token)
