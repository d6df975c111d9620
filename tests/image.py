"""`python -m tests.image`: the Dockerfile's own commands in a clean Debian root, where there is no container engine.

Needs root and debootstrap. Debian's Python stands in for the base image's, everything else is as the Dockerfile says
it; then the program runs as the image would: that user, a read-only root, two folders to write to. What this cannot
tell: the base image, layers, the engine's own confinement. A chroot has no user namespaces, so no sandbox is found.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
WITH = "python3-venv,python-is-python3,ca-certificates"
FILES = ("/etc/pip.conf", "/etc/resolv.conf", "/etc/apt/apt.conf.d", "/etc/ssl/certs/ca-certificates.crt")
"""How this machine reaches packages."""
LOOK = """
touch /opt/written 2>/dev/null && exit 9
remedy --help > /dev/null && remedy migrate || exit 8
timeout 60 remedy doctor --json > /tmp/doctor.json
remedy web 2> /tmp/web.log & web=$!
ask='import urllib.request as u; print(u.urlopen("http://127.0.0.1:8000/readyz").read().decode())'
for _ in $(seq 50); do python -c "$ask" 2>/dev/null && answered=1 && break; sleep 0.2; done
kill $web
test "$answered $(id -u)" = "1 10001" || exit 7
"""


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(word, rest) of a Dockerfile, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    for line in filter(None, map(str.strip, joined.splitlines())):
        word, _, rest = line.partition(" ")
        yield word, rest.strip()


def build(root: Path) -> dict[str, str]:
    """Carry out both stages in one root; the environment that the image sets."""
    env, where = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}, "/"
    for word, rest in instructions((PROJECT / "Dockerfile").read_text()):
        if word == "WORKDIR":
            where = rest
            (root / where.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in sources:
                _copy(PROJECT / source, root / where.lstrip("/") / (target if target != "./" else source))
        elif word == "RUN":
            print(f"RUN {rest[:100]}", flush=True)
            _inside(root, env, f"cd {shlex.quote(where)} && {rest}")
        elif word == "ENV":
            env |= dict(part.split("=", 1) for part in shlex.split(rest.replace("$PATH", env["PATH"])))
    return env


def run(root: Path, env: dict[str, str]) -> None:
    """As the image would: its user, nothing to write to but `/tmp` and the data folder."""
    data = root / env["REMEDY_DATA"].lstrip("/")
    for options in (
        ("--rbind", root, root),
        ("--bind", data, data),
        ("-t", "tmpfs", "tmpfs", root / "tmp"),
        ("-o", "remount,bind,ro", root),
    ):
        subprocess.run(["mount", *map(str, options)], check=True)
    _inside(root, env, LOOK, "--userspec=10001:10001")
    told = json.loads((root / "tmp" / "doctor.json").read_text())
    print(f"doctor: {json.dumps(told)[:200]} ...")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def _inside(root: Path, env: dict[str, str], command: str, *options: str) -> None:
    subprocess.run(["chroot", *options, str(root), "/bin/sh", "-c", command], env=env, check=True, timeout=900)


def _prepare(root: Path) -> None:
    root.chmod(0o755)
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={WITH}", "bookworm", str(root)], check=True)
    for name in filter(os.path.exists, FILES):
        _copy(Path(name), root / name.lstrip("/"))
    subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)
    subprocess.run(["mount", "--rbind", "/dev", str(root / "dev")], check=True)


def main() -> int:
    if len(sys.argv) > 1:
        root = Path(sys.argv[1])
        _prepare(root)
        run(root, build(root))
        print("the Dockerfile's commands work in a clean root")
        return 0
    with tempfile.TemporaryDirectory(prefix="remedy-image-") as folder:
        # The mounts of a namespace end with it, so nothing of this machine is below the folder when it is removed.
        own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, "-m", "tests.image", folder]
        return subprocess.run(own, cwd=PROJECT).returncode


if __name__ == "__main__":
    sys.exit(main())
