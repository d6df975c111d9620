"""Play the demo from beginning to end, and leave nothing running behind."""

import os
import shutil
import signal
import sys

from tests.agents.install import install_qa
from tests.demo.stage import REPO, DemoFailed, Stage
from tests.demo.story import SCENARIO, SLOW, Story
from tests.demo.tell import Teller


def main() -> int:
    """0 when the whole story was told; 1 and the reason otherwise. `DEMO_KEEP=1` leaves all running until Ctrl+C."""
    keep = bool(os.environ.get("DEMO_KEEP"))
    tell, stage = Teller(), Stage(SCENARIO)
    tell.head("make demo", "a made-up GitHub, local: no account, no network, no model; waits are set short; about 30 s")
    try:
        stage.open()
        number, story = _play(stage, tell)
        tell.comment(story.last_comment(number))
        _where(stage, tell, number, keep)
        print(tell.end(), flush=True)
        if keep:
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except (DemoFailed, KeyboardInterrupt) as stopped:
        print(f"demo: failed. {stopped}", file=sys.stderr, flush=True)
        keep = True
        return 1
    finally:
        stage.close()
        if not keep:
            shutil.rmtree(stage.folder, ignore_errors=True)
    return 0


def _play(stage: Stage, tell: Teller) -> tuple[int, Story]:
    story = Story(stage, tell)
    tell.chapter("A red check is repaired")
    story.prepare()
    number, fix_number = story.repair()
    story.merge(number, fix_number)
    tell.chapter("A person stops a run and lets it go on")
    install_qa(stage.folder / "runners", SLOW)
    story.stop_and_resume()
    return number, story


def _where(stage: Stage, tell: Teller, number: int, keep: bool) -> None:
    tell.chapter("Where everything is")
    tell.step(
        "Pull request", f"{stage.github.web_url}/{REPO}/pull/{number}{'' if keep else ' (gone when the demo ends)'}"
    )
    tell.step(
        "Ledger, evidence", f"{stage.folder / 'data'}{'' if keep else ' (removed when the demo ends; DEMO_KEEP=1)'}"
    )
