"""What the client makes of an answer: redirects, bodies and everything a server can do wrong."""

import contextlib
import gzip
import socket
import struct
import time
import zlib
from http.server import BaseHTTPRequestHandler

import pytest

from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds
from tests.rooms.kernel.conftest import failure


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


def test_a_redirect_to_what_is_no_url_is_a_failure_like_others(server):
    assert failure(server.on("/a", 302, Location="http://[half")).kind == "protocol"


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


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_of_a_large_body_the_beginning_is_taken_if_that_is_enough(server, encoding):
    body = b"<title>Long</title>" + bytes(3_000_000)
    packed = gzip.compress(body) if encoding == "gzip" else body
    url = server.on("/large", body=packed, Content_Encoding=encoding)
    answer = client.get(url, bounds=Bounds(largest=1_000_000, cut=True))
    assert (answer.status, answer.body) == (200, body[:1_000_000])


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
    assert failure(server.on("/short", body=b"<rss", **{"Content-Length": "400"})).kind == "cut"
    two_lengths = server.on("/two", body=b"<rss", Content_Length="400")
    assert failure(two_lengths).kind == "protocol"


def test_what_is_not_http_is_an_error(server):
    server.replies["/junk"] = lambda handler: handler.wfile.write(b"220 smtp.example.org ESMTP\r\n")
    assert failure(server.url + "/junk").kind == "protocol"


def test_nobody_listening_is_unreachable(configure):
    configure(GNA_LOCAL="true")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert failure(f"http://127.0.0.1:{unused.getsockname()[1]}/").kind == "unreachable"


def test_a_redirect_to_letters_beyond_ascii_is_followed(server):
    server.on("/caf%C3%A9", body=b"here")
    url = server.on("/a", 302, Location="/café".encode().decode("latin-1"))
    assert client.get(url).body == b"here"


def test_proxies_of_the_environment_are_ignored(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert client.get(server.on("/feed", body=b"direct")).body == b"direct"


def test_a_post_is_repeated_where_a_redirect_says_so_if_the_caller_allows_it(server):
    server.on("/b", 202)
    url = server.on("/a", 307, Location="/b")
    assert client.post(url, b"x", {}, Bounds(redirects=1)).status == 202
    assert [(method, path, body) for method, path, _, body in server.seen] == [
        ("POST", "/a", b"x"),
        ("POST", "/b", b"x"),
    ]
    assert client.post(url, b"x", {}).status == 307
    assert client.post(server.on("/c", 303, Location="/b"), b"x", {}, Bounds(redirects=1)).status == 303


def test_a_post_is_not_repeated_into_our_own_network(server):
    url = server.on("/a", 307, Location="http://169.254.169.254/latest")
    with pytest.raises(client.FetchFailed) as raised:
        client.post(url, b"x", {}, Bounds(redirects=1))
    assert raised.value.kind == "refused"


def test_repeated_link_headers_are_one_list(server):
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for value in ("<a>; rel=hub", "<b>; rel=self"):
            handler.send_header("Link", value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.replies["/links"] = reply
    assert client.get(server.url + "/links").headers["link"] == "<a>; rel=hub, <b>; rel=self"


@pytest.mark.parametrize("cut", [b"", b"5\r\n>", b"5"])
def test_a_chunked_body_without_its_end_is_an_error(server, cut):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.replies["/chunks"] = lambda handler: handler.wfile.write(head + b"4\r\n<rss\r\n" + cut)
    assert failure(server.url + "/chunks").kind == "cut"


@pytest.mark.parametrize("unzip", ["gzip", "deflate", "bare"])
def test_compressed_data_without_its_end_is_an_error_wherever_it_was_cut(server, unzip):
    bits = {"gzip": 31, "deflate": 15, "bare": -15}[unzip]
    packer = zlib.compressobj(wbits=bits)
    whole = packer.compress(b"<rss/>" * 100) + packer.flush()
    name = "deflate" if unzip == "bare" else unzip
    assert client.get(server.on("/feed", body=whole, Content_Encoding=name)).body == b"<rss/>" * 100
    for length in (2, 5, len(whole) // 2, len(whole) - 1):
        assert failure(server.on("/feed", body=whole[:length], Content_Encoding=name)).kind == "cut"
    assert failure(server.on("/feed", body=b"\xff" + whole, Content_Encoding=name)).kind in ("protocol", "cut")
    assert client.get(server.on("/feed", body=b"", Content_Encoding=name)).body == b""


def test_gzip_files_in_a_row_are_one_body(server):
    body = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0"
    assert client.get(server.on("/feed", body=body, Content_Encoding="gzip")).body == b"one two"


def test_where_a_link_leads_is_told_without_going_there(server):
    url = server.on("/short", 301, b"x" * 100_000, Location="/page?a=1")
    assert client.find_redirect(url, 5) == f"{server.url}/page?a=1"
    assert [path for _, path, _, _ in server.seen] == ["/short"]


def test_what_redirects_nowhere_leads_nowhere(server):
    assert client.find_redirect(server.on("/page", 200, b"here", Location="/elsewhere"), 5) is None
    assert client.find_redirect(server.on("/empty", 302), 5) is None


def test_a_link_to_a_place_that_is_not_allowed_is_not_asked(server, configure):
    configure(GNA_LOCAL="false")
    with pytest.raises(client.FetchFailed) as refusal:
        client.find_redirect(server.on("/short", 301, Location="/page"), 5)
    assert refusal.value.kind == "refused"
    assert server.seen == []
