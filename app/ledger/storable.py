"""Text that both databases can keep: PostgreSQL takes no NUL character, neither takes half of a surrogate pair."""

import json
from typing import Any

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """The text with every character that cannot be stored replaced by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", _UNKNOWN).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_json(value: Any) -> str:
    """JSON whose texts can be stored; raises TypeError for what JSON has no word for, NaN included."""
    return json.dumps(_storable(value), allow_nan=False)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(key)): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
