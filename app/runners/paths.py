"""Paths that an agent names, as paths of the workspace."""

import os
from pathlib import Path, PurePosixPath

from app.runners.runner import SessionSpec


def inside(path: str, spec: SessionSpec) -> str | None:
    """`path` relative to the workspace with links resolved on the host, None when it lies outside or cannot be told."""
    seen = PurePosixPath(spec.cwd, path)
    if not seen.is_relative_to(spec.cwd) or "\x00" in path:
        return None
    root = Path(os.path.realpath(spec.workspace))
    real = Path(os.path.realpath(root / seen.relative_to(spec.cwd)))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def check_workspace(spec: SessionSpec) -> None:
    """RN-49: some agents accept a folder that does not exist, so we look; a bad one is our own bug."""
    path = spec.workspace
    is_folder = path.is_absolute() and path.is_dir() and not path.is_symlink()
    if not is_folder or not spec.cwd.startswith("/") or not spec.cwd.isascii():
        raise ValueError(f"not a workspace: {path}")
