"""An API request on its way: fault, auth, route, validate, permission, limits, operation, validate the answer (C1)."""

import hashlib
import json
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.github import auth, limits
from tests.github.auth import Caller
from tests.github.call import Call
from tests.github.core.messages import FORBIDDEN, NOT_FOUND, Answer, FileBody, Refused, Request, not_found
from tests.github.core.permissions import ANY_TOKEN, APP, NEEDS, NOBODY, grants
from tests.github.core.record import Asked, Told
from tests.github.core.spec import Fault as SpecFault
from tests.github.core.spec import Match, Operation
from tests.github.core.state import Repository
from tests.github.faults import Fault
from tests.github.ops import HANDLERS
from tests.github.versions import DEFAULT_VERSION, VERSIONS, drop_fields

if TYPE_CHECKING:
    from tests.github.world import World

DOCS = "https://docs.github.com/rest"
NOT_SERVED = 501
OUR_BUG = 599
_NO_BODY = ("GET", "HEAD", "DELETE")
# Both are absent in 3.17 to 3.19 (D-13).
_NOT_IN_GHES = frozenset({"issues/add-sub-issue", "issues/list-sub-issues"})


@dataclass
class Asking:
    """A request while it is being answered; what is known of it grows on the way."""

    request: Request
    match: Match | None = None
    caller: Caller = field(default_factory=Caller)
    version: str = DEFAULT_VERSION
    body: Any = None
    call: Call | None = None

    @property
    def operation(self) -> Operation | None:
        return self.match.operation if self.match is not None else None


def handle(world: "World", request: Request, fault: Fault | None = None) -> Answer:
    """The answer to one API request, recorded; `fault` is one that strikes in place of the operation or after it."""
    with world.transaction():
        asking = Asking(request)
        try:
            answer = _answer(world, asking, fault)
        except Refused as refused:
            answer = _refusal(world, asking, refused)
        except Exception:
            answer = _our_bug(world, asking, traceback.format_exc(limit=-4))
        answer = _checked(world, asking, answer)
        _finish(world, asking, answer)
        _keep(world, asking, answer)
        if fault is not None and fault.after_effect and fault.status is not None:
            answer = Answer(fault.status, fault.body, dict(fault.headers))
        operation = asking.operation.id if asking.operation is not None else None
        world.record.asked.append(
            Asked(
                at=world.clock.now_ms(),
                method=request.method,
                path=request.path,
                operation=operation,
                who=asking.caller.who,
                status=answer.status,
                body=asking.body,
                query=request.query,
            )
        )
        return answer


def route(world: "World", request: Request) -> Match | None:
    """The operation of a request, with renamed and numbered repositories followed by the caller's redirect."""
    return world.spec.match("GET" if request.method == "HEAD" else request.method, _inner_path(world, request))


def _answer(world: "World", asking: Asking, fault: Fault | None) -> Answer:
    request = asking.request
    asking.match = route(world, request)
    _common(world, asking)
    strikes = fault if fault is not None and not fault.after_effect else None
    if strikes is not None and strikes.limit is None:
        return Answer(strikes.status or 502, strikes.body, dict(strikes.headers))
    asking.caller = auth.identify(world, request)
    if strikes is not None:
        raise _limited(world, asking, strikes)
    operation = _served(world, asking)
    asking.body = _json(request)
    _check_kind(asking.caller, operation)
    repository = _repository(world, asking)
    _check_permission(asking.caller, operation)
    world.limits.charge(asking.caller.who, request.method, operation.id)
    asking.call = Call(
        world=world,
        operation=operation,
        request=request,
        caller=asking.caller,
        params=asking.match.params if asking.match is not None else {},
        query=_query(world, asking, operation),
        body=_body(world, asking, operation),
        found=repository,
    )
    result = HANDLERS[operation.id](asking.call)
    answer = result if isinstance(result, Answer) else Answer(_success(operation), result)
    answer.headers = {**asking.call.headers, **answer.headers}
    return answer


def _common(world: "World", asking: Asking) -> None:
    request = asking.request
    if not request.header("user-agent"):
        raise Refused(
            403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."
        )
    given = request.header("x-github-api-version")
    if given is not None and given not in VERSIONS:
        raise Refused(400, f"The API version '{given}' is not supported.")
    asking.version = given or DEFAULT_VERSION
    mints = asking.operation is not None and asking.operation.id == "apps/create-installation-access-token"
    if given is None and not mints and asking.operation is not None:
        world.record.violate(asking.operation.id, "version", "no X-GitHub-Api-Version header")


