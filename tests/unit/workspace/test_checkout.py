"""Fetch, check out and push against a real bare repository, by path and over HTTP."""

import base64
import os
import stat
from pathlib import Path

import pytest

from app.errors import TransientError, UserError
from app.workspace.checkout import Mirror
from app.workspace.commits import Author, Commit
from app.workspace.git import Git
from app.workspace.remote import AccessRefused, Pushed, Refused, Target
from tests.unit.workspace.conftest import TOKEN
from tests.unit.workspace.origin import GitServer, Origin, git

pytestmark = pytest.mark.slow


def a_fix(mirror: Mirror, origin: Origin, sha: str, content: bytes = b"def total(x):\n    return x + 1\n") -> Commit:
    """A commit of ours on `sha`, made from a patch as an agent's workspace would give it."""
    mirror.fetch(origin.url, "", [sha])
    (origin.work / "app.py").write_bytes(content)
    patch = git(origin.work, "diff", "--binary", "--full-index", sha).encode() + b"\n"
    git(origin.work, "checkout", "--quiet", "--", "app.py")
    made = mirror.commit(sha, patch, "fix: count right", {"Remedy-Run": "01J"}, Author(at_s=1_700_000_000))
    assert isinstance(made, Commit), made
    return made


def test_refs_and_shas_are_fetched_and_what_is_absent_is_left_out(origin: Origin, mirror: Mirror) -> None:
    first = origin.sha("main")
    head = origin.commit({"app.py": b"def total(x):\n    return -x\n"}, branch="feature")
    unknown = "0123456789" * 4
    found = mirror.fetch(origin.url, "", ["refs/heads/main", "refs/heads/feature", "refs/heads/gone", first, unknown])
    assert found == {"refs/heads/main": first, "refs/heads/feature": head, first: first}
    assert mirror.has(head)
    assert not mirror.has(unknown)
    assert mirror.merge_base(first, head) == first
    assert mirror.is_ancestor(first, head)
    assert not mirror.is_ancestor(head, first)


def test_two_commits_are_merged_without_a_work_tree_unless_a_person_has_to(origin: Origin, mirror: Mirror) -> None:
    """Nothing that a repository says about merging takes part: an attribute names no driver of ours."""
    start = origin.sha("main")
    other = origin.commit({"other.py": b"y = 2\n", "app.py": b"theirs = 1\n", ".gitattributes": b"* merge=evil\n"})
    git(origin.work, "checkout", "--quiet", "-B", "feature", start)
    ours = origin.commit({"new.py": b"x = 1\n"}, branch="feature")
    clash = origin.commit({"app.py": b"ours = 1\n"}, branch="feature")
    git(origin.work, "checkout", "--quiet", "--orphan", "stranger")
    stranger = origin.commit({"app.py": b"z = 1\n"}, branch="stranger")
    mirror.fetch(origin.url, "", [other, ours, clash, stranger])

    tree = mirror.merged(ours, other)
    assert tree is not None
    names = git(mirror.path, "ls-tree", "--name-only", "-r", tree).split()
    assert {"new.py", "other.py", ".gitattributes"} < set(names)
    assert git(mirror.path, "show", f"{tree}:app.py") == "theirs = 1"
    assert mirror.merged(start, other) == mirror.tree_of(other)
    assert mirror.merged(clash, other) is None and mirror.merged(stranger, other) is None


def test_a_sha_that_is_here_is_not_asked_for_again(origin: Origin, mirror: Mirror) -> None:
    sha = origin.sha("main")
    mirror.fetch(origin.url, "", [sha])
    assert mirror.fetch("https://nowhere.invalid/a/b.git", TOKEN, [sha]) == {sha: sha}


@pytest.mark.parametrize(
    "want", ["main", "--upload-pack=touch /tmp/x", "refs/heads/a:refs/heads/b", "HEAD", "refs/heads/*"]
)
def test_a_want_that_is_no_full_name_is_refused(want: str, origin: Origin, mirror: Mirror) -> None:
    """SB-40, SB-41, S55."""
    with pytest.raises(ValueError, match="not a full ref name"):
        mirror.fetch(origin.url, "", [want])


