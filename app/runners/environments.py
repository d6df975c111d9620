"""A runner's own Python environment, made from the wheels in its folder; no code of theirs runs while it is made."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BUILD_S = 600
TAIL_CHARS = 20_000
DONE = "remedy-complete"

OURS_TO_PIP = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""What pip gets of our environment, beside its own settings and proxies: no secret of ours is among them."""
PREFIXES = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


class BuildFailed(Exception):
    """The environment was not made; `output` is the end of what was said."""

    def __init__(self, why: str, output: str) -> None:
        super().__init__(why)
        self.output = output[-TAIL_CHARS:]


def wheels_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.whl"))


def environment_of(store: Path, digest: str) -> Path:
    """Where the environment of a copy stands, made or not."""
    return store / "environments" / digest


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def build(folder: Path, place: Path, wall_s: float = BUILD_S) -> str:
    """Make the environment `place` from the wheels of `folder`, once; the end of the output. Raises BuildFailed.

    Only wheels are taken, also for what they need: building from source would run a stranger's code outside a sandbox.
    """
    if (place / DONE).exists():
        return ""
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.parent.chmod(0o755)
    pip = [str(place / "bin" / "python"), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    said = _run([sys.executable, "-I", "-m", "venv", str(place)], wall_s)
    said += _run([*pip, "--only-binary", ":all:", *map(str, wheels_in(folder))], wall_s)
    (place / DONE).touch()
    return said[-TAIL_CHARS:]


def remove(place: Path) -> None:
    """Delete an environment; one that is not there is no error."""
    shutil.rmtree(place, ignore_errors=True)


def _run(argv: list[str], wall_s: float) -> str:
    env = {name: value for name, value in os.environ.items() if name in OURS_TO_PIP or name.startswith(PREFIXES)}
    try:
        done = subprocess.run(argv, env=env, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=wall_s)
    except subprocess.TimeoutExpired as error:
        raise BuildFailed(f"the environment was not ready after {wall_s:.0f} seconds", _text(error.stderr)) from None
    said = _text(done.stdout) + _text(done.stderr)
    if done.returncode:
        raise BuildFailed(f"the environment could not be made (exit code {done.returncode})", said)
    return said


def _text(said: bytes | None) -> str:
    return (said or b"").decode("utf-8", "replace")
