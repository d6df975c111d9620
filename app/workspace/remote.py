"""Speak with a remote repository over git: fetch what is named, push one commit, never by force."""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from app.errors import TransientError, UserError
from app.workspace.git import Git, GitFailed, GitTimeout, credentials, is_ref, is_sha

FETCH_S = 1800
PUSH_S = 600
FETCHED = "refs/fetched/"

# Old histories of honest repositories hold these; each is harmless. Everything else that fsck finds refuses the fetch.
TOLERATED = (
    "zeroPaddedFilemode",
    "badTimezone",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingNameBeforeEmail",
    "missingEmail",
    "badName",
    "badEmail",
    "badDate",
    "zeroPaddedDate",
)

RefusedReason = Literal[
    "moved", "not_a_descendant", "never", "bad_name", "workflows", "permission", "protected", "rejected"
]


class AccessRefused(UserError):
    """The remote does not know the repository or does not let this token in. `status` is 401, 403 or 404."""

    def __init__(self, status: int, url: str) -> None:
        super().__init__(f"git access to {shown(url)} was refused (HTTP {status}).")
        self.status = status


@dataclass(frozen=True)
class Pushed:
    """The remote branch now is `sha`; `already` when it was before."""

    sha: str
    already: bool = False


@dataclass(frozen=True)
class Refused:
    """Nothing was written. `detail` is the remote's own sentence or ours."""

    reason: RefusedReason
    detail: str


@dataclass(frozen=True)
class Target:
    """Where a commit goes: `expected` is the branch's SHA now, None: must not exist; `never` are names refused."""

    branch: str
    expected: str | None
    never: Collection[str] = ()


