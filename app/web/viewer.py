"""Who looks at a page, as every other part of the web needs to know it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Viewer:
    """`token` asks GitHub in the person's name; a script has `installation` instead, and sees that one's."""

    login: str
    key: str
    user_id: int = 0
    token: str = field(default="", repr=False)
    csrf: str = field(default="", repr=False)
    is_operator: bool = False
    installation: int | None = None
