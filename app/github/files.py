"""Write one file on a branch of our own, as one commit (the policy file is the only one written by API)."""

import base64

from app.github.client import Client
from app.github.errors import GitHubError
from app.github.paths import repo_path


def open_branch(client: Client, repo: str, branch: str, sha: str) -> None:
    """A branch at a commit; one that is there already, from a former try, stays where it is."""
    try:
        client.post(repo_path(repo, "git", "refs"), {"ref": f"refs/heads/{branch}", "sha": sha})
    except GitHubError as error:
        if error.status != 422:
            raise


def add_file(client: Client, repo: str, branch: str, path: str, text: str, message: str) -> None:
    """A new file; 422 when the branch has one by this name."""
    content = base64.b64encode(text.encode()).decode()
    client.put(repo_path(repo, "contents", path), {"message": message, "content": content, "branch": branch})