def _limited(world: "World", asking: Asking, fault: Fault) -> Refused:
    if fault.limit == "primary":
        return limits.primary(world.limits, asking.caller.who)
    return limits.secondary(None if fault.limit == "bare" else 60)


def _served(world: "World", asking: Asking) -> Operation:
    operation = asking.operation
    if operation is None:
        world.record.violate("none", "path", f"{asking.request.method} {asking.request.path} is no operation")
        raise not_found()
    if world.options.ghes and operation.id in _NOT_IN_GHES:
        raise not_found()
    if operation.id not in HANDLERS:
        world.record.violate(operation.id, "operation", "not served by the local GitHub")
        raise Refused(NOT_SERVED, f"{operation.id} is not served by the local GitHub")
    return operation


def _check_kind(caller: Caller, operation: Operation) -> None:
    """App operations want the app's JWT, all others a token (F-W5)."""
    needs = NEEDS[operation.id]
    if needs == NOBODY:
        return
    if caller.kind == "nobody":
        raise Refused(401, "Requires authentication")
    if (caller.kind == "app") != (needs == APP):
        text = "A JSON web token could not be decoded" if needs == APP else FORBIDDEN
        raise Refused(401 if needs == APP else 403, text)


def _repository(world: "World", asking: Asking) -> Repository | None:
    """The repository of the path; unknown and foreign ones look the same, a renamed one is a redirect (GH-32)."""
    params = asking.match.params if asking.match is not None else {}
    if "owner" not in params or "repo" not in params or asking.caller.kind == "app":
        return None
    name = f"{params['owner']}/{params['repo']}"
    found = world.state.find_repository(name)
    if found is None:
        for repository in world.state.repositories.values():
            if name.lower() in repository.former_names and asking.caller.sees(repository):
                rest = asking.request.path.split("/repos/", 1)[1].split("/", 2)[2:]
                location = "/".join([f"{world.api_url}/repositories/{repository.id}", *rest])
                raise Refused(301, "Moved Permanently", headers={"Location": location})
    if found is None or not asking.caller.sees(found):
        raise not_found()
    return found


def _check_permission(caller: Caller, operation: Operation) -> None:
    needs = NEEDS[operation.id]
    if needs in (APP, NOBODY, ANY_TOKEN) or grants(caller.permissions, needs):
        return
    raise Refused(403, FORBIDDEN, headers={"X-Accepted-GitHub-Permissions": needs})


def _query(world: "World", asking: Asking, operation: Operation) -> dict[str, Any]:
    """Typed values; an unknown or oversize one is noted, a wrong one is 422 (D-9)."""
    known = {param["name"]: param for param in operation.params("query")}
    values: dict[str, Any] = {}
    for name, text in asking.request.query:
        if name not in known:
            world.record.violate(operation.id, name, "unknown query parameter")
            continue
        value = _typed(text, known[name]["schema"])
        faults = world.spec.param_faults(operation, name, value)
        if faults:
            world.record.violate(operation.id, name, faults[0].message)
            raise _invalid(world, operation, [SpecFault(name, faults[0].message)])
        values[name] = value
        if name == "per_page" and not 1 <= value <= 100:
            world.record.violate(operation.id, name, f"{value} is not within 1 to 100")
            values[name] = max(value, 1)
    for name, param in known.items():
        if param["required"] and name not in values:
            world.record.violate(operation.id, name, "missing query parameter")
            raise _invalid(world, operation, [SpecFault(name, "missing", missing=True)])
    return values


def _body(world: "World", asking: Asking, operation: Operation) -> dict[str, Any]:
    given = asking.body
    if operation.raw["body"] is None:
        if given not in (None, {}):
            world.record.violate(operation.id, "body", "this operation takes no body")
        return {}
    if given is None and operation.raw["body_required"]:
        world.record.violate(operation.id, "body", "missing body")
        raise Refused(400, "Body should be a JSON object")
    faults = world.spec.body_faults(operation, given) if given is not None else []
    if faults:
        world.record.violate(operation.id, faults[0].field, faults[0].message)
        raise _invalid(world, operation, faults)
    for name in world.spec.unknown_fields(operation, given or {}):
        world.record.violate(operation.id, name, "unknown body field")
    return given if isinstance(given, dict) else {"labels": given} if isinstance(given, list) else {}


def _invalid(world: "World", operation: Operation, faults: list[SpecFault]) -> Refused:
    errors = [
        {
            "resource": operation.id.split("/")[0].title(),
            "field": fault.field,
            "code": "missing_field" if fault.missing else "invalid",
            "message": fault.message,
        }
        for fault in faults
    ]
    return Refused(422, "Validation Failed", errors)


