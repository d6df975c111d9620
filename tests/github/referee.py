"""githubkit as a second judge: its client says again what was asked, and its models read what was answered (D-43)."""

import json
from collections.abc import Iterable
from inspect import Parameter, signature
from typing import Any

import httpx
from githubkit import GitHub
from pydantic import ValidationError

from tests.github.core.record import Told

_NAMES = {"repos/compare-commits-with-basehead": "repos/compare-commits"}
"""Where its methods are not called as GitHub's operations are."""


def objections(told: Iterable[Told]) -> list[str]:
    """A sentence for each request or answer that its models refuse; both API versions are read by the newer's."""
    answer = httpx.Response(500)
    found = []
    transport = httpx.MockTransport(lambda request: answer)
    with GitHub("none", transport=transport, http_cache=False, auto_retry=False) as client:
        for one in told:
            answer = httpx.Response(one.status, json=with_newer_fields(json.loads(one.answer)))
            try:
                _say_again(client, one)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                found.append(f"githubkit on {one.operation}: {error.title}: {first['loc']}: {first['msg']}")
    return found


def _say_again(client: GitHub[Any], one: Told) -> None:
    space, _, name = _NAMES.get(one.operation, one.operation).replace("-", "_").partition("/")
    method = getattr(getattr(client.rest, space), name)
    takes = signature(method).parameters
    given: dict[str, Any] = {key: value for key, value in one.params.items() if key in takes}
    needs = (key for key, param in takes.items() if param.default is Parameter.empty and key not in given)
    given |= {key: one.query[key] for key in needs if key in one.query}
    if "data" in takes and one.body is not None:
        given["data"] = one.body
    assert method(**given).parsed_data is not None


def with_newer_fields(body: Any) -> Any:
    """githubkit's models are some weeks younger than the description: a label may be archived by then."""
    if isinstance(body, list):
        return [with_newer_fields(item) for item in body]
    if not isinstance(body, dict):
        return body
    more = {"archived_at": None, "archived_by": None} if {"color", "default", "name"} <= body.keys() else {}
    return {key: with_newer_fields(value) for key, value in body.items()} | more
