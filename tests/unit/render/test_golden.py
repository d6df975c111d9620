"""What people read in each state, word for word."""

import pytest

from tests.unit.render import golden
from tests.unit.render.views import STATES


@pytest.mark.parametrize("name", STATES)
def test_each_state_reads_as_its_golden_file(name: str) -> None:
    assert golden.shown(STATES[name][1]) == (golden.FOLDER / golden.file_name(name)).read_text()


def test_golden_files_are_those_of_the_states() -> None:
    assert {path.name for path in golden.FOLDER.glob("*.md")} == {golden.file_name(name) for name in STATES}