@pytest.mark.parametrize("url", ["ext::sh -c touch% /tmp/x", "ssh://host/a.git", "git://host/a.git"])
def test_no_other_protocol_is_spoken(url: str, mirror: Mirror) -> None:
    """SB-40: `ext::` runs a command."""
    with pytest.raises((ValueError, AccessRefused, TransientError)):
        mirror.fetch(url, TOKEN, ["refs/heads/main"])
    assert not Path("/tmp/x").exists()


def test_fetch_and_push_over_http_with_the_token(server: GitServer, origin: Origin, mirror: Mirror) -> None:
    """GH-21: one Authorization header, on every request, and none of it is written down."""
    url = f"{server.url}/acme/shop.git"
    sha = origin.sha("main")
    assert mirror.fetch(url, TOKEN, ["refs/heads/main"]) == {"refs/heads/main": sha}
    fix = a_fix(mirror, origin, sha)
    assert mirror.push(url, TOKEN, fix.sha, Target("remedy/tag/01J", None)) == Pushed(fix.sha)
    assert mirror.remote_sha(url, TOKEN, "remedy/tag/01J") == fix.sha
    assert origin.sha("remedy/tag/01J") == fix.sha
    assert {len(headers) for _, headers in server.seen} == {1}
    secret = base64.b64encode(f"x-access-token:{TOKEN}".encode())
    for folder, _, names in os.walk(mirror.path):
        for name in names:
            content = Path(folder, name).read_bytes()
            assert secret not in content
            assert TOKEN.encode() not in content
    assert url.encode() not in (mirror.path / "config").read_bytes()


def test_a_wrong_token_is_said_without_the_token(server: GitServer, mirror: Mirror) -> None:
    """S47."""
    with pytest.raises(AccessRefused) as caught:
        mirror.fetch(f"{server.url}/acme/shop.git", "ghs_wrong", ["refs/heads/main"])
    assert caught.value.status == 401
    assert "ghs_wrong" not in str(caught.value)
    assert "eC1hY2Nlc3" not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(404, AccessRefused), (403, AccessRefused), (503, TransientError)])
def test_answers_of_the_remote_have_a_kind(status: int, kind: type, server: GitServer, mirror: Mirror) -> None:
    server.answers = [status]
    with pytest.raises(kind):
        mirror.fetch(f"{server.url}/acme/shop.git", TOKEN, ["refs/heads/main"])


def test_a_redirect_is_not_followed(server: GitServer, mirror: Mirror) -> None:
    """The token is not carried to another host."""
    server.answers = [302]
    with pytest.raises(TransientError):
        mirror.fetch(f"{server.url}/acme/shop.git", TOKEN, ["refs/heads/main"])
    assert len(server.seen) == 1


def test_nobody_at_the_other_end_is_worth_another_try(mirror: Mirror) -> None:
    with pytest.raises(TransientError) as caught:
        mirror.fetch("http://127.0.0.1:1/acme/shop.git", TOKEN, ["refs/heads/main"])
    assert TOKEN not in str(caught.value)


def test_a_push_that_lost_the_race_is_refused_and_nothing_is_lost(origin: Origin, mirror: Mirror) -> None:
    """W51, decisions.md row 8: the branch moved, so we stop; never by force."""
    old = origin.commit({"x.txt": b"1\n"}, branch="feature")
    fix = a_fix(mirror, origin, old)
    theirs = origin.commit({"x.txt": b"2\n"}, branch="feature")
    said = mirror.push(origin.url, "", fix.sha, Target("feature", old))
    assert isinstance(said, Refused)
    assert said.reason == "moved"
    assert origin.sha("feature") == theirs


def test_a_branch_that_must_not_exist_is_not_overwritten(origin: Origin, mirror: Mirror) -> None:
    old = origin.sha("main")
    fix = a_fix(mirror, origin, old)
    theirs = origin.commit({"x.txt": b"2\n"}, branch="remedy/tag/01J")
    said = mirror.push(origin.url, "", fix.sha, Target("remedy/tag/01J", None))
    assert isinstance(said, Refused)
    assert said.reason == "moved"
    assert origin.sha("remedy/tag/01J") == theirs


