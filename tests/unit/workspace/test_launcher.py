"""An agent's process: what it is given, what it must not see, that it ends; in the sandbox and without one."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.errors import UserError
from app.settings import SandboxSettings, Settings
from app.workspace.launcher import Launcher, Serve
from app.workspace.rooms import Room, Rooms
from app.workspace.sandbox.bubblewrap import Variant
from app.workspace.sandbox.choose import choose, secrets_of
from app.workspace.sandbox.model import Limits, Result, Tier, Workspace
from app.workspace.sandbox.plain import Plain
from app.workspace.sandbox.watchdog import tree
from tests.unit.workspace.ordinary import reachable_folder
from tests.unit.workspace.tools import a_sandbox

pytestmark = pytest.mark.slow

PYTHON = "/usr/bin/python3"
SECRETS = ("-----BEGIN KEY-----canary-1", "canary-2-webhook", "canary-3-secret-key")

AGENT = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    def do(code):
        try: return eval(code)
        except OSError as error: return type(error).__name__
    print(json.dumps([do(code) for code in asked]), flush=True)
print('bye', file=sys.stderr)
"""


WITH_A_TOOL = """
import subprocess, time
subprocess.Popen(['sleep', '599.5'], start_new_session=True)
print('x', flush=True)
time.sleep(60)
"""


@dataclass(frozen=True)
class NoPorts:
    endpoints: tuple[str, ...] = ()
    dial_port: int | None = None


@pytest.fixture(params=["sandbox", "none"])
def launcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Launcher]:
    monkeypatch.setenv("REMEDY_PRIVATE_KEY", SECRETS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRETS[1])
    with a_sandbox() as (sandbox, rooms), rooms.enter("run-1") as room:
        used = sandbox if request.param == "sandbox" else Plain("acme/shop")
        yield Launcher(used, workspace(rooms, room), Limits.for_agents(30), "01J")


def workspace(rooms: Rooms, room: Room) -> Workspace:
    room.folder("tree")
    return Workspace(room.path / "tree", room.uid, home=room.folder("home"))


def talk(launcher: Launcher, *asked: str, env: dict[str, str] | None = None) -> tuple[list[object], Result]:
    """Questions to the agent, one answer each, then it is let go."""

    async def scenario() -> tuple[list[object], Result]:
        files = {"/run/agent.json": b'{"model": "none"}'}
        process = await launcher.spawn([PYTHON, "-I", "-u", "-c", AGENT], env or {}, files, NoPorts())
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        await process.stdin.drain()
        process.stdin.close()
        out = b""
        async for output in process.events:
            out += output.data if output.stream == "stdout" else b""
        return json.loads(out), await process.wait()

    return asyncio.run(scenario())


def test_an_agent_gets_a_workspace_its_files_and_a_clean_environment(launcher: Launcher) -> None:
    """RN-41, A20, S3."""
    config = launcher.sandbox.seen(launcher.workspace, "/run/agent.json")
    answers, result = talk(
        launcher,
        "sorted(os.environ)",
        "os.getcwd()",
        "os.environ['HOME']",
        f"open({config!r}).read()",
        "open('made', 'w').write('x')",
        "open(os.path.expanduser('~/session'), 'w').write('x')",
        env={"AGENT_MODE": "qa"},
    )
    names, cwd, home, text, made, kept = answers
    assert set(names) - {"TMPDIR", "REMEDY_RUN_MARK", "PWD", "LC_CTYPE"} == {"AGENT_MODE", "HOME", "LANG", "PATH"}
    assert (cwd, home) == (launcher.cwd, launcher.home)
    assert (text, made, kept) == ('{"model": "none"}', 1, 1)
    assert (launcher.workspace.path / "made").exists()
    assert (result.rc, result.stderr_tail, result.tier) == (0, b"bye\n", launcher.tier)


def test_the_session_is_there_in_the_next_turn(launcher: Launcher) -> None:
    """RN-51."""
    talk(launcher, "open(os.path.expanduser('~/session'), 'w').write('s')")
    assert talk(launcher, "open(os.path.expanduser('~/session')).read()")[0] == ["s"]


