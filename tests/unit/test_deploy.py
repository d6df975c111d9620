"""What people deploy with: image, compose file, Kubernetes example, workflows (security.md 12); without an engine."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.main import ROUTES
from app.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
KUBERNETES = yaml.safe_load((ROOT / "deploy" / "kubernetes.yaml").read_text())["items"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
VERBS = {"web", "migrate", "worker"}
OURS = ("migrate", "web", "quick", "long", "sweep")
PATHS = {route.path for route in ROUTES if hasattr(route, "path")}
NOT_OURS = {"DATABASE_URL", "REDIS_URL", "RUNNERS_DIR"}


def knows(name: str) -> bool:
    """Whether a variable is one that Remedy reads."""
    return name in NOT_OURS or name.removeprefix("REMEDY_").lower() in Settings.model_fields


class TestImage:
    def test_the_base_is_named_by_digest(self) -> None:
        assert re.search(r"^ARG PYTHON=\S+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)
        assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${PYTHON}"}

    def test_packages_come_from_the_lock_with_hashes(self) -> None:
        installs = [line for line in DOCKERFILE.splitlines() if "pip install" in line]
        assert len(installs) == 2
        assert all("--no-deps" in line for line in installs)
        assert "--require-hashes -r requirements.lock" in installs[0]
        assert "--no-build-isolation" in installs[1]

    def test_it_runs_as_nobody_in_particular(self) -> None:
        user = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)
        assert user == ["10001:10001"]
        assert DOCKERFILE.index("USER 10001") < DOCKERFILE.index("ENTRYPOINT")

    def test_everything_that_is_copied_may_be_copied(self) -> None:
        wanted = {
            name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
        }
        ignored = (ROOT / ".dockerignore").read_text().splitlines()
        assert ignored[0] == "*"
        assert {line[1:] for line in ignored if line.startswith("!")} == wanted
        assert all((ROOT / name).exists() for name in wanted)

    def test_the_program_reads_no_file_that_stays_behind(self) -> None:
        """app.yml, templates: what lies beside `app` in a checkout must lie beside it in the image."""
        assert {"app", "jobs", "templates", "app.yml"} <= {
            name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
        }


class TestCompose:
    @pytest.mark.parametrize("name", OURS)
    def test_each_service_is_locked_down_and_starts_a_command_of_ours(self, name: str) -> None:
        service = COMPOSE["services"][name]
        assert service["command"][0] in VERBS
        assert (service["read_only"], service["init"], service["tmpfs"]) == (True, True, ["/tmp"])
        assert service.get("privileged") is None
        assert not any("docker.sock" in str(volume) for volume in service["volumes"])
        if name not in ("quick", "long"):
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
        assert all(knows(variable) for variable in service["environment"])

    def test_health_is_asked_where_there_is_an_answer(self) -> None:
        asked = " ".join(COMPOSE["services"]["web"]["healthcheck"]["test"])
        (path,) = re.findall(r"8000(/\w+)", asked)
        assert path in PATHS
        for name in ("redis", "postgres"):
            assert COMPOSE["services"][name]["healthcheck"]["test"]

    def test_w114_redis_evicts_nothing_and_asks_for_its_password(self) -> None:
        command = COMPOSE["services"]["redis"]["command"]
        assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
        assert "--requirepass" in command
        assert "ports" not in COMPOSE["services"]["redis"] and "ports" not in COMPOSE["services"]["postgres"]

    def test_nothing_starts_before_the_schema_is_there(self) -> None:
        for name in set(OURS) - {"migrate"}:
            assert COMPOSE["services"][name]["depends_on"] == {
                "migrate": {"condition": "service_completed_successfully"}
            }


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for item in KUBERNETES:
        if item["kind"] in ("Deployment", "CronJob"):
            spec = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item["spec"]
            yield item["metadata"]["name"], spec["template"]


class TestKubernetes:
    def test_it_has_all_parts_twice_where_that_helps(self) -> None:
        assert {name for name, _ in pods()} == set(OURS)
        deployments = [item for item in KUBERNETES if item["kind"] == "Deployment"]
        replicas = {item["metadata"]["name"]: item["spec"]["replicas"] for item in deployments}
        assert (replicas["web"], replicas["quick"], replicas["long"], replicas["sweep"]) == (2, 2, 2, 1)

    @pytest.mark.parametrize(("name", "template"), list(pods()))
    def test_each_pod_is_locked_down(self, name: str, template: dict[str, Any]) -> None:
        pod = template["spec"]
        (container,) = pod["containers"]
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["args"][0] in VERBS
        assert ":latest" not in container["image"]
        unsandboxed = pod["securityContext"]["seccompProfile"]["type"] == "Unconfined"
        assert unsandboxed == (name == "long"), "only what runs a sandbox of its own goes without the default profile"
        if name == "long":
            assert pod["hostUsers"] is False
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}

    def test_selectors_probes_and_variables_fit(self) -> None:
        by_name = {item["metadata"]["name"]: item for item in KUBERNETES if item["kind"] == "Deployment"}
        for name, item in by_name.items():
            assert (
                item["spec"]["selector"]["matchLabels"]
                == item["spec"]["template"]["metadata"]["labels"]
                == {"app": "remedy", "part": name}
            )
        (web,) = by_name["web"]["spec"]["template"]["spec"]["containers"]
        assert {web[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")} <= PATHS
        (config,) = [item for item in KUBERNETES if item["kind"] == "ConfigMap"]
        assert all(knows(name) for name in config["data"])


class TestWorkflows:
    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
    def test_actions_are_pinned_and_rights_are_least(self, path: Path) -> None:
        text = path.read_text()
        flow = yaml.safe_load(text)
        assert flow["permissions"] == {}
        for unwanted in ("pull_request_target", "secrets.", "actions/cache", "cache-from"):
            assert unwanted not in text
        uses = re.findall(r"uses: (\S+)(.*)", text)
        for action, comment in uses:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action}: the version belongs beside it"
        for name, job in flow["jobs"].items():
            assert "timeout-minutes" in job and "permissions" in job, name
            assert path.stem == "release" or job["permissions"] == {"contents": "read"}, name
            for step in job["steps"]:
                if "actions/checkout@" in step.get("uses", ""):
                    assert step["with"]["persist-credentials"] is False

    def test_what_they_call_is_there(self) -> None:
        makefile = (ROOT / "Makefile").read_text()
        for path in WORKFLOWS:
            for target in re.findall(r"\bmake ([a-z-]+)\b", path.read_text()):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
            for script in re.findall(r"(\.ci/[\w.]+)", path.read_text()):
                assert (ROOT / script).exists()


class TestRelease:
    @staticmethod
    def run(*args: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, ROOT / ".ci" / "release.py", *args], capture_output=True, text=True)

    def test_the_sbom_names_every_pin_of_the_lock_with_its_hashes(self) -> None:
        bom = json.loads(self.run("sbom").stdout)
        lock = (ROOT / "requirements.lock").read_text()
        pins = dict(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", lock, re.MULTILINE))
        assert {part["name"]: part["version"] for part in bom["components"]} == pins
        assert all(part["hashes"] for part in bom["components"])
        assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")

    def test_a_tag_that_is_not_the_version_makes_no_release(self) -> None:
        done = self.run("notes", "v9.9.9")
        assert (done.returncode, "is not v" in done.stderr) == (1, True)
