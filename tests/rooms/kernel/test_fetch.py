"""A real server on the loopback, told by each test what to answer; addresses beyond it are checked by name only."""

import contextlib
import gzip
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from chalicelib.kernel.http import client, egress
from chalicelib.kernel.http.client import Bounds, FetchFailed
from tests.rooms.kernel.server import Server


@pytest.fixture
def server(configure: Any) -> Iterator[Server]:
    configure(GNA_LOCAL="true")
    server = Server()
    yield server
    server.close()


def failure(url: str, **bounds: Any) -> FetchFailed:
    with pytest.raises(FetchFailed) as raised:
        client.get(url, bounds=Bounds(**bounds))
    return raised.value


def test_an_answer_has_status_headers_body_and_where_it_came_from(server):
    url = server.on("/feed", body=b"<rss/>", ETag='"1"')
    answer = client.get(url, {"If-None-Match": '"0"'})
    assert (answer.status, answer.body, answer.headers["etag"]) == (200, b"<rss/>", '"1"')
    assert answer.url == answer.permanent_url == url
    assert answer.elapsed < 2
    _, _, headers, _ = server.seen[0]
    assert headers["Host"] == url.split("/")[2]
    assert headers["If-None-Match"] == '"0"'
    assert headers["User-Agent"].startswith("Gna/")


def test_a_post_carries_its_body_and_follows_no_redirect(server):
    url = server.on("/hook", 302, Location="/elsewhere")
    assert client.post(url, b'{"a":1}', {"Content-Type": "application/json"}).status == 302
    method, _, headers, body = server.seen[0]
    assert (method, headers["Content-Type"], body) == ("POST", "application/json", b'{"a":1}')
    assert len(server.seen) == 1


def test_permanent_redirects_are_told_from_passing_ones(server):
    server.on("/c", body=b"here")
    server.on("/b", 302, Location="/c")
    url = server.on("/a", 301, Location="/b")
    answer = client.get(url)
    assert (answer.body, answer.url, answer.permanent_url) == (b"here", server.url + "/c", server.url + "/b")


def test_what_follows_a_passing_redirect_is_never_permanent(server):
    server.on("/c", body=b"here")
    server.on("/b", 308, Location="/c")
    url = server.on("/a", 307, Location="/b")
    assert client.get(url).permanent_url == url


def test_a_circle_of_redirects_ends(server):
    url = server.on("/a", 302, Location="/a")
    assert failure(url, redirects=3).kind == "redirects"
    assert len(server.seen) == 4


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "http://[::ffff:10.0.0.1]/",
    ],
)
def test_a_redirect_is_checked_like_the_first_hop(server, location):
    url = server.on("/a", 302, Location=location)
    assert failure(url).kind == "refused"


def test_a_redirect_to_what_is_no_url_is_a_failure_like_others(server):
    assert failure(server.on("/a", 302, Location="http://[half")).kind == "protocol"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8080/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://0.0.0.0/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://user:word@example.org/",
        "http://93.184.216.34:22/",
        "http://93.184.216.34:25/",
        "http://example.org/\r\nX: y",
        "http://" + "a" * 3000,
        "//example.org/",
        "",
    ],
)
def test_without_the_local_setting_nothing_but_the_public_web_is_fetched(url):
    assert failure(url).kind == "refused"


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "203.0.113.7",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "::ffff:192.168.0.1",
        "100::1",
    ],
)
def test_addresses_that_are_not_the_open_internet_are_refused(address):
    assert not egress.allowed(address)
    assert egress.allowed(address, loopback_too=True) == (address in ("127.0.0.1", "::1"))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(address):
    assert egress.allowed(address)


