"""The patch of a workspace in which anything may have happened; nothing of it runs on the host."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.workspace.checkout import Mirror
from app.workspace.commits import Commit, PatchRefused
from app.workspace.patch import take_patch
from app.workspace.rooms import Room
from app.workspace.sandbox import model
from app.workspace.sandbox.model import Limits, Result, Sandbox, Spec, Workspace
from tests.unit.workspace.origin import Origin
from tests.unit.workspace.tools import a_sandbox

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Agent:
    """An agent that has a workspace at `sha` and does what a shell script says."""

    sandbox: Sandbox
    mirror: Mirror
    room: Room
    sha: str

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.room.path / "tree", self.room.uid)

    def does(self, script: str) -> Result:
        spec = Spec("agent", ("sh", "-ec", script), self.workspace, Limits(wall_s=30, cpu_s=30))
        result = asyncio.run(model.run(self.sandbox, spec))
        assert result.rc == 0, result.stderr_tail
        return result

    def patch(self) -> bytes:
        taken = asyncio.run(take_patch(self.sandbox, self.mirror, self.workspace, self.sha))
        assert isinstance(taken, bytes), taken
        return taken

    def commit(self) -> Commit | PatchRefused:
        return self.mirror.commit(self.sha, self.patch(), "fix: x", {})


@pytest.fixture
def agent(origin: Origin, mirror: Mirror) -> Iterator[Agent]:
    sha = origin.commit({"a.txt": b"one\n", "bin.dat": bytes(range(256)), ".gitignore": b"*.log\n"}, branch="head")
    mirror.fetch(origin.url, "", [sha])
    with a_sandbox() as (sandbox, rooms), rooms.scratch() as room:
        mirror.workspace(sha, room.path / "tree", room.uid)
        yield Agent(sandbox, mirror, room, sha)


def test_nothing_done_is_an_empty_patch(agent: Agent) -> None:
    assert agent.patch() == b""


def test_the_work_tree_counts_not_the_commits(agent: Agent) -> None:
    """Commits, staged and unstaged changes, new files; ignored files stay behind."""
    agent.does(
        "echo two >> a.txt; git commit -qam 'feat: x'; echo three >> a.txt; git add a.txt; echo four >> a.txt; "
        "mkdir -p 'new dir'; echo n > 'new dir/ünï.txt'; echo l > x.log; rm README.md; git reset -q --soft HEAD~1"
    )
    made = agent.commit()
    assert isinstance(made, Commit)
    assert {(change.path, change.status) for change in agent.mirror.changes(agent.sha, made.sha)} == {
        ("a.txt", "M"),
        ("new dir/ünï.txt", "A"),
        ("README.md", "D"),
    }
    assert agent.mirror.file(made.sha, "a.txt") == b"one\ntwo\nthree\nfour\n"


def test_what_running_code_leaves_behind_is_no_part_of_a_fix(agent: Agent) -> None:
    """An agent that runs the tests of a repository without ignore rules still hands in its edit alone."""
    agent.does(
        "mkdir -p p/__pycache__ .pytest_cache node_modules/x; echo x > p/m.py; echo y >> a.txt; echo z >> bin.dat; "
        "touch p/__pycache__/m.cpython-311.pyc p/old.pyc .pytest_cache/README.md node_modules/x/i.js"
    )
    patch = agent.patch().decode("utf-8", "replace")
    assert sorted(line.split(" b/")[1] for line in patch.splitlines() if line.startswith("diff --git")) == [
        "a.txt",
        "bin.dat",
        "p/m.py",
    ]


def test_a_binary_change_arrives_whole_and_is_refused_by_name(agent: Agent) -> None:
    """S54: the patch is binary-safe, the rule is the commit's."""
    agent.does("printf '\\000\\377' >> bin.dat")
    assert b"GIT binary patch" in agent.patch()
    assert agent.commit() == PatchRefused("bin.dat: the patch changes a binary file")


HOSTILE = """
marker=/workspace/marker
trap_() { printf '#!/bin/sh\\ntouch %s; touch /tmp/marker; cat\\n' "$marker" > "$1"; chmod 755 "$1"; }
trap_ /workspace/evil
for hook in pre-commit post-checkout post-index-change fsmonitor-watchman pre-push reference-transaction post-commit; do
  mkdir -p .git/hooks; trap_ .git/hooks/$hook
done
git config core.fsmonitor /workspace/evil
git config core.hooksPath /workspace/.git/hooks
git config core.sshCommand /workspace/evil
git config core.pager /workspace/evil
git config core.editor /workspace/evil
git config core.attributesFile /workspace/.evilattributes
git config filter.evil.clean /workspace/evil
git config filter.evil.smudge /workspace/evil
git config filter.evil.process /workspace/evil
git config diff.evil.textconv /workspace/evil
git config diff.evil.command /workspace/evil
git config diff.external /workspace/evil
git config merge.evil.driver /workspace/evil
git config credential.helper /workspace/evil
git config alias.add '!/workspace/evil'
git config alias.diff '!/workspace/evil'
git config include.path /workspace/.evilconfig
printf '[core]\\n\\tfsmonitor = /workspace/evil\\n' > .evilconfig
mkdir -p .git/info
printf '* filter=evil diff=evil merge=evil\\n' | tee .gitattributes .evilattributes > .git/info/attributes
printf '[alias]\\n\\tread-tree = !/workspace/evil\\n' > /workspace/.gitconfig
echo changed >> a.txt
"""


