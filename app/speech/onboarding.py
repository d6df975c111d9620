"""Send the small pull request that adds the policy file: once for a repository, and never again once closed."""

from app.github import files, pulls
from app.github.pulls import PullWrite
from app.github.repositories import get_branch, get_repository, read_file
from app.github.tokens import Purpose
from app.ledger import repos
from app.policy.starter import starter_keys
from app.render.policy import render_policy_file, render_policy_pull
from app.speech.letter import Dropped, Ending, Letter, Sent

BRANCH = "remedy/configure"
FILE = ".github/remedy.yml"


def propose_policy(letter: Letter) -> Ending:
    """Look for the file and for a former pull request before anything is made (OB-4)."""
    client, repo = letter.client, letter.repo
    facts = get_repository(client, repo)
    if facts.archived or (facts.fork and letter.told("policy") == "by itself"):
        return Dropped("an archived repository or a fork")
    known = pulls.find_pull_by_head(client, repo, BRANCH)
    if known is not None:
        return Sent(known.number) if known.is_open else Dropped(f"pull request {known.number} was closed")
    base = get_branch(client, repo, facts.default_branch or "main")
    if base is None:
        return Dropped("the repository is empty")
    if read_file(client, repo, FILE, base.sha) is not None:
        return Dropped("the file is there")
    with letter.s.write() as conn:
        repos.set_default_branch(conn, letter.repository.id, base.name)
    _push(letter, base.sha)
    title, body = render_policy_pull(letter.s.settings.url)
    made = pulls.open_pull(client, repo, PullWrite(title=title, body=body, head=BRANCH, base=base.name))
    return Sent(made.number)


def _push(letter: Letter, sha: str) -> None:
    """Branch and file, each only where it is not there from a try that was cut short."""
    writer = letter.client.acting(Purpose.PUSH, letter.repository.id)
    files.open_branch(writer, letter.repo, BRANCH, sha)
    if read_file(letter.client, letter.repo, FILE, BRANCH) is None:
        text = render_policy_file(starter_keys(), letter.s.settings.url)
        files.add_file(writer, letter.repo, BRANCH, FILE, text, "Add .github/remedy.yml")