def test_no_secret_is_in_any_environment_argument_or_file_of_the_run(launcher: Launcher) -> None:
    """A20, S3, S45, SX-8, SB-50: seen from the host, for every process from the first step of the chain on."""

    async def scenario() -> list[bytes]:
        process = await launcher.spawn([PYTHON, "-I", "-u", "-c", AGENT], {"A": "b"}, {}, NoPorts())
        assert process.stdin is not None
        process.stdin.write(b'["1"]\n')
        async for _ in process.events:
            break
        files = [Path(f"/proc/{pid}/{name}") for pid in tree(os.getpid())[1:] for name in ("environ", "cmdline")]
        found = [file.read_bytes() for file in files]
        await process.kill()
        return found

    seen = asyncio.run(scenario())
    assert len(seen) >= 2
    for part in seen:
        assert not any(secret.encode() in part for secret in SECRETS), part
    for folder, _, names in os.walk(launcher.workspace.path.parent):
        for name in names:
            assert b"canary" not in Path(folder, name).read_bytes()


def test_a_known_secret_given_by_mistake_is_refused(launcher: Launcher) -> None:
    """SX-12."""
    settings = Settings(private_key=SECRETS[0], webhook_secret=SECRETS[1], secret_key=SECRETS[2])
    assert secrets_of(settings) == SECRETS
    careful = replace(launcher, sandbox=replace(launcher.sandbox, secrets=secrets_of(settings)))
    with pytest.raises(ValueError, match="a secret of the app"):
        talk(careful, "1", env={"TOKEN": SECRETS[2]})


def test_a_supervisor_cannot_write(launcher: Launcher) -> None:
    """decisions.md row 15, RN-32."""
    if launcher.tier == Tier.NONE:
        pytest.skip("tier NONE promises nothing")
    frozen = replace(launcher, workspace=replace(launcher.workspace, frozen=True))
    assert talk(frozen, "open('made', 'w')", "os.mkdir('d')")[0] == ["OSError", "OSError"]


def test_a_runner_folder_is_shown_at_its_own_path(launcher: Launcher, tmp_path: Path) -> None:
    """The same path inside, so that its argv holds everywhere; read-only."""
    with reachable_folder() as folder:
        folder.chmod(0o755)
        (folder / "agent.py").write_text("x = 1")
        shown = replace(launcher, workspace=replace(launcher.workspace, binds={str(folder): folder}))
        answers, _ = talk(shown, f"open('{folder}/agent.py').read()", f"open('{folder}/new', 'w')")
        assert answers == ["x = 1", "OSError" if launcher.tier else "PermissionError"]


def test_an_endpoint_that_is_not_there_is_not_promised(launcher: Launcher) -> None:
    """SX-4, SX-7: refused before anything starts."""
    with pytest.raises(UserError, match="asks for model, tools inside"):
        asyncio.run(launcher.spawn(["true"], {}, {}, NoPorts(("model", "tools"))))


ASKS = """
import json, socket, sys
def ask(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
            return s.recv(20).decode()
    except OSError as error: return type(error).__name__
print(json.dumps([ask(int(port)) for port in sys.argv[1:]]), flush=True)
"""
SERVES = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as s:
    print("up", flush=True)
    while True:
        found, _ = s.accept()
        found.sendall(b"from inside"); found.close()
"""


def says(word: str) -> Serve:
    async def serve(listener: socket.socket) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(word.encode())
            writer.close()

        async with await asyncio.start_server(answer, sock=listener) as server:
            await server.serve_forever()

    return serve


def test_a_run_reaches_the_endpoints_of_its_own_turn_and_nothing_else(launcher: Launcher) -> None:
    """RN-43, SB-17: two turns at once, each with its own model; the host's other ports are shut."""

    async def scenario(host_port: int) -> list[list[str]]:
        turns = [replace(launcher, serve={"model": says(f"model {n}"), "tools": says("tools")}, _free={}) for n in "12"]
        turns = turns if launcher.tier else turns[:1]  # without a sandbox, one run at a time has the uid
        asked: list[list[str]] = []
        processes = []
        for turn in turns:
            ports = [str(port) for port in (turn.port("model"), turn.port("tools"), host_port)]
            argv = [PYTHON, "-I", "-c", ASKS, *ports]
            processes.append(await turn.spawn(argv, {}, {}, NoPorts(("model",))))
        for process in processes:
            asked.append(json.loads(b"".join([output.data async for output in process.events])))
            await process.kill()
        return asked

    with socket.create_server(("127.0.0.1", 0)) as host:
        answers = asyncio.run(scenario(host.getsockname()[1]))
    assert [answer[:2] for answer in answers] == [["model 1", "tools"], ["model 2", "tools"]][: len(answers)]
    if launcher.tier:
        assert {answer[2] for answer in answers} == {"ConnectionRefusedError"}