def test_one_private_address_among_public_ones_refuses_the_host(monkeypatch):
    found = [(0, 0, 0, "", (address, 80)) for address in ("93.184.216.34", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
    assert failure("http://example.org/").kind == "refused"


def test_the_name_is_resolved_once_and_the_checked_address_is_used(server, monkeypatch):
    real, asked = socket.getaddrinfo, []

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if host == "feed.example.org" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    server.on("/", body=b"ok")
    port = server.url.rsplit(":", 1)[1]
    assert client.get(f"http://feed.example.org:{port}/").body == b"ok"
    assert asked.count("feed.example.org") == 1
    assert server.seen[0][2]["Host"] == f"feed.example.org:{port}"


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: done.wait(5))
    started = time.monotonic()
    assert failure("http://example.org/", seconds=0.2).kind == "timeout"
    assert time.monotonic() - started < 1
    done.set()


@pytest.mark.parametrize(("errno", "kind"), [(socket.EAI_AGAIN, "timeout"), (socket.EAI_NONAME, "unreachable")])
def test_a_name_that_is_not_there_is_told_from_name_servers_that_are_silent(monkeypatch, errno, kind):
    def resolve(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(errno, "as told")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert failure("http://example.org/").kind == kind


def test_a_head_is_followed_and_a_body_nobody_wants_is_not_read(server):
    server.on("/large", body=bytes(3_000_000))
    url = server.on("/a", 301, Location="/large")
    assert (client.head(url).status, client.head(url).url) == (200, server.url + "/large")
    answer = client.get(url, bounds=Bounds(largest=0))
    assert (answer.status, answer.body) == (200, b"")
    assert [method for method, *_ in server.seen] == ["HEAD"] * 4 + ["GET"] * 2


def test_a_connection_that_is_hung_up_is_cut_and_not_unreachable(server):
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    server.replies["/reset"] = reply
    assert failure(server.url + "/reset").kind in ("cut", "protocol")


@pytest.mark.parametrize("packed", [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_body_is_unpacked(server, packed):
    name, compress = packed
    url = server.on("/feed", body=compress(b"<rss/>" * 100), Content_Encoding=name)
    assert client.get(url).body == b"<rss/>" * 100


def test_a_bomb_is_given_up_at_the_limit_not_unpacked(server):
    import tracemalloc

    body = gzip.compress(bytes(50_000_000))
    url = server.on("/bomb", body=body, Content_Encoding="gzip")
    tracemalloc.start()
    assert failure(url, largest=1_000_000).kind == "too_large"
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd"])
def test_an_encoding_nobody_asked_for_is_an_error(server, encoding):
    url = server.on("/feed", body=b"x", Content_Encoding=encoding)
    assert failure(url).kind == "protocol"


def test_a_large_body_is_given_up_early(server):
    url = server.on("/large", body=bytes(3_000_000))
    assert failure(url, largest=1_000_000).kind == "too_large"


def test_too_many_headers_are_an_error(server):
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for number in range(90):
            handler.send_header(f"X-{number}", "v" * 1000)
        with contextlib.suppress(OSError):
            handler.end_headers()

    server.replies["/headers"] = reply
    assert failure(server.url + "/headers").kind == "too_large"


@pytest.mark.parametrize("part", [b"HTTP/1.1 200 OK\r\nX-Drip: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_a_server_that_drips_is_cut_at_the_deadline(server, part):
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(part)
        for _ in range(100):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return
            time.sleep(0.05)

    server.replies["/drip"] = reply
    started = time.monotonic()
    assert failure(server.url + "/drip", seconds=0.4).kind == "timeout"
    assert time.monotonic() - started < 1


def test_a_body_shorter_than_promised_is_an_error_not_a_feed(server):
    url = server.on("/short", body=b"<rss", Content_Length="400")
    assert failure(url).kind == "protocol"


def test_what_is_not_http_is_an_error(server):
    server.replies["/junk"] = lambda handler: handler.wfile.write(b"220 smtp.example.org ESMTP\r\n")
    assert failure(server.url + "/junk").kind == "protocol"


def test_nobody_listening_is_unreachable(configure):
    configure(GNA_LOCAL="true")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert failure(f"http://127.0.0.1:{unused.getsockname()[1]}/").kind == "unreachable"


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


def test_a_redirect_to_letters_beyond_ascii_is_followed(server):
    server.on("/caf%C3%A9", body=b"here")
    url = server.on("/a", 302, Location="/café".encode().decode("latin-1"))
    assert client.get(url).body == b"here"


def test_proxies_of_the_environment_are_ignored(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert client.get(server.on("/feed", body=b"direct")).body == b"direct"
