"""What the App asks GitHub for: `app.yml`, which a test holds equal to the code (GH-33)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

APP_YML = Path(__file__).parents[2] / "app.yml"


@dataclass(frozen=True)
class Asked:
    """Permission to level, and the events that are subscribed to."""

    permissions: Mapping[str, str]
    events: tuple[str, ...]


@cache
def asked() -> Asked:
    """Read once per process."""
    data = yaml.safe_load(APP_YML.read_text())
    return Asked(data["default_permissions"], tuple(data["default_events"]))
