"""Secure connections: whose certificate is believed, and for how long a handshake is waited for."""

import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.kernel.http import client
from tests.rooms.kernel.conftest import failure
from tests.rooms.kernel.server import Server


def test_a_server_without_tls_fails_as_a_secure_connection(server):
    url = server.on("/feed").replace("http:", "https:")
    reason = failure(url).reason
    assert "secure" in reason


def test_certificates_and_names_are_verified():
    assert client._tls().verify_mode == ssl.CERT_REQUIRED
    assert client._tls().check_hostname


@pytest.fixture
def secure(server: Server, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same server with a certificate for feed.example.org, trusted; every name leads to it."""
    certificate = _certificate(tmp_path, "feed.example.org")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.secure(context)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(client, "_tls", lambda: trusting)
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: real("127.0.0.1", *more, **named))
    return server.url.rsplit(":", 1)[1]


def _certificate(folder: Any, name: str) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_over_tls_the_name_is_asked_for_and_checked_though_an_address_is_connected_to(server, secure):
    server.on("/feed", body=b"safe")
    assert client.get(f"https://feed.example.org:{secure}/feed").body == b"safe"
    assert server.seen[0][2]["Host"] == f"feed.example.org:{secure}"
    assert "secure connection" in failure(f"https://other.example.org:{secure}/feed").reason
    assert len(server.seen) == 1


def test_a_post_is_not_repeated_over_an_unencrypted_connection(server, secure):
    url = f"https://feed.example.org:{secure}"
    server.on("/hub", 307, Location=f"http://feed.example.org:{secure}/hub")
    with pytest.raises(client.FetchFailed) as raised:
        client.post(f"{url}/hub", b"secret", {}, client.Bounds(redirects=2))
    assert (raised.value.kind, len(server.seen)) == ("refused", 1)


def test_a_certificate_nobody_vouches_for_is_refused(server, secure, monkeypatch):
    monkeypatch.setattr(client, "_tls", ssl.create_default_context)
    assert "secure connection" in failure(f"https://feed.example.org:{secure}/feed").reason


def test_a_handshake_that_never_ends_is_cut_at_the_deadline(configure):
    configure(GNA_LOCAL="true")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        started = time.monotonic()
        assert failure(f"https://127.0.0.1:{silent.getsockname()[1]}/", seconds=0.4).kind == "timeout"
    assert time.monotonic() - started < 1.5
