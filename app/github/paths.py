"""Paths of GitHub's API, with every part encoded (F-V4)."""

import re
from urllib.parse import quote

# A part of a name may hold anything else that GitHub allows; a dot segment would climb out of the path.
_NAME = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


def path(*parts: str | int) -> str:
    """`/a/b/c` with every part encoded, slashes included; `ValueError` for an empty part or a dot segment."""
    texts = [str(part) for part in parts]
    if any(text in ("", ".", "..") for text in texts):
        raise ValueError(f"no path of GitHub's API has these parts: {texts!r}")
    return "/" + "/".join(quote(text, safe="") for text in texts)


def repo_path(full_name: str, *parts: str | int) -> str:
    """The path below `/repos/{owner}/{name}`; `full_name` is `owner/name`."""
    if not _NAME.fullmatch(full_name):
        raise ValueError(f"not the full name of a repository: {full_name[:100]!r}")
    return path("repos", *full_name.split("/"), *parts)