def test_the_app_reaches_the_one_port_that_was_agreed(launcher: Launcher) -> None:
    """Sandbox.md, 7.2: refused while nothing listens, then connected; nothing is left of the dialler."""
    port = launcher.port("dial")

    async def scenario() -> bytes:
        argv = [PYTHON, "-I", "-c", SERVES, str(port)]
        process = await launcher.spawn(argv, {}, {}, NoPorts(dial_port=port))
        async for _ in process.events:
            break
        with await process.dial() as found:
            said = await asyncio.get_running_loop().sock_recv(found, 100)
        await process.kill()
        with pytest.raises(OSError):
            await process.dial()
        silent = await launcher.spawn([PYTHON, "-c", "import time; time.sleep(60)"], {}, {}, NoPorts(dial_port=port))
        with pytest.raises(ConnectionRefusedError):
            await silent.dial()
        await silent.kill()
        return said

    before = tree(os.getpid())
    assert asyncio.run(scenario()) == b"from inside"
    assert not [pid for pid in tree(os.getpid()) if pid not in before and _lives(pid)]


def test_a_program_that_is_not_there_is_said_with_a_network_too(launcher: Launcher) -> None:
    async def scenario() -> Result:
        process = await launcher.spawn(["/nowhere/agent"], {}, {}, NoPorts(dial_port=launcher.port("dial")))
        return await process.wait()

    result = asyncio.run(scenario())
    assert (result.rc, result.stderr_tail) == (127, b"/nowhere/agent: No such file or directory\n")


def test_a_killed_agent_leaves_no_child(launcher: Launcher) -> None:
    """RN-44: tools that an agent starts run in process groups of their own."""
    before = tree(os.getpid())

    async def scenario() -> Result:
        process = await launcher.spawn([PYTHON, "-c", WITH_A_TOOL], {}, {}, NoPorts())
        async for _ in process.events:
            break
        await process.kill("cancelled")
        await process.kill()
        return await process.wait()

    result = asyncio.run(scenario())
    assert (result.reason, result.wall_s < 20) == ("cancelled", True)
    assert not [pid for pid in tree(os.getpid()) if pid not in before and _lives(pid)]
    assert not _sleepers()


def _lives(pid: int) -> bool:
    try:
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def _sleepers() -> list[str]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if Path(f"/proc/{name}/cmdline").read_bytes() == b"sleep\x00599.5\x00":
                found.append(name)
        except OSError:
            continue
    return found


# Who gets no sandbox at all


def test_only_a_listed_repository_runs_without_a_sandbox_and_never_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """SX-7, decisions.md rows 46 and 47; SB-46: no bwrap, so nothing runs, and the reason is said."""
    monkeypatch.setattr("app.workspace.sandbox.choose.system_bwrap", lambda path: None)
    monkeypatch.setattr("app.workspace.sandbox.choose.bundled_bwrap", lambda data: None)
    with reachable_folder() as data:
        listed = Settings(data=data, sandbox=SandboxSettings(i_accept_no_isolation=("acme/shop",)))
        chosen = asyncio.run(choose(listed, "acme/shop"))
        assert (chosen.tier, chosen.name) == (Tier.NONE, "none")
        for settings, name, is_fork in (
            (listed, "acme/other", False),
            (listed, "acme/shop", True),
            (Settings(data=data), "acme/shop", False),
        ):
            with pytest.raises(
                UserError, match=r"No sandbox is available, nothing was run\. bwrap .*neither installed"
            ):
                asyncio.run(choose(settings, name, is_fork))


def test_a_backend_that_is_not_built_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with reachable_folder() as data:
        settings = Settings(data=data, sandbox=SandboxSettings(backend="engine"))
        with pytest.raises(UserError, match="not part of this version"):
            asyncio.run(choose(settings, "acme/shop"))


def test_a_tier_below_the_minimum_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandbox.md, 13.1."""
    with reachable_folder() as data, a_sandbox() as (sandbox, _):
        assert sandbox.tier is Tier.STRONG
        monkeypatch.setattr("app.workspace.sandbox.probe.TIERS", dict.fromkeys(Variant, Tier.DEGRADED))
        settings = Settings(data=data, sandbox=SandboxSettings(minimum="STRONG"))
        with pytest.raises(UserError, match="less than the minimum STRONG"):
            asyncio.run(choose(settings, "acme/shop"))


def test_an_agent_may_map_eight_gibibytes() -> None:
    """RN-47: a limit on data segments would make big runtimes slow; the sum of all is watched instead."""
    limits = Limits.for_agents(60)
    assert limits.address_bytes == 8 << 30 and limits.data_bytes is None and limits.mem_bytes <= 4 << 30
