"""Secrets leave no text: GH-23, RD1 to RD10, S4, S7, S46."""

import base64
import string
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.redact import Redactor

pytestmark = pytest.mark.slow

RANDOM = Random(23)
LETTERS = string.ascii_letters + string.digits


def word(length: int, letters: str = LETTERS) -> str:
    return "".join(RANDOM.choice(letters) for _ in range(length))


TOKEN = "ghs_" + "12345_" + word(510, LETTERS + "_-.")
SECRET = word(40)
PEM = "\n".join(
    ("-----BEGIN RSA PRIVATE KEY-----", *(word(64, LETTERS + "+/") for _ in range(25)), "-----END RSA PRIVATE KEY-----")
)

FORMATS = {
    "installation token": (TOKEN, "github token"),
    "user token": ("ghp_" + word(36), "github token"),
    "fine-grained token": ("github_pat_" + word(60), "github token"),
    "json web token": (f"eyJ{word(30)}.eyJ{word(80)}.{word(86)}", "json web token"),
    "aws": ("AKIA" + word(16, string.ascii_uppercase + "0123456789"), "cloud key"),
    "google": ("AIza" + word(35), "cloud key"),
    "openai": ("sk-proj-" + word(48), "model key"),
    "anthropic": ("sk-ant-api03-" + word(90), "model key"),
    "hugging face": ("hf_" + word(34), "model key"),
    "npm": ("npm_" + word(36), "registry token"),
    "pypi": ("pypi-AgEI" + word(100), "registry token"),
    "gitlab": ("glpat-" + word(20), "registry token"),
    "slack": ("xoxb-" + word(12, "0123456789") + "-" + word(24), "service token"),
    "stripe": ("sk_live_" + word(24), "service token"),
    "private key": (PEM, "private key"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_known_format_is_replaced_by_its_kind(name):
    """RD2, RD5, S7: fifteen formats, named by kind and not by length."""
    secret, kind = FORMATS[name]
    assert Redactor().text(f"before {secret} after") == f"before [redacted: {kind}] after"


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "private key"])
@pytest.mark.parametrize("at", [3, 9, 17])
def test_a_format_is_found_with_colours_and_line_breaks_inside(name, at):
    """RD3, S7: ANSI codes inside, split over lines with and without the time stamp of Actions."""
    secret, kind = FORMATS[name]
    for inside in ("\x1b[31m", "\x1b[0;1m\x1b[K", "\u200b", "\n", "\r\n2026-01-01T00:00:00.0000000Z "):
        clean = Redactor().text(f"before {secret[:at]}{inside}{secret[at:]} after")
        assert secret[at:][-12:] not in clean
        assert f"[redacted: {kind}]" in clean


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_found_in_base64_once_and_twice(name):
    """S7: doubly base64, at all offsets."""
    secret = FORMATS[name][0].encode()
    for before in (b"", b":", b"x:", b"x-access-token:"):
        once = base64.b64encode(before + secret)
        for text in (once, base64.b64encode(once)):
            assert "[redacted: " in Redactor().text(f"echo {text.decode()} | base64 -d")


def test_the_token_is_found_cut_at_every_position():
    """GH-23: a 520-character token, its stream cut at each position."""
    text = b"start " + TOKEN.encode() + b" end"
    padding = b"a line of a log\n" * 5000
    for at in range(len(text)):
        assert b"".join(Redactor().chunks([text[:at], text[at:]])) == b"start [redacted: github token] end"
    for at in range(0, len(text), 13):
        clean = b"".join(Redactor().chunks([padding + text[:at], text[at:]]))
        assert clean == padding + b"start [redacted: github token] end"


def test_a_stream_in_small_chunks_gives_the_text_in_one_piece():
    text = (f"line of a log\n{SECRET}\n{PEM}\nuntil {TOKEN}\n" * 300).encode()
    redactor = Redactor([SECRET])
    for size in (1000, 65537):
        chunks = (text[at : at + size] for at in range(0, len(text), size))
        assert b"".join(redactor.chunks(chunks)) == redactor.bytes(text)


def test_a_secret_without_end_does_not_fill_the_memory():
    chunks = [b"start ghs_", *(b"A1" * 50_000 for _ in range(40)), b" end"]
    assert b"".join(Redactor().chunks(chunks)) == b"start [redacted: github token] end"


PIECES = [(at, at + 12) for at in range(28)]


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece[0]}-{piece[1]}")
def test_twelve_characters_of_a_known_secret_are_enough(piece):
    """RD3, S4."""
    part = SECRET[slice(*piece)]
    redactor = Redactor([SECRET])
    assert redactor.text(f"key={part};") == "key=[redacted: known secret];"
    assert redactor.text(f"key={part[::-1]};") == "key=[redacted: known secret];"
    assert redactor.text(f"key={SECRET[piece[0] : piece[1] - 1]};") == f"key={SECRET[piece[0] : piece[1] - 1]};"