def _refusal(world: "World", asking: Asking, refused: Refused) -> Answer:
    operation = asking.operation
    body: dict[str, Any] = {"message": refused.message, "documentation_url": DOCS, "status": str(refused.status)}
    if refused.status == 301:
        body = {"message": refused.message, "url": refused.headers["Location"], "documentation_url": DOCS}
    if refused.errors is not None:
        plain = operation is not None and world.spec.wants_plain_errors(operation)
        body["errors"] = [error.get("message", error["code"]) for error in refused.errors] if plain else refused.errors
    return Answer(refused.status, body, dict(refused.headers))


def _checked(world: "World", asking: Asking, answer: Answer) -> Answer:
    """Shape a good answer, then hold any answer of an operation against the description (D-4, D-15)."""
    operation = asking.operation
    raw = isinstance(answer.body, bytes | FileBody) or answer.status in (NOT_SERVED, OUR_BUG)
    if operation is None or raw or 500 <= answer.status < 600 or answer.status == 429:
        return answer
    if answer.status < 300:
        answer.body = world.spec.shape_answer(operation, answer.status, answer.body)
    faults = world.spec.answer_faults(operation, answer.status, answer.body)
    if faults:
        first = "; ".join(f"{fault.field}: {fault.message}" for fault in faults[:3])
        return _our_bug(world, asking, f"answer {answer.status} is outside the description: {first}")
    if answer.status < 300 and asking.version != DEFAULT_VERSION:
        answer.body = drop_fields(answer.body)
    return answer


def _our_bug(world: "World", asking: Asking, what: str) -> Answer:
    operation = asking.operation.id if asking.operation is not None else "none"
    world.record.violate(operation, "bug", what)
    return Answer(OUR_BUG, {"message": f"bug in the local GitHub: {what}"})


def _finish(world: "World", asking: Asking, answer: Answer) -> None:
    """The headers of every answer, the ETag and its 304 (D-18)."""
    request, who = asking.request, asking.caller.who
    number = f"{len(world.record.asked):08X}"
    headers = {
        "X-GitHub-Request-Id": f"F00D:{number}",
        "X-GitHub-Media-Type": "github.v3; format=json",
        "X-GitHub-Api-Version-Selected": asking.version,
        **({"X-GitHub-Enterprise-Version": world.options.ghes_version} if world.options.ghes else {}),
        **world.limits.headers(who),
        **answer.headers,
    }
    if answer.body is not None and not isinstance(answer.body, bytes | FileBody):
        answer.body = json.dumps(answer.body, ensure_ascii=False, separators=(",", ":")).encode()
        headers.setdefault("Content-Type", "application/json; charset=utf-8")
    if request.method == "GET" and answer.status == 200 and isinstance(answer.body, bytes):
        headers["ETag"] = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
        if request.header("if-none-match") == headers["ETag"]:
            world.limits.refund(who)
            answer.status, answer.body = 304, None
    answer.headers = headers


def _keep(world: "World", asking: Asking, answer: Answer) -> None:
    """For the referee: what was answered well and in JSON."""
    is_json = answer.headers.get("Content-Type", "").startswith("application/json")
    if asking.match is None or not is_json or not 200 <= answer.status < 300 or not isinstance(answer.body, bytes):
        return
    request, match = asking.request, asking.match
    told = Told(match.operation.id, match.params, dict(request.query), asking.body, answer.status, answer.body)
    world.record.tell(told)


def _json(request: Request) -> Any:
    if not request.body or (request.method in _NO_BODY and not request.body.strip()):
        return None
    try:
        return json.loads(request.body)
    except ValueError as error:
        raise Refused(400, "Problems parsing JSON") from error


def _typed(text: str, schema: Any) -> Any:
    kind = schema.get("type")
    if kind == "integer" and text.lstrip("-").isdecimal():
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def _success(operation: Operation) -> int:
    return min(int(status) for status in operation.raw["responses"] if status.startswith("2"))


def _inner_path(world: "World", request: Request) -> str:
    """Without `/api/v3`, and with `/repositories/{id}/...` read as the repository of that number."""
    path = request.path.removeprefix("/api/v3") if world.options.ghes else request.path
    parts = path.split("/", 3)
    if len(parts) > 2 and parts[1] == "repositories" and parts[2].isdecimal():
        found = world.state.repositories.get(int(parts[2]))
        if found is not None:
            return "/".join(["/repos", found.full_name, *parts[3:]])
    return path


__all__ = ["NOT_FOUND", "handle", "route"]
