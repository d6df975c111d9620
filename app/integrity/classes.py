"""Put each path into one class: harness, test, doc or source (proof.md, 3.1)."""

import posixpath
import re
import unicodedata
from fnmatch import fnmatchcase
from typing import Literal

from app.integrity.model import SYMLINK, Change, Files, Moved

Class = Literal["source", "test", "harness", "doc"]
STRICT: tuple[Class, ...] = ("harness", "test", "source", "doc")

_HARNESS_NAMES = re.compile(
    r"pytest\.ini|\.?pytest\.toml|pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|conftest\.py|sitecustomize\.py|"
    r"usercustomize\.py|jest\.(?:config|setup)\..*|vitest\.(?:config|workspace|setup)\..*|vite\.config\..*|"
    r"karma\.conf\..*|\.mocharc.*|\.rspec|\.coveragerc|\.nycrc.*|\.c8rc.*|spec_helper\.rb|rails_helper\.rb|"
    r"test_helper\.rb|package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.toml|"
    r"cargo\.lock|go\.mod|go\.sum|go\.work|requirements.*\.txt|constraints.*\.txt|poetry\.lock|uv\.lock|pipfile.*|"
    r"cmakelists\.txt|pom\.xml|build\.gradle.*|settings\.gradle.*|gemfile.*|rakefile|makefile|justfile|jenkinsfile|"
    r"\.gitlab-ci.*|\.travis\.yml|azure-pipelines.*|mypy\.ini|\.pylintrc|ruff\.toml|\.ruff\.toml|\.flake8|"
    r"\.eslintrc.*|eslint\.config\..*|\.eslintignore|tsconfig.*\.json|\.rubocop.*|clippy\.toml|rustfmt\.toml|"
    r"\.golangci\..*|codecov\.ya?ml|\.codecov\.ya?ml|setup\.py|babel\.config\..*|\.babelrc.*|build\.rs|.*\.pth"
)
_HARNESS_FOLDERS = frozenset(
    (".github", ".circleci", "node_modules", "vendor", "third_party", "site-packages", ".cargo", ".mvn", ".buildkite")
)
_VENDORED = frozenset(("node_modules", "vendor", "third_party", "site-packages"))
_TEST_FOLDERS = frozenset(
    ("test", "tests", "__tests__", "spec", "specs", "testdata", "golden", "snapshots", "__snapshots__", "__mocks__")
)
_TEST_NAMES = re.compile(r"test_.*\.py|.*_test\.(?:py|go|rb|rs)|test_.*\.rb|.*_spec\.rb|.*\.(?:test|spec)\..*|.*\.snap")
_DOC_NAMES = re.compile(r"(?:changelog|changes|history|readme|license|notice|authors)(?:\.(?:md|rst|adoc|txt))?")
_DOC_ENDS = (".md", ".rst", ".adoc")
_PICTURES = (".txt", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".html")
SNAPSHOTS = re.compile(
    r"(?:^|/)(?:__snapshots__|snapshots|golden|goldens|testdata|fixtures|approved|expected)/|"
    r"\.(?:snap|golden|approved\..*|expected|out)$",
    re.IGNORECASE,
)


def class_of(path: str, moved: Moved | None = None) -> Class:
    """The class of a path by its name alone; harness, test and doc are looked for in this order (PC-1)."""
    if moved is not None and (told := _told(path, moved)):
        return told
    folded = unicodedata.normalize("NFKC", path).casefold()
    folders = folded.split("/")[:-1]
    name = folded.rsplit("/", 1)[-1]
    if _HARNESS_NAMES.fullmatch(name) or _HARNESS_FOLDERS.intersection(folders):
        return "harness"
    if name == "__init__.py" and folders and folders[-1] in ("test", "tests"):
        return "harness"
    if _TEST_FOLDERS.intersection(folders) or _TEST_NAMES.fullmatch(name):
        return "test"
    below_docs = bool(folders) and folders[0] in ("docs", "doc")
    if name.endswith(_DOC_ENDS) or _DOC_NAMES.fullmatch(name) or (below_docs and name.endswith(_PICTURES)):
        return "doc"
    return "doc" if name.endswith(".txt") and not folders else "source"


def class_in(files: Files, path: str, moved: Moved | None = None) -> Class:
    """The class of a path of a tree: a link has the stricter of its own class and its target's (PC-6)."""
    own = class_of(path, moved)
    blob = files.get(path)
    if blob is None or blob.mode != SYMLINK:
        return own
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), blob.data.decode("utf-8", "replace")))
    if target.startswith(("..", "/")):
        return own
    return min(own, class_of(target, moved), key=STRICT.index)


def class_of_change(change: Change, moved: Moved | None = None) -> Class:
    """What was changed: a rename between classes is a change of tests or harness, never of source (PC-5)."""
    found = {class_of(path, moved) for path in (change.old, change.new) if path is not None}
    return min(found, key=STRICT.index)


def is_vendored(path: str) -> bool:
    """Code of others that stands in the tree."""
    return bool(_VENDORED.intersection(path.casefold().split("/")[:-1]))


def is_snapshot(path: str) -> bool:
    """A file that holds expected output."""
    return SNAPSHOTS.search(path) is not None


def _told(path: str, moved: Moved) -> Class | None:
    rows: tuple[tuple[Class, tuple[str, ...]], ...] = (
        ("harness", moved.harness),
        ("test", moved.test),
        ("source", moved.source),
    )
    return next((name for name, patterns in rows if any(fnmatchcase(path, one) for one in patterns)), None)
