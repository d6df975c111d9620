"""Logs and archives come without credentials, streamed and capped: GH-26, GH-27, GH-28, F-A4, F-A7, S21, S44."""

import hashlib
import io
import socket
import stat
import zipfile
from pathlib import Path

import httpx
import pytest

from app.errors import TransientError, UserError
from app.github import downloads
from app.github.archives import Caps, unpack
from app.github.artifacts import Artifact, download_artifact
from app.github.capped import write_capped
from app.github.downloads import Download
from app.github.logs import download_job_log
from tests.unit.github.conftest import answer

STORE = "https://store.example/logs/1?sig=abc"


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """No test asks a name server: `*.example` is public, `inside.example` is not."""

    def lookup(host, *_, **__):
        address = host if host[0].isdigit() or host == "::1" else "10.0.0.7" if "inside" in host else "140.82.112.3"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    # The real resolver would need a network.
    monkeypatch.setattr(downloads.socket, "getaddrinfo", lookup)


def to(link: str) -> httpx.Response:
    return httpx.Response(302, headers={"location": link})


def log(content: bytes = b"line\n") -> httpx.Response:
    return httpx.Response(200, content=content)


def fetch(github, path: Path) -> Download:
    return download_job_log(github, "o/r", 5, path / "log.txt")


def test_a_log_is_fetched_without_credentials(github, script, tmp_path):
    """GH-26, F-A3."""
    script.steps = [to(STORE), log(b"a\nb\n")]
    result = fetch(github, tmp_path)
    assert (result.outcome, result.bytes_seen, result.bytes_total, result.left_out) == ("read", 4, 4, 0)
    assert (tmp_path / "log.txt").read_bytes() == b"a\nb\n"
    assert "authorization" in script.requests[0].headers
    assert "authorization" not in script.requests[1].headers
    assert script.requests[1].headers["accept-encoding"] == "identity"
    assert script.requests[1].extensions["timeout"]["read"] == 15


@pytest.mark.parametrize(("status", "outcome"), [(404, "missing"), (410, "expired")])
def test_a_log_that_is_not_there_is_an_outcome(github, script, tmp_path, status, outcome):
    """F-A4, F-A5, IT-14: never an empty log."""
    script.steps = [answer({"message": "Not Found"}, status)]
    assert fetch(github, tmp_path) == Download(outcome)
    assert not (tmp_path / "log.txt").exists()


@pytest.mark.parametrize("status", [403, 404])
def test_a_refused_link_is_asked_for_anew_once(github, script, tmp_path, status):
    """GH-28."""
    script.steps = [to(STORE), httpx.Response(status), to(STORE + "2"), log()]
    assert fetch(github, tmp_path).outcome == "read"
    script.steps = [to(STORE), httpx.Response(status), to(STORE), httpx.Response(status)]
    assert fetch(github, tmp_path).outcome == "missing"


def test_a_broken_download_is_begun_anew(github, script, tmp_path):
    script.steps = [to(STORE), httpx.ReadError, to(STORE), httpx.Response(503), to(STORE), log()]
    assert fetch(github, tmp_path).outcome == "read"
    script.steps = [to(STORE), httpx.ReadError] * 3
    with pytest.raises(TransientError, match="ReadError"):
        fetch(github, tmp_path)


def test_the_store_may_send_on_to_another_host(github, script, tmp_path):
    script.steps = [to(STORE), to("https://other.example/x"), log()]
    assert fetch(github, tmp_path).outcome == "read"
    script.steps = [to(STORE)] + [to(STORE)] * 3
    script.steps *= 3
    with pytest.raises(TransientError):
        fetch(github, tmp_path)


@pytest.mark.parametrize(
    "link",
    [
        "https://127.0.0.1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://inside.example/x",
        "http://store.example/x",
        "ftp://store.example/x",
        "https://user:pass@store.example/x",
    ],
)
def test_a_link_into_a_private_network_is_refused(github, script, tmp_path, link):
    """S44."""
    script.steps = [to(link)]
    with pytest.raises(UserError, match="refused"):
        fetch(github, tmp_path)
    script.steps = [to(STORE), to(link)]
    with pytest.raises(UserError, match="refused"):
        fetch(github, tmp_path)