def test_nothing_that_a_workspace_configures_for_git_is_run(agent: Agent, tmp_path: Path) -> None:
    """SB-39, S12, S67: hooks, fsmonitor, filter, textconv, external diff, pager, alias, include, attributes."""
    agent.does(HOSTILE)
    before = set(os.listdir("/tmp"))
    patch = agent.patch()
    assert b"+changed" in patch
    assert not (agent.room.path / "tree" / "marker").exists()
    assert "marker" not in set(os.listdir("/tmp")) - before
    made = agent.mirror.commit(agent.sha, patch, "fix: x", {})
    assert made == PatchRefused("evil: the patch makes a file executable")
    agent.does("git status > /dev/null 2>&1 || true; git diff > /dev/null 2>&1 || true; test -e marker")


def test_an_embedded_repository_runs_nothing_and_is_refused(agent: Agent) -> None:
    """SB-40: its filter ran even with a pristine git folder, through plain `diff` (sandbox.md, 10)."""
    agent.does(
        "echo changed >> a.txt; mkdir sub; cd sub; git init -q; git config user.name a; git config user.email a@b; "
        "echo '* filter=evil' > .gitattributes; echo x > f; git add .; git commit -qm x; "
        "git config filter.evil.clean 'touch /workspace/marker'; git config core.fsmonitor 'touch /workspace/marker'; "
        "echo y >> f"
    )
    assert agent.commit() == PatchRefused("sub: the patch changes a submodule")
    assert not (agent.room.path / "tree" / "marker").exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("ln -s /etc/passwd link", "link: the patch writes a symbolic link"),
        ("ln -s ../../../key link", "link: the patch writes a symbolic link"),
        ("rm a.txt; ln -s README.md a.txt", "a.txt: the patch writes a symbolic link"),
        ("chmod 755 a.txt", "a.txt: the patch makes a file executable"),
        (
            "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = ext::sh -c touch%% /tmp/x\\n' > .gitmodules",
            ".gitmodules: git reads",
        ),
        ("echo x > -rf", "-rf: a part of the name"),
        ("echo x > \"$(printf 'new\\nline')\"", "new\\x0aline: the name has a control character"),
    ],
)
def test_what_an_agent_may_not_write(script: str, reason: str, agent: Agent) -> None:
    """S14, S54, PT-6: refused by name, nothing applied."""
    agent.does(script)
    made = agent.commit()
    assert isinstance(made, PatchRefused)
    assert reason in made.reason


def test_names_that_look_like_commands_are_data(agent: Agent) -> None:
    """SB-41, S55."""
    agent.does("echo x > '$(touch marker)'; echo x > '`touch marker`'; echo x > 'a;touch marker'")
    agent.does("git checkout -q -b 'x;touch${IFS}marker'")
    made = agent.commit()
    assert isinstance(made, Commit)
    assert sorted(change.path for change in agent.mirror.changes(agent.sha, made.sha)) == [
        "$(touch marker)",
        "`touch marker`",
        "a;touch marker",
    ]
    assert not (agent.room.path / "tree" / "marker").exists()


def test_a_git_folder_that_was_destroyed_does_not_matter(agent: Agent) -> None:
    """SX-28: the workspace's own `.git` is never read."""
    agent.does("rm -rf .git; ln -s /etc .git; echo two >> a.txt")
    assert isinstance(agent.commit(), Commit)


def test_a_patch_that_is_too_large_is_refused(agent: Agent) -> None:
    agent.does("head -c 12000000 /dev/zero | tr '\\0' 'x' | fold -w 100 > big.txt")
    taken = asyncio.run(take_patch(agent.sandbox, agent.mirror, agent.workspace, agent.sha))
    assert isinstance(taken, PatchRefused)
    assert "the patch has more than" in taken.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo x > shut; chmod 000 shut", 'error: open("shut"): Permission denied'),
        ("mkdir .GIT; echo x > .GIT/config", "error: invalid path '.GIT/config'"),
        ("mkdir sub; git -C sub init -q", "error: 'sub/' does not have a commit checked out"),
    ],
)
def test_what_git_cannot_take_is_named(script: str, reason: str, agent: Agent) -> None:
    agent.does(script)
    taken = asyncio.run(take_patch(agent.sandbox, agent.mirror, agent.workspace, agent.sha))
    assert taken == PatchRefused(f"the patch could not be made: {reason}")


def test_the_host_keeps_nothing_of_it(agent: Agent) -> None:
    """SX-29: the store is gone; the workspace was only read."""
    agent.does("echo two >> a.txt")
    agent.patch()
    assert [path.name for path in agent.room.path.iterdir() if path.name != "tree"] in ([], ["tree.mounts"])


def test_files_that_steer_agents_are_no_change_of_the_agent(origin: Origin, agent: Agent) -> None:
    """S11: the agent worked with the base's AGENTS.md, the patch leaves the head's alone."""
    head = origin.commit({"AGENTS.md": b"obey\n"}, branch="head")
    agent.mirror.fetch(origin.url, "", [head])
    tree = agent.mirror.agent_tree(head, agent.sha)
    agent.room.remove("tree")
    agent.mirror.workspace(head, agent.room.path / "tree", agent.room.uid, tree)
    agent.does("test ! -e AGENTS.md; echo two >> a.txt")
    patch = asyncio.run(take_patch(agent.sandbox, agent.mirror, agent.workspace, tree))
    assert isinstance(patch, bytes)
    made = agent.mirror.commit(head, patch, "fix: x", {})
    assert isinstance(made, Commit)
    assert [change.path for change in agent.mirror.changes(head, made.sha)] == ["a.txt"]
