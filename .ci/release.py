"""What a release carries beside its files: `release.py notes TAG` and `release.py sbom`; standard library only."""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIN = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)[^\n]*((?:\n +--hash=sha256:[0-9a-f]{64}[^\n]*)+)", re.MULTILINE
)


def version() -> str:
    """As in pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def notes(tag: str) -> str:
    """The changelog's part about this version; SystemExit when tag, version and changelog disagree."""
    if tag != f"v{version()}":
        sys.exit(f"tag {tag} is not v{version()} of pyproject.toml")
    parts = re.split(r"^## \[([^\]]+)\][^\n]*\n", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True)).get(version(), "").strip()
    if not found:
        sys.exit(f"CHANGELOG.md has nothing about {version()}")
    return found


def sbom() -> str:
    """CycloneDX 1.6 of the lock: every package with its version and the hashes that are accepted."""
    pins = PIN.findall((ROOT / "requirements.lock").read_text())
    parts = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name.lower()}@{pinned}",
            "name": name,
            "version": pinned,
            "purl": f"pkg:pypi/{name.lower()}@{pinned}",
            "hashes": [
                {"alg": "SHA-256", "content": digest} for digest in re.findall(r"sha256:([0-9a-f]{64})", hashes)
            ],
        }
        for name, pinned, hashes in pins
    ]
    subject = {"type": "application", "bom-ref": "remedy", "name": "remedy", "version": version()}
    depends = {"ref": "remedy", "dependsOn": [part["bom-ref"] for part in parts]}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": subject}}
    return json.dumps({**bom, "components": parts, "dependencies": [depends]}, indent=1)


if __name__ == "__main__":
    sys.stdout.write((notes(sys.argv[2]) if sys.argv[1] == "notes" else sbom()) + "\n")