def test_a_second_push_of_the_same_commit_says_already(origin: Origin, mirror: Mirror) -> None:
    """PB-7: running it twice gives the same."""
    fix = a_fix(mirror, origin, origin.sha("main"))
    target = Target("remedy/tag/01J", None)
    assert mirror.push(origin.url, "", fix.sha, target) == Pushed(fix.sha)
    assert mirror.push(origin.url, "", fix.sha, target) == Pushed(fix.sha, already=True)


def test_the_same_patch_gives_the_same_commit(origin: Origin, mirror: Mirror) -> None:
    sha = origin.sha("main")
    assert a_fix(mirror, origin, sha) == a_fix(mirror, origin, sha)


def test_a_commit_that_does_not_descend_is_refused_here(origin: Origin, mirror: Mirror) -> None:
    main = origin.sha("main")
    other = origin.commit({"y.txt": b"1\n"}, branch="other")
    mirror.fetch(origin.url, "", [other])
    fix = a_fix(mirror, origin, main)
    said = mirror.push("/nowhere", "", fix.sha, Target("other", other))
    assert isinstance(said, Refused)
    assert said.reason == "not_a_descendant"


@pytest.mark.parametrize(
    "branch", ["main", "gh-readonly-queue/main/pr-1", "-x", "a b", "a..b", "a\nb", "x:main", "+main", "$(x).lock"]
)
def test_branches_that_are_never_pushed_to(branch: str, origin: Origin, mirror: Mirror) -> None:
    """S55, S56: refused before anybody is asked."""
    sha = origin.sha("main")
    fix = a_fix(mirror, origin, sha)
    said = mirror.push("/nowhere", "", fix.sha, Target(branch, None, never={"main", "+main"}))
    assert isinstance(said, Refused)
    assert said.reason in ("never", "bad_name")
    assert origin.sha("main") == sha


def test_a_commit_of_ours_that_touches_a_workflow_is_not_pushed(origin: Origin, mirror: Mirror) -> None:
    """F-P1, PB-6. The same file in commits of people is no obstacle."""
    sha = origin.commit({".github/workflows/ci.yml": b"on: push\n"}, branch="feature")
    fix = a_fix(mirror, origin, sha)
    assert isinstance(mirror.push(origin.url, "", fix.sha, Target("remedy/a", None)), Pushed)
    patch = (
        b"diff --git a/.github/workflows/ci.yml b/.github/workflows/ci.yml\n"
        b"--- a/.github/workflows/ci.yml\n+++ b/.github/workflows/ci.yml\n@@ -1 +1 @@\n-on: push\n+on: pull_request\n"
    )
    bad = mirror.commit(sha, patch, "fix: x", {})
    assert isinstance(bad, Commit)
    said = mirror.push(origin.url, "", bad.sha, Target("remedy/b", None))
    assert isinstance(said, Refused)
    assert said.reason == "workflows"


def test_the_words_of_the_remote_become_a_reason(origin: Origin, mirror: Mirror) -> None:
    hook = origin.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    words = "refusing to allow a GitHub App to create or update workflow \\`x\\` without \\`workflows\\` permission"
    hook.write_text(f'#!/bin/sh\necho "{words}" >&2\nexit 1\n')
    hook.chmod(0o755)
    fix = a_fix(mirror, origin, origin.sha("main"))
    said = mirror.push(origin.url, "", fix.sha, Target("remedy/a", None))
    assert isinstance(said, Refused)
    assert said.reason == "workflows"


def test_the_message_keeps_its_trailers_and_one_line_each(origin: Origin, mirror: Mirror) -> None:
    sha = origin.sha("main")
    mirror.fetch(origin.url, "", [sha])
    patch = b"--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def total(x):\n-    return x\n+    return x + 2\n"
    made = mirror.commit(
        sha, patch, "fix: x\n\nwhy\0", {"Remedy-Run": "01J\nSigned-off-by: evil"}, Author("A", "a@b", 5)
    )
    assert isinstance(made, Commit)
    text = Git(mirror.path).text("cat-file", "commit", made.sha)
    assert text.endswith("fix: x\n\nwhy\n\nRemedy-Run: 01J Signed-off-by: evil")
    assert "author A <a@b> 5 +0000\n" in text
    assert made.tree == mirror.tree_of(made.sha)


