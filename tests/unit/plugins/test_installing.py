"""Install a runner from a folder and from a wheel, step by step, once; a broken one says why (runners.md, 11)."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.errors import UserError
from app.ledger import leases, plugins, ready
from app.ledger.rows import Row
from app.plugins import sources
from app.plugins.installing import check, install, receive, uninstall
from app.plugins.listing import known, registry
from app.plugins.sources import folders_for, opened
from app.runners.codes import RunnerError
from app.runners.registry import RunnerSpec
from app.runners.runner import Readiness
from app.services import Services, make, use
from app.settings import Settings
from app.turns.probing import probe, rehearse
from jobs.install import install as job
from tests.agents.install import QA, install_qa
from tests.agents.wheel import POINTS, a_wheel
from tests.databases import a_ledger


class Scene:
    """A server without runners, in a folder that a sandbox's user can reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = Settings(
            data=folder / "data",
            DATABASE_URL="",
            REDIS_URL="redis://127.0.0.1:9/0",
            RUNNERS_DIR=folder / "runners",
            sandbox={"i_accept_no_isolation": ["any/any"]},
        )
        settings.data.mkdir(mode=0o711)
        a_ledger(settings.database).dispose()
        self.s: Services = make(settings)
        self.probed: list[RunnerSpec] = []

    def receive(self, source: Path | str, program: str = "", search: str = "", **chosen: str) -> str:
        with opened(str(source), program, search, chosen) as found:
            return receive(self.s, found)

    def install(self, source: Path | str, *problems: str, **how: str) -> Row:
        """Without starting anything: the probe answers what it is told to."""
        digest = self.receive(source, **how)
        install(self.s, digest, lambda spec: self._probe(spec, problems))
        return self.row()

    def _probe(self, spec: RunnerSpec, problems: tuple[str, ...]) -> Readiness:
        self.probed.append(spec)
        return Readiness(not problems, problems=problems, said="its last words")

    def row(self, runner_id: str = QA) -> Row:
        with self.s.read() as conn:
            found = plugins.get(conn, runner_id)
        assert found is not None
        return found

    def find(self, runner_id: str = QA, usage: Any = "agent") -> RunnerSpec | RunnerError:
        with self.s.read() as conn:
            return registry(conn, self.s.settings).find(runner_id, usage)

    def qa(self, **spec: Any) -> Path:
        install_qa(self.folder / "source", {}, **spec)
        return self.folder / "source" / "qa"


@pytest.fixture
def scene() -> Iterator[Scene]:
    folder = Path(tempfile.mkdtemp(prefix="remedy-plugins-"))
    folder.chmod(0o711)
    made = Scene(folder)
    yield made
    made.s.engine.dispose()
    for place, folders, _ in os.walk(folder):
        for name in folders:
            Path(place, name).chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_is_installed_to_100_and_found_by_its_id(scene: Scene) -> None:
    """D1, D5: label and description for people, exactly 100 at the end."""
    row = scene.install(scene.qa())
    assert (row.state.value, row.percent, row.error, row.version, row.label) == ("ready", 100, "", "1.0.0", "QA agent")
    spec = scene.find()
    assert isinstance(spec, RunnerSpec) and spec.digest == row.digest == spec.folder.name
    assert spec.folder.parent == scene.s.settings.data / "runners"


def test_the_same_content_is_installed_once_and_another_one_replaces_it(scene: Scene) -> None:
    """D6, D27: set-up may be repeated; one row."""
    first = scene.install(scene.qa())
    again = scene.install(scene.qa())
    assert (again.digest, again.updated_at) == (first.digest, first.updated_at) and len(scene.probed) == 1
    newer = scene.install(scene.qa(limits={"turn_timeout_s": 60}))
    assert newer.digest != first.digest and len(scene.probed) == 2
    with scene.s.read() as conn:
        assert len(plugins.everything(conn)) == 1


def test_a_broken_one_says_why_with_its_last_words_and_is_not_used(scene: Scene) -> None:
    """D7, D25: installed again after the cure it works."""
    row = scene.install(scene.qa(), "the agent ended (exit code 3) before it answered initialize")
    assert row.state.value == "broken" and "exit code 3" in row.error and row.log_tail == "its last words"
    assert isinstance(scene.find(), RunnerError)
    with scene.s.read() as conn:
        (listed,) = known(conn, scene.s.settings)
    assert listed.state == "broken" and "exit code 3" in listed.problem
    assert scene.install(scene.qa()).state.value == "ready" and isinstance(scene.find(), RunnerSpec)


def test_a_probe_later_on_finds_what_broke_meanwhile(scene: Scene) -> None:
    row = scene.install(scene.qa())
    assert not check(scene.s, row, lambda spec: Readiness(False, problems=("gone",))).ok
    assert scene.row().state.value == "broken"
    assert check(scene.s, row, lambda spec: Readiness(True)).ok and scene.row().state.value == "ready"
    digest_folder = scene.s.settings.data / "runners" / row.digest
    (digest_folder / "qa.py").chmod(0o755)
    (digest_folder / "qa.py").write_text("#!/bin/sh\n")
    found = check(scene.s, row, lambda spec: Readiness(True))
    assert not found.ok and "changed since it was installed" in found.problems[0]


@pytest.mark.parametrize(
    "change, says",
    [
        ({"usages": []}, "spec.usages"),
        ({"colour": 1}, "spec.colour"),
        ({"command": None}, "command"),
        ({"protocol": "x/1"}, "spec.protocol"),
    ],
)
def test_a_bad_manifest_is_refused_before_anything_is_stored(scene: Scene, change: dict[str, Any], says: str) -> None:
    """D24: with the name of the field, and no row."""
    with pytest.raises(UserError, match=says):
        scene.receive(scene.qa(**change))
    with scene.s.read() as conn:
        assert plugins.everything(conn) == []


def test_an_install_that_lost_its_worker_is_rung_again_and_done_by_one(scene: Scene) -> None:
    """D5, CR-15: the row is the truth; whoever holds the lease does it."""
    digest = scene.receive(scene.qa())
    now = scene.s.clock()
    with scene.s.write() as conn:
        assert ready.due(conn, now, 0) == [("install", digest)]
        leases.take(conn, f"install:{digest}", "another", now, 60_000)
        assert ready.due(conn, now, 0) == []
        ready.rang(conn, "install", digest, now)
    assert install(scene.s, digest, lambda spec: Readiness(True)) == "leased"
    with scene.s.write() as conn:
        leases.drop_of(conn, "another")
        assert ready.due(conn, now + 10_000, 10_000) == [("install", digest)]
    assert install(scene.s, digest, lambda spec: Readiness(True)) == "processed"
    assert install(scene.s, digest, lambda spec: Readiness(True)) == "idle"
    assert install(scene.s, "f" * 64, lambda spec: Readiness(True)) == "idle"


def test_a_removed_runner_leaves_nothing(scene: Scene) -> None:
    row = scene.install(scene.qa())
    assert not uninstall(scene.s, row), "it is not disabled, so a turn may begin with it"
    with scene.s.write() as conn:
        assert plugins.disable(conn, QA, scene.s.clock()) and not plugins.disable(conn, "a/b/c", scene.s.clock())
    assert isinstance(scene.find(), RunnerError)
    assert uninstall(scene.s, row)
    assert list((scene.s.settings.data / "runners").iterdir()) == []


def test_a_ready_made_one_gets_the_programs_true_path(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """RN-73, RN-74: the operator's word at install, never a look into PATH later."""
    monkeypatch.setattr(sources, "READY_MADE", scene.folder)
    manifest = yaml.safe_load((scene.qa() / "runner.yaml").read_text())
    manifest["spec"]["command"] = ["some-agent", "--acp"]
    (scene.folder / "some.yaml").write_text(yaml.safe_dump(manifest))
    program = scene.folder / "opt" / "node_modules" / "@some" / "agent" / "cli.js"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    bin_folder = scene.folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "some-agent").symlink_to(program)

    with pytest.raises(UserError, match="--program"):
        scene.receive("some", search="/nowhere")
    scene.install("some", search=str(bin_folder))
    spec = scene.find()
    assert isinstance(spec, RunnerSpec) and spec.argv == (str(bin_folder / "some-agent"), "--acp")
    assert spec.shown == (bin_folder, scene.folder / "opt" / "node_modules")
    scene.install("some", program=str(program))
    assert folders_for(Path("/usr/bin/env")) == [] and scene.row().origin == "ready-made some"
    with pytest.raises(UserError, match="Ready-made: some"):
        scene.receive("nothing")
    with pytest.raises(UserError, match="no setting colour; it has scenario"):
        scene.receive("some", program=str(program), colour="red")


