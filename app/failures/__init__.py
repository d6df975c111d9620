"""Reading CI output: logs, test reports and annotations into failing tests, diagnostics, groups and blame."""

from app.failures.fingerprint import dedup_tag, fingerprint
from app.failures.grouping import Group, group_failures
from app.failures.model import Diagnostic, Failure, JobInfo, Options, Reading, StepInfo
from app.failures.read import read_log

__all__ = [
    "Diagnostic",
    "Failure",
    "Group",
    "JobInfo",
    "Options",
    "Reading",
    "StepInfo",
    "dedup_tag",
    "fingerprint",
    "group_failures",
    "read_log",
]
