"""A workflow file, in the small subset that is run here; anything else is refused by name (github.md D-26)."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

FOLDER = ".github/workflows"
_TOP = {"name", "on", True, "jobs", "env", "permissions", "concurrency", "run-name"}
_JOB = {"name", "runs-on", "steps", "strategy", "env", "timeout-minutes", "permissions"}
_STEP = {"name", "id", "run", "uses", "with", "env", "if", "working-directory", "shell"}
_ACTIONS = {"actions/checkout": "checkout", "actions/setup-python": "setup", "actions/upload-artifact": "upload"}
_CONDITIONS = {
    None: "success",
    "success()": "success",
    "always()": "always",
    "failure()": "failure",
    "!cancelled()": "always",
}
_PULL_TYPES = ["opened", "synchronize", "reopened"]
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


class Unsupported(Exception):
    """Real Actions would run it, this one cannot: the test should not use it."""


class Broken(Exception):
    """Real Actions would not run it either: the run ends as `startup_failure` without a job (F-A10)."""


@dataclass(frozen=True)
class Step:
    """`kind` is `run` or what an action is here: `checkout`, `setup`, `upload`. `when`: success, always, failure."""

    kind: str
    title: str
    command: str
    when: str = "success"
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."


@dataclass(frozen=True)
class JobPlan:
    name: str
    steps: tuple[Step, ...]
    env: Mapping[str, str]
    timeout_s: float | None


@dataclass(frozen=True)
class Workflow:
    path: str
    name: str
    triggers: Mapping[str, Mapping[str, Any]]
    jobs: tuple[JobPlan, ...]

    def wants_push(self, branch: str) -> bool:
        return "push" in self.triggers and _branch_fits(self.triggers["push"], branch)

    def wants_pull(self, base: str, action: str) -> bool:
        rule = self.triggers.get("pull_request")
        return rule is not None and action in (rule.get("types") or _PULL_TYPES) and _branch_fits(rule, base)


def read_workflow(path: str, text: bytes) -> Workflow:
    """Raises Broken for what GitHub would refuse and Unsupported for what only this runner refuses."""
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Broken(str(error)) from error
    if not isinstance(loaded, dict) or not isinstance(loaded.get("jobs"), dict) or not loaded["jobs"]:
        raise Broken("no jobs")
    _only(loaded, _TOP, "the workflow")
    env = _texts(loaded.get("env"))
    jobs = [plan for key, raw in loaded["jobs"].items() for plan in _plans(key, raw, env)]
    # YAML 1.1 reads the key `on` as true.
    triggers = _triggers(loaded.get("on", loaded.get(True)))
    return Workflow(path, loaded.get("name") or path, triggers, tuple(jobs))


def triggers_of(text: bytes) -> Mapping[str, Mapping[str, Any]] | None:
    """What starts the workflow, as far as it can be read at all; None for broken YAML."""
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return _triggers(loaded.get("on", loaded.get(True))) if isinstance(loaded, dict) else None


def _triggers(raw: Any) -> dict[str, Mapping[str, Any]]:
    if isinstance(raw, str):
        return {raw: {}}
    if isinstance(raw, list):
        return {name: {} for name in raw}
    if not isinstance(raw, dict):
        raise Broken("no event triggers")
    for name, rule in raw.items():
        _only(rule or {}, {"branches", "branches-ignore", "types"}, f"on.{name}")
    return {name: rule or {} for name, rule in raw.items()}


def _branch_fits(rule: Mapping[str, Any], branch: str) -> bool:
    if "branches-ignore" in rule and any(fnmatch.fnmatch(branch, glob) for glob in rule["branches-ignore"]):
        return False
    return "branches" not in rule or any(fnmatch.fnmatch(branch, glob) for glob in rule["branches"])


def _plans(key: str, raw: Any, env: dict[str, str]) -> list[JobPlan]:
    if not isinstance(raw, dict) or not raw.get("steps"):
        raise Broken(f"job {key} has no steps")
    _only(raw, _JOB, f"jobs.{key}")
    name = str(raw.get("name") or key)
    values = _matrix(raw.get("strategy"), key)
    plans = []
    for axis, value in values:
        shown = {f"matrix.{axis}": str(value)} if axis else {}
        title = _fill(name, shown) if "${{" in name or not axis else f"{name} ({value})"
        minutes = raw.get("timeout-minutes")
        steps = tuple(_step(step, shown, key) for step in raw["steps"])
        timeout_s = float(minutes) * 60 if minutes is not None else None
        plans.append(JobPlan(title, steps, _filled(env | _texts(raw.get("env")), shown), timeout_s))
    return plans


def _matrix(strategy: Any, key: str) -> list[tuple[str, Any]]:
    if strategy is None:
        return [("", "")]
    _only(strategy, {"matrix", "fail-fast"}, f"jobs.{key}.strategy")
    matrix = strategy.get("matrix") or {}
    if len(matrix) != 1 or not isinstance(next(iter(matrix.values())), list):
        raise Unsupported(f"jobs.{key}.strategy.matrix has more than one axis")
    axis, values = next(iter(matrix.items()))
    return [(axis, value) for value in values]


def _step(raw: Any, shown: Mapping[str, str], key: str) -> Step:
    _only(raw, _STEP, f"a step of jobs.{key}")
    condition = raw.get("if")
    if condition not in _CONDITIONS:
        raise Unsupported(f"jobs.{key}: if: {condition}")
    folder = _fill(str(raw.get("working-directory", ".")), shown)
    env, when = _filled(_texts(raw.get("env")), shown), _CONDITIONS[condition]
    if "run" in raw:
        command = _fill(str(raw["run"]), shown)
        title = str(raw.get("name") or f"Run {command.splitlines()[0] if command else ''}")
        return Step("run", title, command, when, env=env, folder=folder)
    action = str(raw.get("uses", ""))
    kind = _ACTIONS.get(action.partition("@")[0])
    if kind is None:
        raise Unsupported(f"jobs.{key}: uses: {action}")
    inputs = _filled(_texts(raw.get("with")), shown)
    return Step(kind, str(raw.get("name") or f"Run {action}"), action, when, inputs, env, folder)


def _fill(text: str, shown: Mapping[str, str]) -> str:
    """`${{ matrix.x }}` replaced; every other expression but `github.*` and `env.*` is refused."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in shown:
            return shown[name]
        if name.startswith("github."):
            return "${GITHUB_" + name.removeprefix("github.").upper() + "}"
        raise Unsupported(f"the expression {match[0]}")

    return _EXPRESSION.sub(value, text)


def _filled(values: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, str]:
    return {name: _fill(value, shown) for name, value in values.items()}


def _texts(raw: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in (raw or {}).items()}


def _only(raw: Any, known: set[Any], where: str) -> None:
    if not isinstance(raw, dict):
        raise Broken(f"{where} is no mapping")
    unknown = [str(name) for name in raw if name not in known]
    if unknown:
        raise Unsupported(f"{where}: {', '.join(unknown)}")
