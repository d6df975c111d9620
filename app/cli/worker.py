"""`remedy worker`: become the worker of one queue, or the sweep."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.environment import child_environment, prepare_data_folder, python, read_settings


class Part(StrEnum):
    QUICK = "quick"
    LONG = "long"
    SWEEP = "sweep"


def worker(
    part: Annotated[Part, typer.Argument(help="What to do: short jobs, long jobs, or look for work that was lost.")],
) -> None:
    """Do the work of one queue, or sweep."""
    prepare_data_folder(read_settings())
    argv = python("jobs.worker", part)
    os.execve(argv[0], argv, child_environment())
