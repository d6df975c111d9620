"""The check run of a scope: title, summary, text, buttons and annotations, within GitHub's limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.redact import Redactor
from app.render.comment import PATTERNS
from app.render.engine import parts_of
from app.render.patch import take_away
from app.render.scope import redacted, values_of
from app.render.space import Space, fitted_parts, tidy
from app.render.text import clean, cut_line, one_line
from app.runs.model import Cause
from app.runs.projection import Button, CheckStatus, Conclusion, Projection, State, project
from app.runs.view import GroupView, ScopeView

NAME = "Remedy"
TITLE = 48
DESCRIPTION = 40
MOST_ANNOTATIONS = 10
_LABELS: Mapping[Button, str] = {"fix": "Fix", "resume": "Resume", "block": "Block"}
_SAME_TEXT = {State.CORRECTING: State.FIXING}
_MORE = ("pressed", "own_config")
"""Templates of lines that any state's summary may have below it; each sets a part of its own name."""
_ANNOTATED = frozenset({State.PLAN_REVIEW, State.FIXING, State.BLOCKED})


@dataclass(frozen=True)
class Action:
    """One button; label and identifier never change, the description says what it does now (UX-K3)."""

    label: str
    description: str
    identifier: Button


@dataclass(frozen=True)
class Annotation:
    """One remark at a line of the pull request's diff, level warning (UX-L7)."""

    path: str
    line: int
    title: str
    message: str
    raw_details: str


@dataclass(frozen=True)
class CheckBody:
    """What GitHub is told about our check. GitHub adds annotations up, so they are sent once per check (F-C4)."""

    head_sha: str
    external_id: str
    details_url: str
    status: CheckStatus
    conclusion: Conclusion | None
    title: str
    summary: str
    text: str
    actions: tuple[Action, ...]
    annotations: tuple[Annotation, ...] = ()

    def as_json(self, *, create: bool, annotations: bool = False) -> dict[str, Any]:
        """The body of GitHub's create or update request."""
        output: dict[str, Any] = {"title": self.title, "summary": self.summary}
        if self.text:
            output["text"] = self.text
        if annotations and self.annotations:
            output["annotations"] = [_annotation_json(annotation) for annotation in self.annotations]
        body: dict[str, Any] = {
            "name": NAME,
            "external_id": self.external_id,
            "details_url": self.details_url,
            "status": self.status,
            "output": output,
            "actions": [vars(action) for action in self.actions],
        }
        if create:
            body["head_sha"] = self.head_sha
        if self.conclusion is not None:
            body["conclusion"] = self.conclusion
        return body


def render_check(view: ScopeView, redactor: Redactor = PATTERNS) -> CheckBody:
    """The check of a scope's head, in one of its states; raises ValueError where nothing may be written."""
    shown = project(view)
    if shown is None:
        raise ValueError("nothing may be written about this scope")
    patch = take_away(view)
    if patch is not None and redactor.text(str(patch)) != patch:
        patch = None
    safe = redacted(view, redactor)

    def render(space: Space) -> Mapping[str, str]:
        name = _SAME_TEXT.get(shown.state, shown.state)
        values = values_of(safe, shown, space, patch)
        found = {part: text for page in (name, *_MORE) for part, text in parts_of(f"checks/{page}.j2", values).items()}
        return {name: tidy(part).strip("\n") for name, part in found.items()}

    parts = {**parts_of("checks/buttons.j2", {}), **fitted_parts(render)}
    return CheckBody(
        head_sha=view.head_sha,
        external_id=view.check_key,
        details_url=f"{view.public_url}/runs/{view.run.run_id}" if view.run else view.public_url,
        status=shown.status,
        conclusion=shown.conclusion,
        title=cut_line(one_line(redactor.text(parts["title"])), TITLE),
        summary=redactor.text("\n\n".join(parts[name] for name in ("summary", *_MORE) if parts[name])),
        text=redactor.text(parts.get("text", "")),
        actions=tuple(Action(_LABELS[button], parts[button][:DESCRIPTION], button) for button in shown.buttons),
        annotations=_annotations(safe, shown),
    )


def _annotations(view: ScopeView, shown: Projection) -> tuple[Annotation, ...]:
    if shown.state not in _ANNOTATED:
        return ()
    groups = [
        group for group in view.groups if group.cause is Cause.THIS_CHANGE and group.diff_file and group.diff_line
    ]
    return tuple(_annotation(group) for group in groups[:MOST_ANNOTATIONS])


def _annotation(group: GroupView) -> Annotation:
    words = parts_of("checks/annotation.j2", {"group": group})
    return Annotation(
        path=group.diff_file or "",
        line=group.diff_line or 0,
        title=words["title"][:255],
        message=words["message"],
        raw_details="\n".join(cut_line(clean(test), 400) for test in group.tests[:50]),
    )


def _annotation_json(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": "warning",
        "title": annotation.title,
        "message": annotation.message,
        "raw_details": annotation.raw_details,
    }
