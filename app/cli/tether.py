"""Become another program that the kernel kills when its parent dies.

`python -I -S tether.py PARENT_PID PROGRAM ARGS...`

A program of its own, with the standard library only, because code between fork and exec is not safe in a process that
has threads, and Redis cannot be asked to call prctl itself.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Ask for the signal, make sure that the parent had not died before that, and exec."""
    parent, *argv = sys.argv[1:]
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):
            sys.exit("the parent is gone")
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(f"{argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
