"""Install the pinned agents from npm into a folder outside the repository, once for each lock file."""

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
INSTALL_S = 1200
NODE = 20
PROGRAMS = {
    "opencode": "opencode-linux-x64/bin/opencode",
    "opencode-acp": "opencode-linux-x64/bin/opencode",
    "codex": "@zed-industries/codex-acp-linux-x64/bin/codex-acp",
    "claude": ".bin/claude-agent-acp",
    "gemini": ".bin/gemini",
}
"""Name of the ready-made runner -> its program below `node_modules`."""


class NotHere(Exception):
    """The agents cannot be installed on this machine; the text says why."""


def node_modules(cache: Path) -> Path:
    """The folder with the agents of this lock file; raises NotHere."""
    lock = (HERE / "package-lock.json").read_bytes()
    place = cache / hashlib.sha256(lock).hexdigest()[:16]
    if (place / "complete").exists():
        return place / "node_modules"
    _check_machine()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, place / name)
    argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"]
    done = subprocess.run(argv, cwd=place, capture_output=True, text=True, timeout=INSTALL_S, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise NotHere(f"npm could not install the agents: {done.stderr.strip()[-500:]}")
    (place / "complete").touch()
    return place / "node_modules"


def _check_machine() -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NotHere(f"the pinned agents are for Linux on x86_64, this is {platform.system()} {platform.machine()}")
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise NotHere("there is no npm, or no node")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    if int(version.strip().lstrip("v").partition(".")[0] or 0) < NODE:
        raise NotHere(f"node is {version.strip()}, {NODE} is needed")
