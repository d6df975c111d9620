"""Find and download what a workflow run uploaded (F-A7)."""

from pathlib import Path

from app.errors import TransientError
from app.events.payloads.parts import Millis, Part, Text
from app.github.calls import Listing
from app.github.client import Client
from app.github.downloads import Download, download
from app.github.paths import repo_path


class Artifact(Part):
    """`digest` is `sha256:<hex>` where GitHub knows one."""

    id: int
    name: Text = ""
    size_in_bytes: int = 0
    expired: bool = False
    created_at: Millis = None
    expires_at: Millis = None
    digest: str | None = None


def find_artifacts(client: Client, repo: str, run_id: int) -> Listing[Artifact]:
    """The artifacts of a workflow run, of all its attempts."""
    return client.pages(repo_path(repo, "actions", "runs", run_id, "artifacts"), "artifacts").of(Artifact)


def download_artifact(client: Client, repo: str, artifact: Artifact, to: Path) -> Download:
    """The artifact as a zip file, compared with its digest; `expired` without asking when GitHub said so.

    With `left_out` it is no zip file any more. Raises TransientError when the bytes are not those of the digest.
    """
    if artifact.expired:
        return Download("expired")
    where = repo_path(repo, "actions", "artifacts", artifact.id, "zip")
    result = download(client, where, to, client.settings.limits.archive_bytes)
    kind, _, wanted = (artifact.digest or "").partition(":")
    if result.outcome == "read" and kind == "sha256" and wanted.lower() != result.sha256:
        raise TransientError(f"The artifact {artifact.id} arrived with other bytes than GitHub announced.")
    return result
