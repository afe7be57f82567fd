"""Where the client may connect; addresses beyond the loopback are checked by name only."""

import socket
import threading
import time
from typing import Any

import pytest

from chalicelib.kernel.http import client, egress
from tests.rooms.kernel.conftest import failure


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