def test_a_server_inside_a_private_network_may_have_its_store_there(github, script, tmp_path):
    """GH-29."""
    downloads._refuse_private("http://inside.example:9000/x", "http://10.1.1.1/api/v3")
    downloads._refuse_private("http://127.0.0.1:9000/x", "http://127.0.0.1:8000")


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 150, 1000, 5000])
@pytest.mark.parametrize("chunk", [7, 64, 10_000])
def test_head_and_tail_are_kept_and_the_cut_is_told(tmp_path, size, chunk):
    """GH-27, IT-15."""
    data = b"".join(b"%06d\n" % number for number in range(size // 7 + 1))[:size]
    chunks = (data[at : at + chunk] for at in range(0, size, chunk))
    written = write_capped(chunks, tmp_path / "log", 100)
    kept = (tmp_path / "log").read_bytes()
    assert written.seen == size
    if written.left_out == 0:
        assert kept == data
    else:
        head, marker, tail = kept.partition(b"\n[%d bytes were left out here]\n" % written.left_out)
        assert marker
        assert data.startswith(head) and data.endswith(tail)
        assert len(head) + len(tail) + written.left_out == size
        assert len(head) == 50 and len(tail) >= 18
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


def test_a_text_that_fits_exactly_is_whole(tmp_path):
    assert write_capped([b"x" * 100], tmp_path / "log", 100).left_out == 0


def test_a_stream_without_end_is_given_up(settings, script, tmp_path, github):
    small = settings.limits.model_copy(update={"log_bytes": 1000})
    github.settings = settings.model_copy(update={"limits": small})
    script.steps = [to(STORE), log(b"x" * 30_000)]
    with pytest.raises(TransientError, match="too long"):
        fetch(github, tmp_path)


def test_an_artifact_is_compared_with_its_digest(github, script, tmp_path):
    """F-A7."""
    content = b"zip"
    good = Artifact(id=1, digest="sha256:" + hashlib.sha256(content).hexdigest())
    script.steps = [to(STORE), log(content), to(STORE), log(b"other")]
    assert download_artifact(github, "o/r", good, tmp_path / "a.zip").outcome == "read"
    with pytest.raises(TransientError, match="other bytes"):
        download_artifact(github, "o/r", good, tmp_path / "a.zip")
    assert download_artifact(github, "o/r", Artifact(id=2, expired=True), tmp_path / "b.zip").outcome == "expired"


def make_zip(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def test_plain_files_are_unpacked(tmp_path):
    source = make_zip(tmp_path / "a.zip", ("reports/", b""), ("reports/junit.xml", b"<x/>"), ("b.txt", b"b"))
    result = unpack(source, tmp_path / "out")
    assert result.refused == ()
    assert [path.relative_to(tmp_path / "out").as_posix() for path in result.files] == ["reports/junit.xml", "b.txt"]
    assert result.files[0].read_bytes() == b"<x/>"


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/etc/evil", "a\\..\\evil", "C:evil", "a\nb", "x/" + "y" * 300, link("link")],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*null byte.*")
def test_an_entry_that_leads_elsewhere_is_refused(tmp_path, name):
    """S21."""
    folder = tmp_path / "deep" / "out"
    result = unpack(make_zip(tmp_path / "a.zip", (name, b"/etc/passwd"), ("good", b"1")), folder)
    assert [path.name for path in result.files] == ["good"]
    assert len(result.refused) == 1
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.zip", "good"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_entry_of_one_name_is_refused(tmp_path):
    result = unpack(make_zip(tmp_path / "a.zip", ("a", b"1"), ("a", b"2"), ("a/b", b"3")), tmp_path / "out")
    assert (tmp_path / "out" / "a").read_bytes() == b"1"
    assert len(result.refused) == 2


def test_a_bomb_stops_at_the_cap(tmp_path):
    """S21: counted while it unpacks."""
    source = make_zip(tmp_path / "a.zip", ("small", b"1"), ("bomb", b"\0" * 5_000_000), ("after", b"2"))
    result = unpack(source, tmp_path / "out", Caps(unpacked_bytes=1_000_000))
    assert [path.name for path in result.files] == ["small", "after"]
    assert result.refused == ("entry 1: the archive unpacks to too many bytes",)
    assert not (tmp_path / "out" / "bomb").exists()


def test_too_many_entries_are_left_out(tmp_path):
    source = make_zip(tmp_path / "a.zip", *((f"f{number}", b"") for number in range(30)))
    result = unpack(source, tmp_path / "out", Caps(entries=20))
    assert len(result.files) == 20
    assert result.refused == ("more than 20 entries",)
    assert unpack(source, tmp_path / "no", Caps(entries=1)).refused == ("the list of entries is too long",)


def test_what_is_no_zip_file_is_told(tmp_path):
    good = make_zip(tmp_path / "a.zip", ("a", b"1" * 1000)).read_bytes()
    for content in (b"", b"no zip", good[:-30], good[: len(good) // 2]):
        (tmp_path / "b.zip").write_bytes(content)
        result = unpack(tmp_path / "b.zip", tmp_path / "out")
        assert result.files == ()
        assert result.refused[0].startswith("not a readable zip file")


def test_an_entry_with_a_wrong_sum_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"content")
    (tmp_path / "b.zip").write_bytes(buffer.getvalue().replace(b"content", b"CONTENT"))
    result = unpack(tmp_path / "b.zip", tmp_path / "out")
    assert (result.files, result.refused) == ((), ("entry 0: not readable (BadZipFile)",))
