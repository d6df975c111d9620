"""The host's git: what it may read, what it is told, what is never seen in its arguments."""

import base64
import os
from pathlib import Path

import pytest

from app.workspace.git import Git, GitTimeout, GitTooMuch, credentials, is_ref, is_sha
from tests.unit.workspace.origin import git

TOKEN = "ghs_" + "Z" * 40


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("refs/heads/main", True),
        ("refs/heads/feature/a-b", True),
        ("refs/pull/318/head", True),
        ("refs/heads/--upload-pack=touch x", False),
        ("refs/heads/--upload-pack=x", True),
        ("refs/heads/$(touch${IFS}x)", True),
        ("refs/heads/`id`", True),
        ("--upload-pack=x", False),
        ("main", False),
        ("refs/heads/a..b", False),
        ("refs/heads/a\nb", False),
        ("refs/heads/a:b", False),
        ("refs/heads/*", False),
        ("refs/heads/a.lock", False),
        ("refs/heads/.a", False),
        ("refs/heads/a/", False),
        ("refs/heads/@{1}", False),
        ("", False),
    ],
)
def test_a_ref_is_a_full_name_by_gits_own_rules(name: str, good: bool) -> None:
    """SB-41, S55: names are data; what could be an option or a refspec is refused."""
    assert is_ref(name) is good
    if good:
        assert git(Path("/"), "check-ref-format", name) == ""


def test_only_a_full_lower_case_id_is_a_sha() -> None:
    assert is_sha("0" * 40)
    assert is_sha("a" * 64)
    assert not any(map(is_sha, ("HEAD", "0" * 39, "A" * 40, "0" * 40 + "\n", "0" * 40 + "^")))


def test_the_token_goes_to_one_host_and_replaces_every_other_header() -> None:
    """GH-21, F-P6."""
    basic = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert credentials("https://github.example/acme/shop.git", TOKEN) == (
        ("http.https://github.example/.extraheader", ""),
        ("http.https://github.example/.extraheader", f"Authorization: Basic {basic}"),
    )
    assert credentials("/srv/shop.git", TOKEN) == ()
    assert credentials("https://github.example/a/b.git", "") == ()


def test_the_environment_of_git_is_built_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SX-11: neither variables of ours nor a global configuration reach git."""
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Somebody\n[alias]\n\tx = !env\n")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_SSH_COMMAND", "GIT_TRACE", "REMEDY_SECRET"):
        monkeypatch.setenv(name, "/evil")
    monkeypatch.setenv("HOME", str(tmp_path))
    store = Git(tmp_path / "store.git")
    store.run("init", "--bare", "--quiet", "--template=", str(tmp_path / "store.git"))
    seen = store.text("-c", "alias.show-env=!env", "show-env")
    assert "REMEDY_SECRET" not in seen
    assert "/evil" not in seen
    assert "Somebody" not in store.text("config", "--list")


def test_the_token_is_in_no_argument_and_no_file(tmp_path: Path) -> None:
    """The token is in the environment of the one git process and nowhere else (GH-19, GH-21)."""
    store = Git(tmp_path / "store.git", secret_config=credentials("https://github.example/a/b.git", TOKEN))
    store.run("init", "--bare", "--quiet", "--template=", str(tmp_path / "store.git"))
    basic = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    lines = store.text("-c", "alias.args=!tr '\\0' ' ' < /proc/$PPID/cmdline; echo; env", "args")
    arguments, _, environment = lines.partition("\n")
    assert basic in environment
    assert basic not in arguments
    assert TOKEN not in arguments
    for folder, _, names in os.walk(tmp_path):
        for name in names:
            content = Path(folder, name).read_bytes()
            assert TOKEN.encode() not in content
            assert basic.encode() not in content


def test_git_is_ended_with_its_children_when_its_time_is_up(tmp_path: Path) -> None:
    store = Git(tmp_path / "store.git")
    store.run("init", "--bare", "--quiet", "--template=", str(tmp_path / "store.git"))
    with pytest.raises(GitTimeout):
        store.run("-c", f"alias.wait=!: {tmp_path}; sleep 600; :", "wait", wall_s=1)
    lines = (Path(f"/proc/{name}/cmdline") for name in os.listdir("/proc") if name.isdigit())
    assert not [line for line in lines if line.exists() and str(tmp_path).encode() in line.read_bytes()]


def test_endless_output_ends_git(tmp_path: Path) -> None:
    store = Git(tmp_path / "store.git")
    store.run("init", "--bare", "--quiet", "--template=", str(tmp_path / "store.git"))
    with pytest.raises(GitTooMuch):
        store.run("-c", "alias.flood=!yes", "flood", cap=100_000)
