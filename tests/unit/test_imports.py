"""What a process loads at its start (PN-1, PN-2): measured in a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import remedy

ROOT = Path(__file__).parents[2]

WEB = """
import sys
from app.main import create_app
from app.settings import Settings
create_app(Settings.model_validate({"webhook_secret": "a-webhook-secret"}))
"""
HELP = """
import sys
sys.argv = ["remedy", "--help"]
from app.cli import main
try:
    main()
except SystemExit:
    pass
"""


def loaded(program: str) -> set[str]:
    """The top-level modules in memory after `program`."""
    tell = "\nprint('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    out = subprocess.run([sys.executable, "-c", program + tell], cwd=ROOT, capture_output=True, text=True, check=True)
    (line,) = [line for line in out.stdout.splitlines() if line.startswith("LOADED ")]
    return set(line.split()[1:])


def test_pn_1_the_web_process_is_light() -> None:
    """Also ST-G1. Set-up pages, host tools and migrations import these when they are used."""
    modules = loaded(WEB)
    assert "starlette" in modules
    assert not modules & {"githubkit", "mcp", "acp", "alembic", "hishel", "markdown_it", "tree_sitter"}


def test_pn_2_help_is_light() -> None:
    modules = loaded(HELP)
    assert "typer" in modules
    assert not modules & {"sqlalchemy", "githubkit", "mcp", "acp", "alembic", "redis", "rq", "starlette"}


@pytest.mark.parametrize("verb", ["up", "web", "worker", "migrate", "doctor", "parse", "token"])
def test_help_of_each_verb(verb: str) -> None:
    shown = CliRunner().invoke(remedy, [verb, "--help"])
    assert (shown.exit_code, shown.output.startswith(f"Usage: remedy {verb}")) == (0, True)
