"""Golden files of the prompts; `python -m tests.unit.prompts.golden` writes them anew, the diff is then read."""

from dataclasses import replace
from pathlib import Path

from app.render.prompts import render_prompt
from app.render.prompts.inputs import Attempt, Inputs, Place, Rung
from tests.unit.prompts.rows import (
    CORRECT_PROOF,
    FINDING,
    RUN,
    TYPICAL,
    WORK,
    form,
    with_failures,
)

FOLDER = Path(__file__).parent / "golden"


def cases() -> dict[str, tuple[str, Inputs]]:
    """Every template in every rung with a typical row, and the rows that change a template's shape."""
    found: dict[str, tuple[str, Inputs]] = {}
    for case, (name, inputs) in TYPICAL.items():
        if not hasattr(inputs, "form"):
            found[case] = (name, inputs)
            continue
        for rung in Rung:
            found[f"{case}.{rung.value}"] = (name, replace(inputs, form=form(rung)))  # type: ignore[arg-type]
    long_attempt = Attempt(2, "supervisor", "Round up", ("a.py +2 -1", "b.py +0 -3"), "2 findings", "JPY is wrong.", "")
    return found | {
        "agent_work.12_failures": ("agent_work", with_failures(12, 12)),
        "agent_work.60_failures": ("agent_work", with_failures(60, 50)),
        "agent_work.unknown_revision": ("agent_work", replace(WORK, run=replace(RUN, head_sha="", environment=""))),
        "agent_work.branch": (
            "agent_work",
            replace(WORK, run=replace(RUN, pull_number=None, head_ref="main", base_ref="")),
        ),
        "agent_work.fork": (
            "agent_work",
            replace(
                WORK,
                run=replace(RUN, head_ref="stranger:one-page-minimum"),
                conventions=(replace(WORK.conventions[0], changed=True),),
                form=form(Rung.MARKER, may_ask=False),
            ),
        ),
        "agent_work.remote": ("agent_work", replace(WORK, remote_branch="remedy/e2e-fail-0a19abd5499b/8F3K2Q")),
        "agent_work.dry_run": ("agent_work", replace(WORK, place=Place.DRY_RUN)),
        "agent_correct_proof.findings": (
            "agent_correct",
            replace(
                CORRECT_PROOF,
                claims=("test_no_longer_discriminates", "collateral", "still_flaky"),
                flaky=(2, 5),
                collateral=("tests/test_pages.py::test_zero", "tests/test_pages.py::test_one"),
                findings=(FINDING,),
                attempts=(*CORRECT_PROOF.attempts, long_attempt),
            ),
        ),
    }


def path_of(case: str) -> Path:
    return FOLDER / f"{case}.txt"


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for case, (name, inputs) in cases().items():
        path_of(case).write_text(render_prompt(name, inputs).text)


if __name__ == "__main__":
    write()
