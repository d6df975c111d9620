"""Every rule of the design that a run lives by is named by a test, or stands here with the reason why not yet."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]

RULES = {
    "A": 24,  # intake and dispatch, as asked for
    "B": 20,  # the OpenCode client, as asked for
    "C": 35,  # supervised repair, as asked for
    "D": 27,  # plugins, as asked for
    "RN-": 83,  # runners
    "G": 26,  # failures to remote agents, as asked for
    "T": 51,  # transitions
    "IT-": 35,  # intake
    "EV-": 9,  # evidence
    "VF-": 12,  # verdicts
    "SR-": 11,  # self-repair
    "PL-": 11,  # plan, resume, rebase
    "PB-": 12,  # publishing
    "LE-": 10,  # leases
    "OB-": 10,  # outbox
    "CR-": 19,  # crash recovery
}
"""Prefix of a rule's id and its highest number; they are counted from 1 without a gap."""

NOT_YET: dict[str, str] = {}
"""Rules whose code does not exist; empty in the end."""


def ids() -> list[str]:
    return [f"{prefix}{n}" for prefix, last in RULES.items() for n in range(1, last + 1)]


def named() -> set[str]:
    """The rules that a test names: `T19` or `SR-6` anywhere in its text, or `_t19_`, `_sr_6` in its name."""
    words = "\n".join(path.read_text() for path in TESTS.rglob("*.py") if path != Path(__file__))
    names = "\n".join(re.findall(r"(?m)^ *(?:async )?def test(_\w+)", words)).upper()
    found = re.findall(r"(?<![A-Za-z0-9])([A-Z]{1,2})[-_]?(\d+)(?![0-9A-Za-z])", words)
    found += re.findall(r"_([A-Z]{1,2})_?(\d+)(?![0-9])", names)
    return {f"{prefix}{number}" for prefix, number in found}


def test_every_rule_is_named_by_a_test() -> None:
    said = named()
    assert not [rule for rule in ids() if rule.replace("-", "") not in said and rule not in NOT_YET]


def test_the_list_of_reasons_names_real_rules() -> None:
    assert set(NOT_YET) <= set(ids())
