"""Which class drives a runner: chosen by the protocol of its manifest."""

from collections.abc import Callable, Mapping

from app.runners.acp.runner import AcpRunner
from app.runners.codes import Code, failure
from app.runners.opencode.runner import OpenCodeRunner
from app.runners.registry import RunnerSpec
from app.runners.runner import Launcher, Runner

KINDS: Mapping[str, Callable[[RunnerSpec, Launcher], Runner]] = {
    "acp/1": AcpRunner,
    "opencode/1": OpenCodeRunner,
}


FOLLOWED = frozenset({"mcp/1"})
"""Protocols of agents that work elsewhere: nothing is started here, their turns are followed by short looks."""


def is_followed(spec: RunnerSpec) -> bool:
    return spec.manifest.spec.protocol in FOLLOWED


def runner_for(spec: RunnerSpec, launcher: Launcher) -> Runner:
    """A new runner for one turn. Raises RunnerFailure `runner.broken_manifest` for a protocol that we do not drive."""
    kind = KINDS.get(spec.manifest.spec.protocol)
    if kind is None:
        raise failure(Code.BROKEN_MANIFEST, f"{spec.id}: {spec.manifest.spec.protocol} is not driven by this version")
    return kind(spec, launcher)
