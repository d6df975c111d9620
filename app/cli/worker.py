"""`remedy worker`: become the worker of one queue, or the sweep."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.environment import (
    child_environment,
    prepare_data_folder,
    python,
    read_settings,
    refuse_unreachable_folder,
)


class Part(StrEnum):
    QUICK = "quick"
    LONG = "long"
    SWEEP = "sweep"


def worker(
    part: Annotated[Part, typer.Argument(help="What to do: short jobs, long jobs, or look for work that was lost.")],
) -> None:
    """Do the work of one queue, or sweep."""
    settings = read_settings()
    prepare_data_folder(settings)
    refuse_unreachable_folder(settings)
    argv = python("jobs.worker", part)
    os.execve(argv[0], argv, child_environment())
