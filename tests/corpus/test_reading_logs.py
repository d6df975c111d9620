"""The labelled logs beside the repository: recall, precision, kinds and false alarms (section 8, CP-2)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from app.failures.model import Reading
from app.failures.read import read_log
from tests.bench.logs import share_of_log

LOGS = Path(__file__).parents[2].parent / "shared" / "corpus" / "logs"

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the labelled logs are not beside the repository")


def fold(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


def items() -> Iterator[tuple[dict[str, object], Reading]]:
    for side in sorted(LOGS.glob("*/*.json")):
        yield json.loads(side.read_text()), read_log([side.with_suffix(".log").read_bytes()])


@pytest.fixture(scope="module")
def read() -> list[tuple[dict[str, object], Reading]]:
    return list(items())


def names(label: dict[str, object], *, optional: bool) -> list[set[str]]:
    rows = {row["id"]: row for row in label["failing"] if bool(row.get("optional")) == optional}  # type: ignore[attr-defined]
    return [{fold(name) for name in (row["id"], *row.get("alt", []))} for row in rows.values()]


def test_recall_precision_and_perfect_items(read: list[tuple[dict[str, object], Reading]]) -> None:
    """RG-1, RG-2, RG-3, on the logs that are shown."""
    hit = missed = extra = perfect = 0
    for label, reading in read:
        got = {fold(found.test_id) for found in reading.failures}
        wanted, spare = names(label, optional=False), names(label, optional=True)
        found = [want for want in wanted if want & got]
        surplus = [name for name in got if not any(name in want for want in (*wanted, *spare))]
        hit, missed, extra = hit + len(found), missed + len(wanted) - len(found), extra + len(surplus)
        perfect += len(found) == len(wanted) and not surplus
    assert hit / (hit + missed) >= 0.97
    assert hit / (hit + extra) >= 0.97
    assert perfect / len(read) >= 0.90


def test_no_false_alarm_on_a_control(read: list[tuple[dict[str, object], Reading]]) -> None:
    """RG-4."""
    for label, reading in read:
        if not names(label, optional=False):
            spare = set().union(*names(label, optional=True))
            assert {fold(found.test_id) for found in reading.failures} <= spare


def test_kinds(read: list[tuple[dict[str, object], Reading]]) -> None:
    """RG-5."""
    right = sum(reading.job_kind in (label["kind"], *(label.get("kind_alt") or ())) for label, reading in read)  # type: ignore[misc]
    assert right / len(read) >= 0.90


def test_no_detector_breaks(read: list[tuple[dict[str, object], Reading]]) -> None:
    """RG-9, LT-6."""
    assert [reading.notes for _, reading in read if reading.notes] == []


def test_evidence_is_a_tenth_of_the_log_or_less(read: list[tuple[dict[str, object], Reading]]) -> None:
    """Median over logs above 20 KB."""
    shares = [share_of_log(reading) for _, reading in read if reading.bytes_seen > 20_000]
    assert median(shares) <= 0.10
