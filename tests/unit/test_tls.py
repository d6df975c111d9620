"""What TLS trusts, against a real server with a certificate of its own (GH-29)."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.doctor import examine, github
from app.errors import UserError
from app.settings import Settings
from app.tls import authorities, trust


def certificate(folder: Path) -> Path:
    """Key and certificate of 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "github.acme.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / "server.pem"
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    return file


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a server and the file of who signed it."""
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with HTTPServer(("127.0.0.1", 0), Answer) as http:
        http.socket = context.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"https://127.0.0.1:{http.server_port}", file
        http.shutdown()
        thread.join()


def settings(tmp_path: Path, url: str, ca_file: Path | None) -> Settings:
    return Settings.model_validate({"data": tmp_path, "github": {"api_url": url, "ca_file": ca_file}})


def test_gh_29_a_server_with_an_own_authority_is_trusted_when_it_is_named(
    server: tuple[str, Path], tmp_path: Path
) -> None:
    url, file = server
    assert github.clock(settings(tmp_path, url, file)).level == "passed"
    refused = github.clock(settings(tmp_path, url, None))
    assert refused.level == "failed" and "CERTIFICATE_VERIFY_FAILED" in refused.details


def test_the_usual_authorities_stay_trusted_beside_it(server: tuple[str, Path]) -> None:
    usual = {one["serialNumber"] for one in authorities().get_ca_certs()}
    assert usual < {one["serialNumber"] for one in authorities(server[1]).get_ca_certs()}


def test_the_list_is_read_once(server: tuple[str, Path], tmp_path: Path) -> None:
    assert trust(settings(tmp_path, *server)) is trust(settings(tmp_path, *server))
    assert authorities() is authorities()


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_ux_t7_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "authority.pem"
    if text is not None:
        file.write_text(text)
    made = settings(tmp_path, "https://127.0.0.1:9", file)
    with pytest.raises(UserError, match=r"authority\.pem cannot be used"):
        trust(made)
    seen = {row.check: row.found for row in examine(made)}["Clock"]
    assert seen.level == "failed" and "authority.pem cannot be used" in seen.details
