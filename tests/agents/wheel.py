"""Make a wheel that holds the QA agent as a runner: a package with `runner.yaml`, an entry point and a program."""

import zipfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent

METADATA = "Metadata-Version: 2.1\nName: qa-runner\nVersion: {version}\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
POINTS = "[console_scripts]\nqa-agent = qa_runner:main\n\n[remedy.runners]\nqa = qa_runner\n"
START = """import os
import runpy


def main():
    runpy.run_path(os.path.join(os.path.dirname(__file__), "qa.py"), run_name="__main__")
"""


def a_wheel(folder: Path, version: str = "1.0.0", points: str = POINTS, requires: str = "", **spec: Any) -> Path:
    """`qa_runner-<version>-py3-none-any.whl`; `spec` changes keys of the manifest's `spec`."""
    manifest = yaml.safe_load((HERE / "runner.yaml").read_text())
    manifest["metadata"]["version"] = version
    manifest["spec"].update({"command": ["qa-agent"], **spec})
    info = f"qa_runner-{version}.dist-info"
    metadata = METADATA.format(version=version) + (f"Requires-Dist: {requires}\n" if requires else "")
    files = {
        "qa_runner/__init__.py": START,
        "qa_runner/runner.yaml": yaml.safe_dump(manifest),
        **{f"qa_runner/{name}": (HERE / name).read_text() for name in ("qa.py", "qa_faults.py", "qa_tools.py")},
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": points,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    wheel = folder / f"qa_runner-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel
