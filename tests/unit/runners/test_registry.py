"""Runners are found in RUNNERS_DIR, checked, and copied by their content (D6, D8, D10, RN-73)."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.runners.acp.runner import AcpRunner
from app.runners.codes import Code, RunnerError, RunnerFailure
from app.runners.install import Refused, install_folder
from app.runners.kinds import runner_for
from app.runners.registry import Registry, RunnerSpec
from app.runners.runner import Ports, Process
from tests.agents.install import QA, install_qa


class NoLauncher:
    """Starts nothing."""

    tier = 0

    async def spawn(
        self, argv: Sequence[str], env: Mapping[str, str], files: Mapping[str, bytes], network: Ports
    ) -> Process:
        raise AssertionError("nothing is started")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    (tmp_path / "runners").mkdir()
    return Registry(tmp_path / "runners", tmp_path / "data", {"ACME_TOKEN": "canary-token", "OTHER": "canary-other"})


def install(registry: Registry, **spec: Any) -> str:
    assert registry.runners_dir is not None
    return install_qa(registry.runners_dir, {}, **spec)


def found(registry: Registry, usage: Any = "agent", **config: Any) -> RunnerSpec:
    spec = registry.find(QA, usage, config)
    assert isinstance(spec, RunnerSpec), spec
    return spec


def refused(registry: Registry, usage: Any = "agent", **config: Any) -> RunnerError:
    error = registry.find(QA, usage, config)
    assert isinstance(error, RunnerError), error
    return error


def test_a_runner_is_copied_read_only_and_named_by_its_content(registry: Registry) -> None:
    install(registry)
    spec = found(registry)
    assert spec.folder == registry.data / "runners" / spec.digest and spec.inside_path == str(spec.folder)
    assert spec.argv == (f"{spec.folder}/qa.py",)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (spec.folder, *spec.folder.iterdir())}
    assert modes.pop("qa.py") == 0o555 and modes.pop(spec.digest) == 0o555
    assert set(modes.values()) == {0o444}
    assert stat.S_IMODE(spec.folder.parent.stat().st_mode) == 0o755


def test_the_same_content_is_copied_once_and_a_change_is_a_new_copy(registry: Registry) -> None:
    """D6."""
    install(registry)
    first = found(registry)
    assert found(registry).digest == first.digest
    assert registry.runners_dir is not None
    install_qa(registry.runners_dir, {"agent": ["fix"]})
    assert found(registry).digest != first.digest
    assert len(list((registry.data / "runners").iterdir())) == 2


def test_what_is_not_installed_says_so_and_names_the_broken_ones(registry: Registry) -> None:
    """D25: an unknown id and a broken manifest are two codes."""
    assert refused(registry).code is Code.NOT_INSTALLED
    install(registry, usages=[])
    broken = refused(registry)
    assert broken.code is Code.BROKEN_MANIFEST and "spec.usages" in broken.message
    other = registry.find("acme/fixer/default", "agent")
    assert isinstance(other, RunnerError) and other.code is Code.NOT_INSTALLED and "spec.usages" in other.message


def test_no_folder_at_all_is_no_runner(tmp_path: Path) -> None:
    for place in (None, tmp_path / "missing"):
        assert Registry(place, tmp_path, {}).entries() == []


def test_a_runner_is_offered_for_its_usages_only(registry: Registry) -> None:
    """D8."""
    install(registry, usages=["event"], events=["failure.opened"])
    error = refused(registry)
    assert error.code is Code.NOT_READY and "agent" in error.message and "event" in error.message
    assert found(registry, "event").usages == ("event",)


def test_a_server_of_the_operators_is_found_by_its_variable(registry: Registry) -> None:
    """RN-74: an address comes from the manifest or the operator's environment, never from a repository."""
    gateway = {"server": "devin"}
    install(registry, protocol="mcp/1", usages=["agent"], command=None, url="$OTHER", env=["OTHER"], gateway=gateway)
    spec = found(registry)
    assert spec.url == "canary-other" and spec.argv == ()


