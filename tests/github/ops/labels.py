"""Labels of a repository and of an issue."""

from typing import Any

from tests.github import bodies
from tests.github.acts import threads
from tests.github.call import Call
from tests.github.core.messages import invalid, not_found
from tests.github.core.state import Label

GROUP = "issues"


def list_labels_for_repo(call: Call) -> Any:
    return call.page(list(call.repository.labels.values()), lambda label: _body(call, label))


def get_label(call: Call) -> Any:
    return _body(call, _label(call))


def create_label(call: Call) -> Any:
    """422 `already_exists` is what a client may count as success (F-I3)."""
    if call.body["name"] in call.repository.labels:
        raise invalid("Label", "name", "already_exists")
    label = threads.label_named(call.world, call.repository, call.body["name"])
    _describe(call, label)
    return _body(call, label)


def update_label(call: Call) -> Any:
    label = _label(call)
    if "new_name" in call.body:
        del call.repository.labels[label.name]
        label.name = call.body["new_name"]
        call.repository.labels[label.name] = label
    _describe(call, label)
    return _body(call, label)


def list_labels_on_issue(call: Call) -> Any:
    return call.page(call.thread.labels, lambda label: _body(call, label))


def add_labels(call: Call) -> Any:
    names = [label if isinstance(label, str) else label["name"] for label in call.body.get("labels") or []]
    return _set(call, [*(label.name for label in call.thread.labels), *names])


def set_labels(call: Call) -> Any:
    return _set(call, [name if isinstance(name, str) else name["name"] for name in call.body.get("labels") or []])


def remove_label(call: Call) -> Any:
    names = [label.name for label in call.thread.labels]
    if call.params["name"] not in names:
        raise not_found()
    names.remove(call.params["name"])
    return _set(call, names)


def _set(call: Call, names: list[str]) -> Any:
    threads.set_labels(call.world, call.thread, names, call.actor)
    return [_body(call, label) for label in call.thread.labels]


def _describe(call: Call, label: Label) -> None:
    if len(call.body.get("description") or "") > 100:
        raise invalid("Label", "description")
    label.description = call.body.get("description", label.description)
    label.color = call.body.get("color", label.color)


def _label(call: Call) -> Label:
    found = call.repository.labels.get(call.params["name"])
    if found is None:
        raise not_found()
    return found


def _body(call: Call, label: Label) -> Any:
    return bodies.label(call.world, call.repository, label)