def shown(url: str) -> str:
    """The URL without anything that could be a credential."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme else url


def talking(git_dir: Path, url: str, token: str, ca_file: Path | None) -> Git:
    """git that may use the one protocol of `url`, and sends `token` to its host alone."""
    scheme = urlsplit(url).scheme or "file"
    if scheme not in ("https", "http", "file"):
        raise ValueError(f"no git over {scheme}")
    config = {
        f"protocol.{scheme}.allow": "always",
        "http.followRedirects": "false",
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "60",
        "credential.helper": "",
        "transfer.fsckObjects": "true",
        "fetch.recurseSubmodules": "false",
        "push.recurseSubmodules": "no",
        "push.followTags": "false",
        **{f"fetch.fsck.{name}": "ignore" for name in TOLERATED},
    }
    if ca_file is not None:
        config["http.sslCAInfo"] = str(ca_file)
    return Git(git_dir, config=config, secret_config=credentials(url, token))


def kept_as(want: str) -> str:
    """Ref of ours that keeps what was fetched; hashed, because `a` and `a/b` cannot both be refs."""
    return FETCHED + (f"sha-{want}" if is_sha(want) else f"ref-{hashlib.sha256(want.encode()).hexdigest()[:40]}")


def fetch(git: Git, url: str, wants: Sequence[str]) -> dict[str, str]:
    """Fetch full ref names and SHAs; want -> SHA. What the remote does not have is left out.

    Raises AccessRefused, TransientError, and ValueError for a want that is neither a ref nor a SHA.
    """
    for want in wants:
        if not (is_sha(want) or is_ref(want)):
            raise ValueError(f"not a full ref name or SHA: {want!r}")
    left = list(wants)
    while left:
        specs = [f"+{want}:{kept_as(want)}" for want in left]
        try:
            git.run("fetch", *_FETCH_OPTIONS, "--end-of-options", url, *specs, wall_s=FETCH_S)
            break
        except GitFailed as error:
            absent = _absent(error.text, left)
            if absent is None:
                raise trouble(error, url) from error
            left.remove(absent)
    return {want: git.text("rev-parse", "--verify", "--end-of-options", kept_as(want)) for want in left}


_FETCH_OPTIONS = (
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-show-forced-updates",
    "--quiet",
)


def remote_sha(git: Git, url: str, branch: str) -> str | None:
    """SHA of a branch at the remote, None when it has no such branch; raises as `fetch`."""
    ref = f"refs/heads/{branch}"
    if not is_ref(ref):
        return None
    try:
        lines = git.text("ls-remote", "--refs", "--quiet", "--end-of-options", url, ref, wall_s=PUSH_S).splitlines()
    except GitFailed as error:
        raise trouble(error, url) from error
    rows = (line.split("\t", 1) for line in lines if "\t" in line)
    return next((sha for sha, name in rows if name == ref), None)


def push(git: Git, url: str, sha: str, target: Target) -> Pushed | Refused:
    """Write `sha` to a branch that is at `target.expected`, with that as lease.

    Never forces: a commit that does not descend from `expected` is refused here before the remote is asked.
    Raises AccessRefused (401, 404) and TransientError with outcome `unknown`.
    """
    ref = f"refs/heads/{target.branch}"
    if refusal := _refused_here(git, ref, sha, target):
        return refusal
    lease = f"--force-with-lease={ref}:{target.expected or ''}"
    done = git.ask("push", "--porcelain", "--no-verify", lease, "--end-of-options", url, f"{sha}:{ref}", wall_s=PUSH_S)
    rows = (line.split("\t") for line in done.out.decode("utf-8", "replace").splitlines())
    row = next((row for row in rows if len(row) == 3 and row[1].endswith(f":{ref}")), None)
    if row is None:
        error = GitFailed(("push",), done.rc, done.err)
        refused = trouble(error, url)
        if isinstance(refused, AccessRefused) and refused.status == 403:
            return Refused("permission", str(refused))
        raise refused from error
    if row[0] == "!":
        return _refused_there(row[2], done.err)
    return Pushed(sha, already=row[0] == "=")


def _refused_here(git: Git, ref: str, sha: str, target: Target) -> Refused | None:
    if not is_ref(ref) or target.branch.startswith("-"):
        return Refused("bad_name", "the branch name is not one that git allows")
    if target.branch in target.never or target.branch.startswith("gh-readonly-queue/"):
        return Refused("never", "Remedy does not push to this branch")
    if target.expected is not None and git.ask("merge-base", "--is-ancestor", target.expected, sha).rc != 0:
        return Refused("not_a_descendant", f"{sha} does not descend from {target.expected}")
    return None


# Words of git 2.39 and of GitHub (github.md, F-P1), compared in lower case; the first that matches counts.
_SAID: Sequence[tuple[str, RefusedReason]] = (
    ("stale info", "moved"),
    ("fetch first", "moved"),
    ("non-fast-forward", "moved"),
    ("cannot lock ref", "moved"),
    ("reference already exists", "moved"),
    ("create or update workflow", "workflows"),
    ("protected branch", "protected"),
    ("rule violations", "protected"),
    ("permission", "permission"),
)


def _refused_there(said: str, err: str) -> Refused:
    words = f"{said}\n{err}".lower()
    found = next((reason for text, reason in _SAID if text in words), None)
    return Refused(found or "rejected", said.strip()[:500])


_STATUS = re.compile(r"requested URL returned error: (\d{3})|HTTP (\d{3})")


def trouble(error: GitFailed, url: str) -> AccessRefused | TransientError:
    """What a failed conversation means: refused for good, or worth another try."""
    found = _STATUS.search(error.text)
    status = int(found.group(1) or found.group(2)) if found else 0
    if status in (401, 403, 404):
        return AccessRefused(status, url)
    if "Authentication failed" in error.text or "could not read Username" in error.text:
        return AccessRefused(401, url)
    if "does not appear to be a git repository" in error.text or "not found" in error.text.lower():
        return AccessRefused(404, url)
    why = "timed out" if isinstance(error, GitTimeout) else _first_word(error.text)
    return TransientError(f"git and {shown(url)}: {why}", outcome="unknown")


def _first_word(text: str) -> str:
    """The first line that is an error of git or of the other side; what follows is advice."""
    lines = text.strip().splitlines()
    found = next((line for line in lines if line.startswith(("fatal: ", "error: ", "remote: "))), "")
    return found[:300] or "no answer"


def _absent(text: str, left: Sequence[str]) -> str | None:
    """The want that the remote says it does not have, if that is why it failed."""
    found = re.search(r"couldn't find remote ref (\S+)|not our ref ([0-9a-f]+)", text)
    name = (found.group(1) or found.group(2)) if found else ""
    return name if name in left else None
