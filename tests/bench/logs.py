"""How fast logs are read and what memory it takes, beside a naive loop and `grep -F` in the same run (RG-6 to RG-9)."""

import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from app.failures.evidence import budget_of, tails_within
from app.failures.frameworks import DETECTORS
from app.failures.log.clean import clean
from app.failures.model import Reading
from app.failures.read import read_log
from tests.bench.goal import Goal
from tests.unit.failures import cases_jvm_and_beam, cases_native, cases_script
from tests.unit.failures.reading import EveryLine, found_by

LOGS = Path(__file__).parents[2].parent / "shared" / "corpus" / "logs"
CASES = (*cases_native.CASES, *cases_script.CASES, *cases_jvm_and_beam.CASES)
MOST_SHOWN = 50
SPARSE_BYTES = 100_000_000
BLOCK = 1 << 20
STAMP = b"2026-11-30T09:%02d:%02d.5609499Z "
BEGINNINGS = (
    b"Downloading https://registry.example/x ",
    b"INFO  org.shop.Cart - ",
    b"ok 12 - fine ",
    b"warning: unused variable ",
    b"\x1b[42m\x1b[30m PASS \x1b[39m\x1b[49m src/a.test.js ",
    b"\tat org.shop.Cart.total(Cart.java:123) ",
    b"npm http fetch GET 200 ",
    b"   Compiling shop v1.2.0 ",
    b"#12 DONE 0.3s ",
    b"[INFO] --- maven-jar-plugin ",
)


def measure() -> list[Goal]:
    """The goals of reading-logs.md that a machine can measure; the corpus' only where the corpus is."""
    goals = []
    if LOGS.is_dir():
        logs = [path.read_bytes() for path in sorted(LOGS.glob("*/*.log"))]
        speed, slowest = (
            best_of(3, lambda: read_all(logs)),
            min(map(speed_of, filter(lambda log: len(log) > 200_000, logs))),
        )
        goals.append(
            Goal(
                "corpus, MB/s (RG-6)", f"{speed:.1f}, counting newlines {counting(logs):.0f}", "40 or more", speed >= 40
            )
        )
        shares = [share_of_log(read_log(blocks(log))) for log in logs if len(log) > 20_000]
        goals.append(
            Goal(
                "handed to an agent, median of logs above 20 KB (W5)",
                f"{median(shares):.1%}",
                "10 % or less",
                median(shares) <= 0.1,
            )
        )
        goals.append(Goal("slowest log above 200 KB, MB/s (RG-9)", f"{slowest:.1f}", "4 or more", slowest >= 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sparse.log"
        path.write_bytes(b"".join(sparse(SPARSE_BYTES)))
        naive, grep = naive_speed(path), grep_speed(path)
        speed = best_of(3, lambda: read_file(path))
        goals.append(
            Goal(
                "sparse 100 MB log, MB/s (RG-7)",
                f"{speed:.0f}, naive loop {naive:.0f}, grep -F {grep:.0f}",
                "150 or more",
                speed >= 150,
            )
        )
        small = Path(folder) / "small.log"
        small.write_bytes(b"".join(sparse(1_000_000)))
        grown = (peak_kib(path) - peak_kib(small)) / 1024
        goals.append(Goal("memory of 100 MB above 1 MB, MB (RG-8)", f"{grown:.1f}", "20 or less", grown <= 20))
    dense = "".join(case.text for case in CASES).encode() * 20
    naive = len(dense) / 1e6 / seconds(lambda: found_by(EveryLine(DETECTORS), blocks(dense)))
    speed = best_of(3, lambda: read_all([dense]))
    goals.append(
        Goal(
            "dense log, MB/s (ST-L9)",
            f"{speed:.2f}, every line to every detector {naive:.2f}",
            "the naive rate",
            speed >= naive,
        )
    )
    return goals


def share_of_log(reading: Reading) -> float:
    """What an agent is handed of a log, as a share of it: names, errors and the ends of the output (app/briefs)."""
    shown = reading.failures[:MOST_SHOWN]
    heads = [failure.test_id + failure.error_head for failure in shown]
    room = budget_of(reading.bytes_total) - sum(map(len, heads))
    tails = tails_within([failure.detail_tail for failure in shown], room)
    return sum(len(text.encode()) for text in (*heads, *tails)) / reading.bytes_total


def sparse(size: int) -> Iterator[bytes]:
    """Filler lines with real beginnings, then one small failing run; the same bytes every time."""
    chance = random.Random(7)
    block: list[bytes] = []
    for _ in range(20_000):
        words = bytes(chance.choices(b"abcdefghij klmnop", k=chance.randrange(160)))
        block.append(STAMP % (chance.randrange(60), chance.randrange(60)) + chance.choice(BEGINNINGS) + words + b"\n")
    filler = b"".join(block)
    for _ in range(max(1, size // len(filler))):
        yield filler
    yield CASES[0].text.encode()


def read_all(logs: list[bytes]) -> float:
    took = seconds(lambda: [read_log(blocks(log)) for log in logs])
    return sum(map(len, logs)) / 1e6 / took


def speed_of(log: bytes) -> float:
    return read_all([log])


def read_file(path: Path) -> float:
    return path.stat().st_size / 1e6 / seconds(lambda: read_log(file_blocks(path)))


def blocks(data: bytes) -> Iterator[bytes]:
    return (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))


def file_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def counting(logs: list[bytes]) -> float:
    return sum(map(len, logs)) / 1e6 / max(1e-9, seconds(lambda: [log.count(b"\n") for log in logs]))


WORDS = [re.compile(re.escape(detector.wakes[0])) for detector in DETECTORS if detector.wakes][:16]


def naive_loop(lines: list[bytes]) -> int:
    """Clean every line and try 16 patterns on it."""
    return sum(any(word.match(text) for word in WORDS) for text in (clean(line)[0] for line in lines))


def naive_speed(path: Path) -> float:
    with path.open("rb") as file:
        lines = file.read(10_000_000).splitlines()
    return 10 / seconds(lambda: naive_loop(lines))


def grep_speed(path: Path) -> float:
    grep = shutil.which("grep")
    if grep is None:
        return 0.0
    began = time.perf_counter()
    subprocess.run([grep, "-c", "-F", "-e", "--- FAIL", str(path)], capture_output=True, check=False)
    return path.stat().st_size / 1e6 / (time.perf_counter() - began)


def seconds(run: Callable[[], object]) -> float:
    """Processor time of this process: other work on the machine does not count."""
    began = time.process_time()
    run()
    return time.process_time() - began


def best_of(times: int, run: Callable[[], float]) -> float:
    return max(run() for _ in range(times))


def peak_kib(path: Path) -> int:
    """Peak memory of a process that reads this one file."""
    code = (
        "from pathlib import Path; from tests.bench.logs import own_peak_kib, read_file; "
        f"read_file(Path({str(path)!r})); print(own_peak_kib())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def own_peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