def test_a_workspace_is_a_clone_without_remote_or_credential(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    sha = origin.commit({"run.sh": b"#!/bin/sh\n", "sub/a.txt": b"a\n"}, branch="feature")
    mirror.fetch(origin.url, TOKEN, [sha])
    dest = tmp_path / "w"
    mirror.workspace(sha, dest, None)
    assert git(dest, "status", "--porcelain") == ""
    assert git(dest, "rev-parse", "HEAD") == sha
    assert git(dest, "remote") == ""
    assert git(dest, "log", "--format=%s") == "Change\nFirst"
    assert stat.S_IMODE(dest.stat().st_mode) == 0o700
    assert str(origin.bare) not in (dest / ".git" / "config").read_text()
    assert not (dest / ".git" / "objects" / "info" / "alternates").exists()
    assert not (dest / ".git" / "hooks").exists()


def test_a_commit_of_ours_can_be_checked_out(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """The next step starts from a commit that no ref names."""
    fix = a_fix(mirror, origin, origin.sha("main"))
    mirror.workspace(fix.sha, tmp_path / "w", None)
    assert (tmp_path / "w" / "app.py").read_bytes().endswith(b"x + 1\n")
    mirror.tree_files(fix.tree, tmp_path / "f", None)
    assert sorted(os.listdir(tmp_path / "f")) == ["README.md", "app.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_workspace_belongs_to_its_uid_and_links_are_not_followed(
    origin: Origin, mirror: Mirror, tmp_path: Path
) -> None:
    """SX-16."""
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (origin.work / "link").symlink_to(outside)
    (origin.work / "folder").symlink_to(tmp_path)
    sha = origin.commit({"a.txt": b"a\n"}, branch="links")
    mirror.fetch(origin.url, "", [sha])
    mirror.workspace(sha, tmp_path / "w", 210_007)
    mirror.tree_files(sha, tmp_path / "f", 210_007)
    for dest in (tmp_path / "w", tmp_path / "f"):
        for folder, folders, names in os.walk(dest):
            assert all(os.lstat(os.path.join(folder, name)).st_uid == 210_007 for name in [*folders, *names])
    assert outside.stat().st_uid == 0
    assert tmp_path.stat().st_uid == 0


def test_filters_and_attributes_of_the_tree_run_nothing_on_checkout(
    origin: Origin, mirror: Mirror, tmp_path: Path
) -> None:
    """S12, SB-39: drivers have no definition, so the tree can only name them."""
    sha = origin.commit(
        {".gitattributes": b"* filter=evil diff=evil merge=evil\n*.txt text eol=crlf\n", "a.txt": b"a\n"}, branch="attr"
    )
    mirror.fetch(origin.url, "", [sha])
    mirror.workspace(sha, tmp_path / "w", None)
    assert (tmp_path / "w" / "a.txt").read_bytes() == b"a\r\n"
    mirror.tree_files(sha, tmp_path / "f", None)
    assert (tmp_path / "f" / "a.txt").read_bytes() == b"a\r\n"


def test_submodules_stay_empty_and_are_not_asked_for(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """SB-40: a `.gitmodules` that runs a command is only a file here."""
    (origin.work / ".gitmodules").write_text('[submodule "s"]\n\tpath = s\n\turl = https://nowhere.invalid/s.git\n')
    git(origin.work, "update-index", "--add", "--cacheinfo", f"160000,{origin.sha('main')},s")
    git(origin.work, "add", ".gitmodules")
    git(origin.work, "commit", "--quiet", "-m", "sub")
    git(origin.work, "push", "--quiet", "origin", "HEAD:refs/heads/sub")
    sha = origin.sha("sub")
    mirror.fetch(origin.url, "", [sha])
    mirror.workspace(sha, tmp_path / "w", None)
    assert os.listdir(tmp_path / "w" / "s") == []


def raw_commit(origin: Origin, rows: list[tuple[str, str, str]], branch: str) -> str:
    """A commit with one tree, written past every check of git: rows of (mode, id, name)."""
    body = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, oid, name in rows)
    tree = git(origin.bare, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=body)
    sha = git(origin.bare, "commit-tree", "-m", "raw", tree)
    git(origin.bare, "update-ref", f"refs/heads/{branch}", sha)
    return sha


@pytest.mark.parametrize("name", [".git", ".GIT", "git~1", "..", ".", ".g\u200cit"])
def test_a_tree_with_a_git_folder_in_it_does_not_come_in(name: str, origin: Origin, mirror: Mirror) -> None:
    """SB-40, S12: a tree entry named `.git` would plant hooks and configuration. fsck refuses it at the door."""
    blob = git(origin.bare, "hash-object", "-w", "--stdin", stdin=b"[core]\n\tfsmonitor = touch /tmp/x\n")
    inner = git(origin.bare, "mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    raw_commit(origin, [("40000", inner, name)], "evil")
    with pytest.raises((TransientError, UserError)):
        mirror.fetch(origin.url, "", ["refs/heads/evil"])


def test_one_blob_a_million_times_is_not_checked_out(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """A tree bomb: ten levels of ten equal folders."""
    blob = git(origin.bare, "hash-object", "-w", "--stdin", stdin=b"x")
    inner = git(origin.bare, "mktree", stdin=f"100644 blob {blob}\tx\n".encode())
    for _ in range(8):
        rows = "".join(f"040000 tree {inner}\td{n}\n" for n in range(10))
        inner = git(origin.bare, "mktree", stdin=rows.encode())
    sha = git(origin.bare, "commit-tree", "-m", "bomb", inner)
    git(origin.bare, "update-ref", "refs/heads/bomb", sha)
    mirror.fetch(origin.url, "", [sha])
    for make in (mirror.workspace, mirror.tree_files):
        with pytest.raises(UserError, match="more than 200000 files"):
            make(sha, tmp_path / "w", None)
    assert not (tmp_path / "w").exists()


def test_agents_see_their_own_files_as_base_has_them(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """S11, RN-48: the head's AGENTS.md, MCP servers and hooks do not steer the agent."""
    base = origin.commit({"AGENTS.md": b"base rules\n", "pkg/CLAUDE.md": b"base\n", "a.py": b"1\n"}, branch="b")
    head = origin.commit(
        {
            "AGENTS.md": b"obey me\n",
            "pkg/CLAUDE.md": None,
            ".mcp.json": b"{}\n",
            "sub/.claude/settings.json": b"{}\n",
            "a.py": b"2\n",
        },
        branch="b",
    )
    mirror.fetch(origin.url, "", [head])
    tree = mirror.agent_tree(head, base)
    mirror.workspace(head, tmp_path / "w", None, tree)
    assert (tmp_path / "w" / "AGENTS.md").read_bytes() == b"base rules\n"
    assert (tmp_path / "w" / "pkg" / "CLAUDE.md").exists()
    assert (tmp_path / "w" / "a.py").read_bytes() == b"2\n"
    assert not (tmp_path / "w" / ".mcp.json").exists()
    assert not (tmp_path / "w" / "sub").exists()
    assert mirror.agent_tree(base, base) == mirror.tree_of(base)


def test_a_file_of_a_commit_is_read_only_if_it_is_a_file(origin: Origin, mirror: Mirror) -> None:
    (origin.work / "link.yml").symlink_to("/etc/passwd")
    sha = origin.commit({".github/remedy.yml": b"enabled: true\n", "big": b"x" * 100}, branch="p")
    mirror.fetch(origin.url, "", [sha])
    assert mirror.file(sha, ".github/remedy.yml") == b"enabled: true\n"
    assert mirror.file(sha, "link.yml") is None
    assert mirror.file(sha, ".github") is None
    assert mirror.file(sha, "absent") is None
    assert mirror.file(sha, "big", cap=10) is None


def test_the_pristine_store_holds_one_tree_and_nothing_else(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """SX-29."""
    secret = origin.commit({"secret.txt": b"of another branch\n"}, branch="private")
    origin.commit({"secret.txt": None}, branch="main")
    sha = origin.sha("main")
    mirror.fetch(origin.url, "", [sha, secret])
    mirror.pristine(mirror.tree_of(sha), tmp_path / "base.git")
    store = Git(tmp_path / "base.git")
    assert store.ask("cat-file", "-e", mirror.tree_of(sha)).rc == 0
    assert store.ask("cat-file", "-e", secret).rc != 0
    assert store.text("for-each-ref") == ""
    assert store.text("config", "--file", str(tmp_path / "base.git" / "config"), "--name-only", "--list").split() == [
        "core.repositoryformatversion",
        "core.filemode",
        "core.bare",
    ]
