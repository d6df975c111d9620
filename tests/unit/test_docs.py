"""Documentation that is made from code agrees with it, and what it points at is there."""

import re
from pathlib import Path

import pytest

from app.cli import remedy
from app.settings import Settings
from tests import reference

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)?(?:#([^)]*))?\)")
VERBS = {command.name or command.callback.__name__ for command in remedy.registered_commands if command.callback}
VERBS |= {group.typer_instance.info.name for group in remedy.registered_groups if group.typer_instance}  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted({page for page, _ in reference.PARTS}))
def test_generated_parts_are_up_to_date(name: str) -> None:
    text = (ROOT / "docs" / name).read_text()
    assert reference.filled(name, text) == text, "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, place in LINK.findall(page.read_text()):
        if "://" in target:
            continue
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), f"{page.name}: {target}"
        if place and found.suffix == ".md":
            heads = re.findall(r"^#+ (.+)$", found.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert place in slugs, f"{page.name}: {target}#{place}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_variables_that_are_named_exist(page: Path) -> None:
    text = page.read_text()
    for verb in re.findall(r"(?:^|`|\$ )remedy ([a-z]+)", text, re.MULTILINE):
        assert verb in VERBS, f"{page.name}: remedy {verb}"
    known = {f"REMEDY_{name.upper()}" for name in Settings.model_fields}
    for name in re.findall(r"\bREMEDY_[A-Z]+(?:_[A-Z]+)*", text):
        assert name in known, f"{page.name}: {name}"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"`make ([a-z-]+)", text):
        assert target in targets, f"{page.name}: make {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_reached_from_the_front_door(page: Path) -> None:
    linked = {target for target, _ in LINK.findall((ROOT / "README.md").read_text())}
    name = page.relative_to(ROOT).as_posix()
    assert name == "README.md" or name in linked
