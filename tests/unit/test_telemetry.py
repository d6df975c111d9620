"""Lines of the log: their form, their keys, and no secret in them (RD6, S45, style.md 2.9)."""

import ast
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from app.settings import Settings
from app.telemetry import FACTS, KEYS, known_secrets, start_logging

ROOT = Path(__file__).parents[2]
LEVELS = {"debug", "info", "warning", "error", "exception", "bind"}

SECRETS = {
    "webhook_secret": "whs-5f0c1e9d77aa4b21",
    "secret_key": "sk3y-9c4e22f1d0b84d7a",
    "metrics_token": "mtr-5f0c1e9d-8b1d2a",
    "DATABASE_URL": "postgresql://remedy:pgp4ss-77aa9c4e22@db.example/remedy",
    "REDIS_URL": "redis://:r3dis-pw-5f0c1e9d@redis.example/0",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Logging as pytest had set it up."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def settings() -> Settings:
    return Settings.model_validate(SECRETS)


def line_of(stream: io.StringIO) -> dict[str, object]:
    (line,) = stream.getvalue().splitlines()
    return dict(json.loads(line))


def test_one_event_is_one_line_of_json(settings: Settings) -> None:
    stream = io.StringIO()
    start_logging(settings, "web", stream)
    structlog.get_logger("x").info(
        "delivery kept", outcome="stored", delivery="g-1", github_event="check_run", wall_s=0.25
    )

    line = line_of(stream)
    assert list(line) == ["at", "level", "part", "text", "delivery", "event", "outcome", "wall_s"]
    assert (line["level"], line["part"], line["text"]) == ("info", "web", "delivery kept")
    assert (line["event"], line["wall_s"]) == ("check_run", 0.25)


def test_ux_t4_a_terminal_gets_time_level_part_text(settings: Settings) -> None:
    stream = Terminal()
    start_logging(settings, "quick", stream)
    structlog.get_logger("x").warning("doorbell not heard", job="intake")
    assert stream.getvalue()[8:] == " warning quick    doorbell not heard job=intake\n"


def test_libraries_speak_the_same_way(settings: Settings) -> None:
    stream = io.StringIO()
    start_logging(settings, "web", stream)
    logging.getLogger("some.library").warning("slow answer from %s", "there")
    assert line_of(stream)["text"] == "slow answer from there"


def test_quiet_levels_cost_nothing_and_write_nothing(settings: Settings) -> None:
    stream = io.StringIO()
    start_logging(settings, "web", stream)
    structlog.get_logger("x").debug("ignored")
    logging.getLogger("httpx").info("a request")
    assert stream.getvalue() == ""


def test_rd6_no_secret_reaches_a_line(settings: Settings) -> None:
    """In texts, values, objects, exceptions and the lines of libraries."""
    stream = io.StringIO()
    start_logging(settings, "web", stream)
    log = structlog.get_logger("x")
    for secret in known_secrets(settings):
        log.info(f"text {secret}", value=secret, nested={"deep": [secret]}, raw=secret.encode())
        logging.getLogger("library").warning("failed with %s", secret)
        try:
            raise ValueError(f"cannot use {secret}")
        except ValueError:
            log.exception("broken")
            logging.getLogger("library").exception("broken too")
    said = stream.getvalue()
    assert len(known_secrets(settings)) == 5
    for secret in known_secrets(settings):
        assert secret not in said
    assert "ValueError" in said


def test_known_secrets_are_all_values_that_the_process_holds(settings: Settings) -> None:
    assert set(known_secrets(settings)) == {
        "whs-5f0c1e9d77aa4b21",
        "sk3y-9c4e22f1d0b84d7a",
        "mtr-5f0c1e9d-8b1d2a",
        "pgp4ss-77aa9c4e22",
        "r3dis-pw-5f0c1e9d",
    }


def keys_in_code() -> set[str]:
    """Every keyword of a line that `app` or `jobs` writes."""
    calls = [
        node
        for folder in ("app", "jobs")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS
    ]
    ours = [call for call in calls if getattr(call.func.value, "id", "") in {"log", "logger", "bound"}]  # type: ignore[attr-defined]
    return {str(keyword.arg) for call in ours for keyword in call.keywords}


def test_the_keys_of_lines_are_closed_and_documented() -> None:
    """style.md 2.9: who reads our lines by machine may rely on them."""
    renamed = {"github_event": "event"}
    used = {renamed.get(key, key) for key in keys_in_code()} - {"exc_info"}
    assert used <= {*KEYS, *FACTS}, "a new key goes into FACTS of app/telemetry.py and into docs/operations.md"
    table = (ROOT / "docs" / "operations.md").read_text().partition("## Log")[2].partition("\n## ")[0]
    told = {key for row in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    assert told == {"at", "level", "part", "text", *KEYS, *FACTS}
