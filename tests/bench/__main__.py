"""Run the measurements, print one line per goal, exit 1 if one is missed: `python -m tests.bench [NAME...]`."""

import sys
from importlib import import_module
from pkgutil import iter_modules

from tests import bench
from tests.bench.goal import Goal


def main(names: list[str]) -> int:
    missed = 0
    for module in iter_modules(bench.__path__):
        measure = getattr(import_module(f"tests.bench.{module.name}"), "measure", None)
        if measure is None or (names and module.name not in names):
            continue
        goals: list[Goal] = measure()
        for goal in goals:
            word = "ok" if goal.is_met else "missed"
            print(f"{word:<6} {module.name:<10} {goal.name:<58} {goal.seen}  (goal {goal.wanted})")
        missed += sum(not goal.is_met for goal in goals)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
