"""Real git over HTTP, and what follows from a push (D-22 to D-25, D-30)."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.github import LocalGitHub
from tests.github.core.state import Repository
from tests.github.stage import BREAKS, Api, broken_pull, shop


def git(folder: Path, *arguments: str, headers: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_NAME": "ann" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "ann@example.org" for role in ("AUTHOR", "COMMITTER")},
    }
    extra = [part for header in headers for part in ("-c", f"http.extraHeader={header}")]
    return subprocess.run(["git", *extra, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def url(github: LocalGitHub, repository: Repository, token: str | None) -> str:
    user = f"x-access-token:{token}@" if token is not None else ""
    return f"http://{user}{github.web_url.removeprefix('http://')}/{repository.full_name}.git"


@pytest.fixture
def repository(github: LocalGitHub) -> Repository:
    return shop(github)


@pytest.fixture
def clone(github: LocalGitHub, api: Api, repository: Repository, tmp_path: Path) -> Path:
    done = git(tmp_path, "clone", "-q", url(github, repository, api.token(repository, contents="write")), "work")
    assert done.returncode == 0, done.stderr
    return tmp_path / "work"


def commit(clone: Path, name: str, text: str) -> None:
    path = clone / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(clone, "add", "-A")
    assert git(clone, "commit", "-q", "-m", f"Change {name}").returncode == 0


def test_d_23_who_may_clone(github: LocalGitHub, api: Api, repository: Repository, tmp_path: Path) -> None:
    public = shop(github, "acme/open", private=False)
    assert git(tmp_path, "clone", "-q", url(github, public, None), "a").returncode == 0
    assert "could not read Username" in git(tmp_path, "clone", "-q", url(github, repository, None), "b").stderr
    foreign = git(tmp_path, "clone", "-q", url(github, repository, api.token(public)), "c")
    assert "not found" in foreign.stderr
    reader = url(github, repository, api.token(repository, checks="read"))
    assert "403" in git(tmp_path, "clone", "-q", reader, "d").stderr


def test_d_23_a_read_only_token_may_not_push(
    github: LocalGitHub, api: Api, clone: Path, repository: Repository
) -> None:
    commit(clone, "a.txt", "a")
    token = api.token(repository, contents="read")
    assert "403" in git(clone, "push", "-q", url(github, repository, token), "HEAD:refs/heads/x").stderr


def test_d_23_f_p6_two_authorization_headers_are_refused(clone: Path) -> None:
    """One persisted by a checkout action, one of ours."""
    one = "Authorization: basic eDp5"
    assert "400" in git(clone, "fetch", headers=(one, one)).stderr


def test_d_25_a_push_moves_the_branch_and_events_follow(
    github: LocalGitHub, clone: Path, repository: Repository
) -> None:
    pull = broken_pull(github, repository)
    seen = len(github.deliveries())
    assert git(clone, "fetch", "-q").returncode == 0
    git(clone, "checkout", "-q", "feature")
    commit(clone, "notes.txt", "n")
    assert git(clone, "push", "-q", "origin", "feature").returncode == 0
    github.settle()
    assert pull.head_sha == github.branches(repository)["feature"]
    names = [(d.event, d.action) for d in github.deliveries()][seen:]
    assert names == [
        ("pull_request", "synchronize"),
        ("check_suite", "requested"),
        ("workflow_run", "requested"),
        ("check_run", "created"),
    ]
    assert github.deliveries()[seen].payload["sender"]["login"] == "remedy[bot]"
    assert git(clone, "fetch", "-q", "origin", f"refs/pull/{pull.number}/head").returncode == 0


def test_d_24_f_p1_workflow_files_need_their_permission(
    github: LocalGitHub, clone: Path, repository: Repository
) -> None:
    commit(clone, ".github/workflows/extra.yml", "on: push\n")
    refused = git(clone, "push", "-q", "origin", "HEAD:refs/heads/x")
    assert "refusing to allow a GitHub App to create or update workflow `.github/workflows/extra.yml`" in refused.stderr
    assert "x" not in github.branches(repository)


def test_d_24_a_protected_branch_takes_no_push(github: LocalGitHub, clone: Path, repository: Repository) -> None:
    github.protect(repository, "main")
    commit(clone, "a.txt", "a")
    assert "GH006" in git(clone, "push", "-q", "origin", "HEAD:main").stderr


def test_f_p7_a_lease_and_a_fast_forward_are_asked_for_by_git_itself(
    github: LocalGitHub, clone: Path, repository: Repository
) -> None:
    old = github.branches(repository)["main"]
    github.push("bob", repository, "main", {"b.txt": "b"})
    commit(clone, "a.txt", "a")
    assert "fetch first" in git(clone, "push", "origin", "HEAD:main").stderr
    leased = git(clone, "push", f"--force-with-lease=main:{old}", "origin", "HEAD:main")
    assert "stale info" in leased.stderr


def test_d_22_clones_in_parallel_and_large_pushes_hold(
    github: LocalGitHub, api: Api, clone: Path, repository: Repository, tmp_path: Path
) -> None:
    (clone / "big.bin").write_bytes(os.urandom(3_000_000))
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "Big")
    assert git(clone, "push", "-q", "origin", "HEAD:refs/heads/big").returncode == 0
    source = url(github, repository, api.token(repository))

    def one(number: int) -> int:
        return git(tmp_path, "clone", "-q", "--branch", "big", source, f"copy{number}").returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [0] * 4
    assert git(tmp_path, "clone", "-q", "--depth", "1", source, "shallow").returncode == 0


def test_d_30_what_a_github_token_pushes_starts_nothing(
    github: LocalGitHub, clone: Path, repository: Repository
) -> None:
    broken_pull(github, repository)
    seen = len(github.deliveries())
    queued = github.queued_jobs()
    git(clone, "fetch", "-q")
    git(clone, "checkout", "-q", "feature")
    commit(clone, "a.txt", "a")
    target = url(github, repository, github.actions_token(repository))
    assert git(clone, "push", "-q", target, "feature").returncode == 0
    github.settle()
    assert github.queued_jobs() == queued
    assert [d.event for d in github.deliveries()][seen:] == ["pull_request"]


def test_a_person_pushes_workflows_with_a_token_of_her_own(
    github: LocalGitHub, clone: Path, repository: Repository
) -> None:
    commit(clone, ".github/workflows/extra.yml", "on: push\njobs: {}\n")
    target = url(github, repository, github.user_token("ann", repository))
    assert git(clone, "push", "-q", target, "HEAD:refs/heads/x").returncode == 0


def test_a_stacked_pull_request_merges_into_its_outer_one(github: LocalGitHub, repository: Repository) -> None:
    outer = broken_pull(github, repository)
    github.push(
        "remedy[bot]", repository, "remedy/1", {"cart.py": "def total(p):\n    return sum(p)\n"}, base="feature"
    )
    inner = github.open_pull("remedy[bot]", repository, "remedy/1", base="feature")
    assert [run.conclusion for run in github.run_ci()] == ["failure", "success"]
    before = outer.head_sha
    sha = github.merge("ann", inner)
    assert (inner.state, outer.head_sha) == ("closed", sha)
    assert sha != before
    (moved,) = [d for d in github.deliveries("pull_request", "synchronize") if d.payload["number"] == outer.number]
    assert (moved.payload["before"], moved.payload["after"]) == (before, sha)
    closed = github.deliveries("pull_request", "closed")[0].payload["pull_request"]
    assert closed["merged"] is True
    assert [run.conclusion for run in github.run_ci()] == ["success"]
    assert github.check(outer, "test").conclusion == "success"
    github.delete_branch("ann", repository, "remedy/1")
    assert outer.state == "open"


def test_a_push_that_holds_the_head_marks_the_pull_request_merged(github: LocalGitHub, repository: Repository) -> None:
    pull = broken_pull(github, repository)
    github.force_push("ann", repository, "main", pull.head_sha)
    assert pull.merged_at is not None


def test_conflicts_are_seen_and_cannot_be_merged(github: LocalGitHub, api: Api, repository: Repository) -> None:
    pull = broken_pull(github, repository)
    client = api.of(repository)
    assert client.get(f"pulls/{pull.number}").json()["mergeable_state"] == "clean"
    github.push("bob", repository, "main", {"cart.py": BREAKS["cart.py"].replace("0", "1")})
    assert client.get(f"pulls/{pull.number}").json()["mergeable_state"] == "dirty"
    with pytest.raises(ValueError, match="conflicts"):
        github.merge("ann", pull)


def test_update_branch_brings_the_base_in(github: LocalGitHub, repository: Repository) -> None:
    pull = broken_pull(github, repository)
    github.push("bob", repository, "main", {"b.txt": "b"})
    sha = github.update_branch("ann", pull)
    assert pull.head_sha == sha
    assert github.read_file(repository, "b.txt", sha) == "b"


def test_f_p5_the_merge_queue_asks_for_checks_on_a_branch_of_its_own(
    github: LocalGitHub, repository: Repository
) -> None:
    pull = broken_pull(github, repository)
    sha = github.queue_for_merge("ann", pull)
    (delivery,) = github.deliveries("merge_group", "checks_requested")
    assert delivery.payload["merge_group"]["head_sha"] == sha
    assert delivery.payload["merge_group"]["head_ref"].startswith("refs/heads/gh-readonly-queue/main/pr-1-")
