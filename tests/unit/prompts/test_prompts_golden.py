"""Every prompt is byte-equal to its golden file; a change of words raises the number in versions.json."""

import json
import re
from dataclasses import replace

import pytest

from app.render.engine import TEMPLATES
from app.render.prompts import render_prompt, version
from app.render.prompts.inputs import Form, Rung
from app.render.prompts.prompt import digest, sources
from tests.unit.prompts import golden
from tests.unit.prompts.rows import TYPICAL, WORK

NAMES = [
    "step",
    "plan_review",
    "agent_work",
    "agent_correct",
    "agent_resume",
    "reask",
    "review",
    "self_repair",
    "final",
]


@pytest.mark.parametrize("case", golden.cases())
def test_each_prompt_is_its_golden_file_pm_33_pm_36(case: str) -> None:
    name, inputs = golden.cases()[case]
    assert render_prompt(name, inputs).text == golden.path_of(case).read_text()
    assert render_prompt(name, inputs) == render_prompt(name, inputs)


def test_golden_files_are_those_of_the_cases() -> None:
    assert {path.stem for path in golden.FOLDER.glob("*.txt")} == set(golden.cases())


def test_the_worked_example_is_byte_equal_a12() -> None:
    """prompts.md, 11.1."""
    expected = (golden.FOLDER.parent / "worked_agent_work.txt").read_text()
    assert render_prompt("agent_work", WORK).text == expected


def test_changed_words_need_a_higher_number_pm_33() -> None:
    """When this fails: raise the number of the prompt in versions.json, write its new digest, read the golden diff."""
    numbers = json.loads((TEMPLATES / "prompts" / "versions.json").read_text())
    assert set(numbers) == set(NAMES)
    assert {name: numbers[name]["sha256"] for name in NAMES} == {name: digest(name) for name in NAMES}


def test_a_version_names_prompt_number_and_digest_pm_33_pm_34() -> None:
    assert re.fullmatch(r"review@\d+\+[0-9a-f]{12}", version("review"))
    assert render_prompt("review", TYPICAL["review"][1]).version == version("review")


def test_a_version_covers_the_parts_that_are_included_pm_33() -> None:
    assert "prompts/parts/notice.md.j2" in sources("review")
    assert "prompts/parts/rules.md.j2" in sources("agent_work")
    assert "prompts/parts/data.md.j2" in sources("agent_resume")
    assert all((TEMPLATES / source).exists() for name in NAMES for source in sources(name))


def test_every_template_belongs_to_a_prompt() -> None:
    used = {source for name in NAMES for source in sources(name)}
    found = {str(path.relative_to(TEMPLATES)) for path in (TEMPLATES / "prompts").rglob("*.j2")}
    assert found == used


def test_a_marker_form_without_a_nonce_is_a_mistake() -> None:
    with pytest.raises(ValueError):
        render_prompt("agent_work", replace(WORK, form=Form(Rung.MARKER)))