@pytest.mark.parametrize("before", ["", "a", "ab", "x-access-token:"])
def test_a_known_secret_is_found_encoded(before):
    """RD3: base64 at three offsets, hexadecimal, as in a URL."""
    secret = "p/s+w:" + SECRET
    redactor = Redactor([secret])
    encoded = base64.b64encode((before + secret).encode()).decode()
    assert "[redacted: known secret]" in redactor.text(f"Basic {encoded}")
    assert SECRET not in base64.b64decode(redactor.text(encoded).split("[")[0] + "==").decode()
    assert redactor.text(f"x {secret.encode().hex()} y") == "x [redacted: known secret] y"
    assert redactor.text("p%2Fs%2Bw%3A") == "[redacted: known secret]"


def test_a_known_secret_is_found_split_by_colours_and_line_breaks():
    """RD3."""
    redactor = Redactor([SECRET])
    for inside in ("\x1b[1m", "\n", "\\n", "\r\n2026-01-01T00:00:00.0000000Z    "):
        assert redactor.text(f"a {SECRET[:7]}{inside}{SECRET[7:]} b") == "a [redacted: known secret] b"


def test_a_known_private_key_is_found_by_any_of_its_lines():
    line = PEM.splitlines()[7]
    assert Redactor([PEM]).text(f"env: {line}") == "env: [redacted: known secret]"
    assert Redactor([PEM.replace("\n", "\\n")]).text(f"env: {line}") == "env: [redacted: known secret]"


def test_a_private_key_without_its_end_is_replaced():
    """S46."""
    cut = PEM[: len(PEM) // 2]
    assert Redactor().text(f"{cut}\nall tests passed") == "[redacted: private key]\nall tests passed"


def test_a_password_in_a_url_is_replaced_and_the_url_stays():
    """S47."""
    text = "fatal: unable to access 'https://x-access-token:abc@github.com/o/r.git/'"
    assert (
        Redactor().text(text) == "fatal: unable to access 'https://[redacted: password in a url]@github.com/o/r.git/'"
    )


def test_headers_and_signed_links_are_replaced():
    redactor = Redactor()
    assert (
        redactor.text("Authorization: Bearer abcdef123456") == "Authorization: Bearer [redacted: authorization header]"
    )
    assert (
        redactor.text("https://store/log?se=1&sig=" + "aB3" * 15) == "https://store/log?se=1&sig=[redacted: signed url]"
    )


ORDINARY = """\
FAILED tests/test_cart.py::test_total[https://localhost:8000/a@2x.png] - AssertionError: 3 != 4
commit da39a3ee5e6b4b0d3255bfef95601890afd80709 task-risk-management-with-a-long-name-indeed
integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NyV3rS4w5q0XrQ2W8G5v3tVbC1hVRmUOHH1fXkQ2A==
  at com.example.shopping.cart.CartServiceIntegrationTest.shouldCalculateTotal(CartServiceIntegrationTest.java:42)
npm_config_cache=/tmp pip install eyJ git@github.com:owner/name.git AKIA ghs_ *** sk-
"""


def test_ordinary_log_lines_stay_as_they_are():
    redactor = Redactor([SECRET, TOKEN, PEM])
    assert redactor.text(ORDINARY) == ORDINARY
    assert redactor.bytes(ORDINARY.encode() + b"\xff\xfe") == ORDINARY.encode() + b"\xff\xfe"


def test_a_short_value_is_not_looked_for():
    assert Redactor(["test", ""]).text("a test") == "a test"


def test_redacting_twice_changes_nothing():
    """RD5, RD6: each sink redacts again."""
    redactor = Redactor([SECRET])
    once = redactor.text("\n".join(secret for secret, _ in FORMATS.values()) + f"\nhttps://a:b@c/ {SECRET}")
    assert redactor.text(once) == once


def test_the_scan_names_the_kinds_and_not_the_values():
    """RD7, S8."""
    assert Redactor([SECRET]).kinds(f"{TOKEN} {SECRET} {TOKEN}") == ["github token", "known secret"]
    assert Redactor([SECRET]).kinds("nothing") == []


@given(st.text(max_size=300), st.text(max_size=300))
@settings(max_examples=150)
def test_no_text_around_hides_a_known_secret(before, after):
    assert SECRET not in Redactor([SECRET]).text(before + SECRET + after)


@given(st.binary(max_size=400))
@settings(max_examples=150)
def test_any_bytes_can_be_read(data):
    redactor = Redactor([SECRET])
    assert redactor.bytes(redactor.bytes(data)) == redactor.bytes(data)


HOSTILE = {
    "one long word": "a" * 200_000,
    "blanks": " " * 200_000,
    "repeated prefix": "ghs_" * 50_000,
    "many schemes": "://a:" * 40_000,
    "many key starts": "-----BEGIN PRIVATE KEY-----" * 8_000,
    "escapes": "\x1b]" * 100_000,
    "breaks": "\n" * 200_000,
    "anchors of the secret": SECRET[:11] * 18_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_linear_time(name):
    started = time.process_time()
    Redactor([SECRET]).text(HOSTILE[name])
    assert time.process_time() - started < 4
