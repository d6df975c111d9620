"""`python -m tests.chaos --kills N --seed S --json`: exit status 1 when anything was lost or stands twice."""

import argparse
import json
import os
import random
import shutil
import sys
import time

from tests.chaos.killer import Killer
from tests.chaos.scene import MOST_RUNS, ChaosStage, Story, open_stage
from tests.chaos.tally import Tally, tally

AT_ONCE = 4
PAUSE_S = (0.3, 2.5)
END_S = 240
QUIET_S = 15
TAKEOVER_S = 10.0


def main() -> int:
    """Kill until enough were killed, let the rest come to its end, count."""
    given = _arguments()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    stage = open_stage()
    try:
        if given.deliveries == "rough":
            stage.rough_deliveries(seed)
        killer = Killer(stage, random.Random(seed))
        stories = _kill(stage, killer, given.kills, given.at_once)
        _to_the_end(stories, killer)
        found = tally(stage, stories)
        slow = _p95(killer.seconds)
        result = {
            "seed": seed,
            "kills": sum(killer.kills.values()),
            "runs": found.runs,
            "completed": found.completed,
            "lost": found.lost,
            "duplicates": found.duplicates,
            "takeover_p95_s": round(slow, 2),
            "takeovers": len(killer.seconds),
            "slowest": killer.slowest,
            "resumes": found.resumes,
            "where": dict(sorted(killer.kills.items())),
            "deliveries": stage.told_of_deliveries(),
            "load": [round(one, 1) for one in os.getloadavg()],
        }
        print(json.dumps(result) if given.json else _for_people(result, found), flush=True)
        bad = found.complaints or slow > TAKEOVER_S
        if bad:
            print("\n".join([*found.complaints, f"seed {seed}, folder {stage.folder}"]), file=sys.stderr)
        return 1 if bad else 0
    finally:
        stage.close()
        if sys.exc_info()[0] is None and not given.keep:
            shutil.rmtree(stage.folder, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="runs at once")
    parser.add_argument(
        "--deliveries", choices=("rough", "plain"), default="rough", help="rough: also shuffled, doubled and missed"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folder, with log and database")
    return parser.parse_args()


def _kill(stage: ChaosStage, killer: Killer, kills: int, at_once: int) -> list[Story]:
    stories: list[Story] = []
    while sum(killer.kills.values()) < kills:
        going = [story for story in stories if story.state != "over"]
        if len(going) < at_once and len(stories) < MOST_RUNS:
            stories.append(Story(stage, stage.engine, len(stories) + 1))
        for story in stories:
            story.step()
        if any(story.state == "red" for story in stories):
            killer.kill()
        _pause(killer, killer.random.uniform(*PAUSE_S))
    return stories


def _to_the_end(stories: list[Story], killer: Killer) -> None:
    """No more kills: everything must come to its end by itself, and then stay so."""
    until = time.monotonic() + END_S
    while time.monotonic() < until and any(story.state != "over" for story in stories):
        for story in stories:
            story.step()
        _pause(killer, 0.5)
    _pause(killer, QUIET_S)


def _pause(killer: Killer, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        killer.watch()
        time.sleep(0.05)


def _p95(seconds: list[float]) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] if ordered else 0.0


def _for_people(result: dict[str, object], found: Tally) -> str:
    lines = [f"{name:<16} {value}" for name, value in result.items()]
    return "\n".join([*lines, *(f"! {text}" for text in found.complaints)])


if __name__ == "__main__":
    sys.exit(main())