@pytest.mark.parametrize("name", sources.ready_made())
def test_what_comes_with_remedy_can_be_installed_by_name(scene: Scene, name: str) -> None:
    """D1, RN-46: every ready-made manifest is valid, with a model that the operator chooses."""
    digest = scene.receive(name, program="/bin/true", model="vendor/own-model")
    folder = scene.s.settings.data / "runners" / digest
    manifest = yaml.safe_load((folder / "runner.yaml").read_text())
    assert manifest["spec"]["config_schema"]["properties"]["model"]["default"] == "vendor/own-model"
    assert manifest["spec"]["command"][0] == "/bin/true"


@pytest.mark.parametrize(
    "points, says",
    [
        ("[console_scripts]\nx = y:z\n", "names 0"),
        ("[remedy.runners]\na = b\nc = d\n", "names 2"),
        ("[remedy.runners]\na = other\n", "no other/runner.yaml"),
        ("[remedy.runners]\na = ../x\n", "no name of a package"),
        ("x", "cannot be read"),
    ],
)
def test_a_wheel_without_a_runner_is_refused(scene: Scene, points: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        scene.receive(a_wheel(scene.folder, points=points))
    junk = scene.folder / "junk-1-py3-none-any.whl"
    junk.write_text("no zip")
    with pytest.raises(UserError, match="no wheel that can be read"):
        scene.receive(junk)


@pytest.mark.slow
def test_a_wheel_gets_an_environment_of_its_own_and_really_starts(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1, D4, D7, D11, RN-73: no index is asked; the program is one of that environment; tried in the sandbox."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    use(scene.s)
    try:
        assert job(scene.receive(a_wheel(scene.folder))) == "processed"
    finally:
        use(None)
    row, spec = scene.row(), scene.find()
    assert (row.state.value, row.percent) == ("ready", 100), (row.error, row.log_tail)
    assert isinstance(spec, RunnerSpec) and spec.own is not None
    assert spec.argv == (str(spec.own / "bin" / "qa-agent"),) and spec.own.parent.name == "environments"
    result, events = rehearse(scene.s.settings, spec, "[[qa:prose text=Hello]]", 60)
    assert result.error is None and result.text == "Hello" and events[-1].type.value == "turn.completed"

    broken = a_wheel(scene.folder, "1.1.0", requires="nowhere-to-be-found>=9")
    install(scene.s, scene.receive(broken), lambda found: probe(scene.s.settings, found))
    row = scene.row()
    assert row.state.value == "broken" and "exit code 1" in row.error and "nowhere-to-be-found" in row.log_tail


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario, says",
    [
        ({"start": "crash"}, "exit code 3"),
        ({"version": "7.0.0"}, "7.0.0"),
        ({"offers": {"loadSession": False}}, "load_session"),
    ],
)
def test_an_agent_that_does_not_start_as_it_says_is_broken(scene: Scene, scenario: dict[str, Any], says: str) -> None:
    """D7, D25, RN-70: probed by `initialize` in the sandbox."""
    install_qa(scene.folder / "source", scenario, capabilities={"load_session": "offers" in scenario})
    digest = scene.receive(scene.folder / "source" / "qa")
    assert install(scene.s, digest, lambda spec: probe(scene.s.settings, spec)) == "broken"
    assert says in scene.row().error


def test_a_package_beside_us_is_found_by_its_entry_point_and_not_imported(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: entry point group `remedy.runners`; nothing of it runs in our process."""
    site = scene.folder / "site"
    package = site / "boom_runner"
    shutil.copytree(scene.qa(), package)
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    info = site / "boom-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boom\nVersion: 1\n")
    (info / "entry_points.txt").write_text(POINTS.replace("qa_runner", "boom_runner"))
    assert isinstance(scene.find(), RunnerError)
    monkeypatch.syspath_prepend(str(site))
    spec = scene.find()
    assert isinstance(spec, RunnerSpec) and "boom_runner" not in sys.modules
    with scene.s.read() as conn:
        assert [one.origin for one in known(conn, scene.s.settings)] == ["package/boom_runner"]


def test_two_of_one_id_are_both_said_to_be_broken(scene: Scene) -> None:
    """RN-75."""
    scene.install(scene.qa())
    install_qa(scene.folder / "runners", {})
    found = scene.find()
    assert isinstance(found, RunnerError) and "more than one folder" in found.message
    with scene.s.read() as conn:
        assert {one.state for one in known(conn, scene.s.settings)} == {"broken"}
