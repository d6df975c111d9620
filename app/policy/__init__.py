"""Read `.github/remedy.yml` of a base branch: what a repository asks of Remedy (IT-8, IT-9, decisions.md 51, 78)."""

import re
from collections.abc import Callable
from dataclasses import replace

from pydantic import ValidationError

from app.policy.commands import TestCommand
from app.policy.mistakes import Found, PolicyError, first_mistake
from app.policy.model import Policy
from app.policy.tree import Mistake, Tree, read_tree

__all__ = ["POLICY_PATH", "Policy", "PolicyError", "TestCommand", "load_policy", "read_policy"]

POLICY_PATH = ".github/remedy.yml"
DEFAULT_PATH = f"{POLICY_PATH} of the organisation"
POLICY_BYTES = 64 * 1024
_ENABLED = re.compile(rb"(?m)^enabled[ \t]*:[ \t]*([^#\r\n]*?)[ \t]*(?:#.*)?\r?$")

Reader = Callable[[str], bytes | None]


def load_policy(read: Reader, read_default: Reader | None = None) -> Policy | PolicyError | None:
    """The policy of a base branch; None where it has no file, which means silence.

    `read` gives the bytes at a path of that branch, or None. `read_default` reads the organisation's `.github`
    repository: its file only fills keys that the repository's own leaves out, and never `enabled` (decisions.md 78).
    """
    own = read(POLICY_PATH)
    if own is None:
        return None
    default = read_default(POLICY_PATH) if read_default else None
    return read_policy(own, default)


def read_policy(text: bytes | None, default: bytes | None = None) -> Policy | PolicyError | None:
    """As `load_policy`, for the texts themselves. Never raises: a mistake is a value (A16)."""
    if text is None:
        return None
    own = _tree(text, POLICY_PATH)
    if isinstance(own, PolicyError):
        return own
    wants = own.data.get("enabled") is True
    filling = _tree(default, DEFAULT_PATH) if default is not None else Tree(data={})
    if isinstance(filling, PolicyError):
        return replace(filling, wants_remedy=wants)
    data = {**{key: value for key, value in filling.data.items() if key != "enabled"}, **own.data}
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    ours = [one for one in found if not one["loc"] or one["loc"][0] in own.data]
    if ours:
        return replace(_error(first_mistake(ours, own), text, POLICY_PATH), wants_remedy=wants)
    return replace(_error(first_mistake(found, filling), default or b"", DEFAULT_PATH), wants_remedy=wants)


def _tree(text: bytes, path: str) -> Tree | PolicyError:
    """The data of one file; an empty one has no keys."""
    try:
        if len(text) > POLICY_BYTES:
            raise Mistake((1, 1), f"the file is larger than {POLICY_BYTES} bytes")
        tree = read_tree(text.decode("utf-8-sig"))
        if tree.data is None:
            tree.data = {}
        if not isinstance(tree.data, dict):
            raise Mistake((1, 1), "the file must have keys, such as `enabled: true`")
    except UnicodeDecodeError:
        return _error(Found((1, 1), "", "the file is not UTF-8 text"), b"", path)
    except Mistake as mistake:
        return _error(Found(mistake.place, "", mistake.text), text, path)
    return tree


def _error(found: Found, text: bytes, path: str) -> PolicyError:
    line, column = found.place
    lines = text.decode("utf-8", "replace").splitlines()
    excerpt = lines[line - 1][:200] if line <= len(lines) else ""
    return PolicyError(line, column, found.field, found.text, excerpt, _says_enabled(text), path)


def _says_enabled(text: bytes) -> bool:
    """Whether a file that cannot be read has a line `enabled: true`, and no other line about it."""
    found: list[bytes] = _ENABLED.findall(text)
    return bool(found) and all(value == b"true" for value in found)
