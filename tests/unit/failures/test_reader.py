"""The reader: any chunking, any frame, hostile bytes, and the same findings with and without the prefilter."""

import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.failures.frameworks import DETECTORS
from app.failures.log import reader as reading_of_logs
from app.failures.log.clean import HEAD, LINE_CAP, TAIL, clean
from app.failures.log.prefix import split
from app.failures.log.reader import Wakes
from app.failures.model import Failure, Options, Reading
from app.failures.read import read_log
from tests.unit.failures import cases_jvm_and_beam, cases_native, cases_script
from tests.unit.failures.reading import EveryLine, found_by, names, stamped

pytestmark = pytest.mark.slow

CASES = (*cases_native.CASES, *cases_script.CASES, *cases_jvm_and_beam.CASES)
ONE_OF_EACH = "\n".join(case.text for case in CASES)


def chunks_of(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def facts(reading: Reading) -> tuple[object, ...]:
    return (
        reading.findings,
        reading.diagnostics,
        reading.job_kind,
        reading.frameworks,
        reading.bytes_seen,
        reading.lines_total,
        reading.truncated,
    )


@pytest.mark.parametrize("size", [1, 2, 7, 64, 4096, 1 << 20])
def test_any_chunking_gives_the_same_answer(size: int) -> None:
    """OUT-6."""
    data = ONE_OF_EACH.encode() if size > 7 else CASES[0].text.encode()
    assert facts(read_log(chunks_of(data, size))) == facts(read_log([data]))


@given(st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_cuts_anywhere_give_the_same_answer(data: st.DataObject) -> None:
    """OUT-6: also inside a UTF-8 sequence and a terminal code."""
    case = data.draw(st.sampled_from(CASES))
    raw = stamped(case.text).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    parts = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert facts(read_log(parts)) == facts(read_log([raw]))


def test_a_block_border_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """ST-L1: what stands in another block is still seen from below; a small block makes many borders."""
    data = ONE_OF_EACH.encode()
    whole = facts(read_log([data]))
    monkeypatch.setattr(reading_of_logs, "BLOCK", 1 << 13)
    assert facts(read_log([data])) == whole


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_prefilter_never_changes_the_result(case: object) -> None:
    """ST-L4, RB-7: a loop that gives every cleaned line to every detector finds the same."""
    data = case.text.encode()  # type: ignore[attr-defined]
    assert found_by(EveryLine(DETECTORS), [data]) == found_by(Wakes(DETECTORS), [data])


def test_two_logs_in_one_file_give_the_union() -> None:
    """Section 5, all: several jobs in one file, each run on its own."""
    for first, second in zip(CASES[:-1:3], CASES[1::3], strict=False):
        if "bazel" in first.name:
            continue  # a target beside an inner test is a container
        both = names(read_log([f"{first.text}\n\n{second.text}".encode()]))
        assert set(first.ids) | set(second.ids) <= set(both), (first.name, second.name)


def test_lines_and_bytes_are_those_of_the_raw_input() -> None:
    """CL-5, IN-6."""
    reading = read_log([b"a\nb\r\n\nlast"])
    assert (reading.bytes_seen, reading.lines_total) == (10, 4)
    assert read_log([b""]).lines_total == 0


def test_a_cut_log_says_so() -> None:
    """IN-6, IN-8: the caller knows how many bytes there were."""
    assert read_log([b"abc"], options=Options(bytes_total=10)).truncated
    assert read_log([b"===== test session starts =====\ncollected 3 items\n"]).truncated


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("200 MB without a newline", None),
        ("a million groups", b"##[group]Run x\n##[endgroup]\n" * 500_000),
        ("NUL bytes", b"\0" * 3_000_000 + b"\nFAILED \0\0\n" * 1000),
        ("broken UTF-8", b"\xff\xfe\xe2\x28 FAILED \xf0\x9f\n" * 20_000),
        ("a file of newlines", b"\n" * 3_000_000),
        ("20 KB words", (b"FAILED " + b"x" * 20_000 + b"\n") * 200),
        ("a header that never ends", b"=" * 40 + b" FAILURES " + b"=" * 40 + b"\n" + b"some text\n" * 200_000),
        ("a million prefixes", b"".join(b"app-%d | FAILED x\n" % at for at in range(50_000))),
        ("lone carriage returns", b"\r" * 2_000_000),
        ("open terminal codes", b"\x1b[" * 500_000 + b"\n"),
        ("deep json", b'{"Action":"fail","Test":' + b"[" * 100_000 + b"\n"),
        ("one frame for ever", b"    at a.b.C.d(C.java:1)\n" * 200_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_input_ends_quickly_with_an_answer(name: str, data: bytes | None) -> None:
    """LT-5, LT-6, ST-L9: in linear time, without an exception."""
    chunks: Iterator[bytes] = (b"y" * (1 << 20) for _ in range(200)) if data is None else chunks_of(data, 1 << 18)
    began = time.process_time()
    reading = read_log(chunks)
    assert time.process_time() - began < 20
    assert not reading.notes
    assert reading.bytes_seen == (200 << 20 if data is None else len(data))


WORDS = sorted({word for detector in DETECTORS for word in detector.wakes})


@given(
    st.lists(
        st.one_of(
            st.sampled_from(WORDS),
            st.binary(max_size=40).map(lambda raw: raw.decode("latin-1")),
            st.sampled_from(["\n", " ", "\t", "\x1b[31m", ": ", "(", "[", "1) "]),
        ),
        max_size=120,
    )
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_mix_of_wake_words_gives_an_object(parts: list[str]) -> None:
    """LT-6: no exception leaves the folder, and no detector breaks."""
    reading = read_log(["".join(parts).encode("utf-8", "surrogatepass")])
    assert reading.notes == ()
    for found in reading.findings:
        assert_clean(found)


def test_shuffled_lines_of_real_formats_break_no_detector() -> None:
    """LT-6: the same words in any order."""
    lines = ONE_OF_EACH.splitlines(keepends=True)
    for seed in range(15):
        random.Random(seed).shuffle(lines)
        reading = read_log(["".join(lines).encode()])
        assert reading.notes == ()


def assert_clean(found: Failure) -> None:
    """OUT-3, OUT-4."""
    assert found.test_id == " ".join(found.test_id.split())
    assert "\n" not in found.error_head
    assert len(found.error_head) <= 500
    assert len(found.detail_tail) <= 3000
    found.detail_tail.encode("utf-8")
    assert not any(
        ord(sign) < 32 and sign not in "\n\t" for sign in found.test_id + found.error_head + found.detail_tail
    )


def test_a_detector_that_raises_is_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """LT-6: the rest goes on."""
    broken = next(detector for detector in DETECTORS if detector.name == "jest")
    monkeypatch.setattr(broken, "feed", lambda self, line, out: 1 / 0)
    reading = read_log([b"FAIL src/a.test.js\n=== RUN   TestAdds\n    a_test.go:3: no\n--- FAIL: TestAdds (0.00s)\n"])
    assert names(reading) == ["TestAdds"]
    assert reading.notes == ("jest: ZeroDivisionError",)


def test_an_over_long_line_keeps_head_and_tail() -> None:
    """RB-5, ST-L5."""
    text, *_ = clean(b"a" * 5000 + b"b" * 5000)
    assert len(text) < LINE_CAP + 16
    assert text.startswith("a" * HEAD)
    assert text.endswith("b" * TAIL)


CLEANED = [
    ("stamp", b"2026-11-30T09:00:01.5609499Z text", "text"),
    ("byte order mark and stamp", b"\xef\xbb\xbf2026-11-30T09:00:01.5609499Z text", "text"),
    ("stamp of another length", b"2026-11-30T09:00:01Z text", "text"),
    ("gh columns", b"job (a, b)\tUNKNOWN STEP\t\xef\xbb\xbf2026-11-30T09:00:01.5609499Z text", "text"),
    ("a tab in the text stays", b"a\tb\tc", "a\tb\tc"),
    ("workflow level", b"##[error]text", "text"),
    ("an unknown level stays", b"##[what]text", "##[what]text"),
    ("colours", b"\x1b[1m\x1b[31mred\x1b[39m\x1b[22m text", "red text"),
    ("colours inside a place", b"\x1b[96ma.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m14\x1b[0m", "a.ts:1:14"),
    ("link", b"\x1b]8;;http://x\x07text\x1b]8;;\x07", "text"),
    ("the last rewrite of a line stays", b"10%\r20%\r100% done", "100% done"),
    ("erased line", b"old\x1b[2K\x1b[1Gnew", "new"),
    ("trailing carriage returns", b"text\r\r", "text"),
    ("fold marks", b"travis_fold:start:x\r\x1b[0Ktext", "text"),
    ("buildkite marks", b"\x1b_bk;t=123\x07text", "text"),
    ("bad bytes", b"a\xffb", "a\ufffdb"),
    ("control characters", b"a\x00b\x08c", "abc"),
    ("escapes that an assertion printed stay (CL-4)", rb"assert '\x1b[31m' == ''", r"assert '\x1b[31m' == ''"),
]


@pytest.mark.parametrize(("raw", "text"), [row[1:] for row in CLEANED], ids=[row[0] for row in CLEANED])
def test_lines_are_cleaned(raw: bytes, text: str) -> None:
    """Section 4.2, LP-1 to LP-4."""
    assert clean(raw)[0] == text


PREFIXES = [
    ("buildx is sure", "#19 22.32 text", b"", "text"),
    ("compose with company", "app-1  | text", b"app-1  | a\napp-1  | b\n", "text"),
    ("compose without company stays (CL-1)", "app-1  | text", b"", "app-1  | text"),
    ("turbo", "my-app:test: text", b"my-app:test: a\nmy-app:test: b\n", "text"),
    ("yarn workspaces", "[@shop/cart]: text", b"[@shop/cart]: a\n[@shop/cart]: b\n", "text"),
    ("pnpm", "packages/cart test: text", b"packages/cart test: a\npackages/cart test: b\n", "text"),
    ("nested (CL-3)", "#9 1.20 app-1  | text", b"#9 1.0 app-1  | a\n#9 1.1 app-1  | b\n", "text"),
    (
        "a source place is no prefix (CL-4)",
        "src/a.py:12: text",
        b"src/a.py:12: a\nsrc/a.py:12: b\n",
        "src/a.py:12: text",
    ),
    ("a level is no prefix", "[ERROR] text", b"[ERROR] a\n[ERROR] b\n", "[ERROR] text"),
    ("a worker of xdist is no prefix", "[gw0] FAILED x", b"[gw0] a\n[gw0] b\n", "[gw0] FAILED x"),
    (
        "a project of Playwright is no prefix",
        "[chromium] › a.ts:1:1 › x",
        "[chromium] › \n[chromium] › \n".encode(),
        "[chromium] › a.ts:1:1 › x",
    ),
    ("a stray terminal word (4.2, step 9)", "nl  1) x", b"\nnl\nnl\nnl\n", "  1) x"),
]


@pytest.mark.parametrize(("line", "above", "text"), [row[1:] for row in PREFIXES], ids=[row[0] for row in PREFIXES])
def test_prefixes_are_cut_on_evidence(line: str, above: bytes, text: str) -> None:
    assert split(line, above, 0, len(above))[1] == text


def test_streams_do_not_mix() -> None:
    """CL-2, LP-14: two interleaved runs."""
    one = "=== RUN   TestA\n    a_test.go:1: first\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/a\t0.1s\n"
    two = "=== RUN   TestB\n    b_test.go:2: second\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx/b\t0.1s\n"
    warm_up = "a-1 | up\nb-1 | up\n" * 4
    lines = [f"a-1 | {a}\nb-1 | {b}\n" for a, b in zip(one.splitlines(), two.splitlines(), strict=True)]
    reading = read_log([(warm_up + "".join(lines)).encode()])
    assert [(found.test_id, found.file, found.error_head) for found in reading.findings] == [
        ("TestA", "a_test.go", "first"),
        ("TestB", "b_test.go", "second"),
    ]