def test_a_protocol_chooses_the_kind_and_an_unknown_one_says_so(registry: Registry) -> None:
    """RN-64: one class for each protocol."""
    install(registry)
    assert isinstance(runner_for(found(registry), NoLauncher()), AcpRunner)
    spec = found(registry)
    loose = spec.manifest.spec.model_copy(update={"protocol": "smoke/1"})
    with pytest.raises(RunnerFailure, match="smoke/1"):
        runner_for(replace(spec, manifest=spec.manifest.model_copy(update={"spec": loose})), NoLauncher())


SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"model": {"type": "string", "default": "acme/large"}, "effort": {"enum": ["low", "high"]}},
    "required": ["model", "effort"],
}


def test_a_missing_key_gets_its_default_or_is_named(registry: Registry) -> None:
    """D10."""
    install(registry, config_schema=SCHEMA)
    assert found(registry, effort="low").config == {"model": "acme/large", "effort": "low"}
    error = refused(registry)
    assert error.code is Code.NOT_READY and "effort" in error.message
    assert "unexpected" in refused(registry, effort="low", colour="red").message
    assert "effort" in refused(registry, effort="middle").message


def test_a_schema_fetches_nothing(registry: Registry) -> None:
    """G1, D27: no socket for a `$ref`."""
    install(registry, config_schema={"$ref": "http://127.0.0.1:9/schema.json"})
    assert refused(registry).code is Code.BROKEN_MANIFEST


def test_only_listed_values_of_the_environment_are_handed_on(registry: Registry) -> None:
    """RN-41."""
    install(registry, env=["ACME_TOKEN"], env_fixed={"QA_SCENARIO": "{folder}/scenario.json"})
    spec = found(registry)
    assert spec.env == {"ACME_TOKEN": "canary-token", "QA_SCENARIO": f"{spec.folder}/scenario.json"}
    assert "canary" not in repr(spec) and "canary" not in repr(registry)


def test_a_missing_value_is_named(registry: Registry) -> None:
    install(registry, env=["ACME_TOKEN", "ACME_ORG"])
    error = refused(registry)
    assert error.code is Code.NOT_READY and "ACME_ORG" in error.message and "ACME_TOKEN" not in error.message


@pytest.mark.parametrize("program", ["sh", "python3", "../../bin/sh", "runner.yaml", "missing.py", "."])
def test_a_program_is_never_looked_up_in_path(registry: Registry, program: str) -> None:
    """RN-73."""
    install(registry, command=[program])
    error = refused(registry)
    assert error.code is Code.BROKEN_MANIFEST and program in error.message


def test_the_operator_may_name_a_program_by_its_absolute_path(registry: Registry) -> None:
    """RN-73."""
    install(registry, command=["/usr/bin/python3", "{folder}/qa.py"])
    spec = found(registry)
    assert spec.argv == ("/usr/bin/python3", f"{spec.folder}/qa.py")


def test_two_folders_with_one_id_are_both_refused(registry: Registry) -> None:
    """RN-75."""
    install(registry)
    assert registry.runners_dir is not None
    (registry.runners_dir / "qa").rename(registry.runners_dir / "other")
    install(registry)
    error = refused(registry)
    assert error.code is Code.BROKEN_MANIFEST and "more than one" in error.message
    assert all(entry.error for entry in registry.entries())


def test_links_and_special_files_are_not_copied(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub/key").symlink_to("/etc/passwd")
    with pytest.raises(Refused, match="sub/key"):
        install_folder(source, tmp_path / "target")
    (source / "sub/key").unlink()
    (source / "sub").rmdir()
    (source / "sub").symlink_to("/etc")
    with pytest.raises(Refused, match="sub"):
        install_folder(source, tmp_path / "target")
    assert not list(tmp_path.glob("target/*"))


def test_a_file_made_executable_is_another_runner(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "run").write_text("#!/bin/sh\n")
    (source / "run").chmod(0o644)
    plain, _ = install_folder(source, tmp_path / "target")
    (source / "run").chmod(0o755)
    executable, _ = install_folder(source, tmp_path / "target")
    assert plain != executable
