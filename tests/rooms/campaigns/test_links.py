"""Visiting the links of a mail, on a server of the loopback: nothing here leaves the machine."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.content import links
from chalicelib.campaigns.content.links import Links, Verdict
from chalicelib.campaigns.review import preflight
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.findings import Level
from tests.rooms.kernel.server import Server


@pytest.fixture
def server(configure: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    configure(GNA_LOCAL="true")
    monkeypatch.setattr(links, "_SECONDS", 30.0)  # a busy machine is not a dead link
    links._memory.clear()
    server = Server()
    yield server
    server.close()
    links._memory.clear()


def verdict(url: str) -> Verdict:
    (one,) = links.visit([url])
    return one.verdict


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Verdict.GOOD),
        (204, Verdict.GOOD),
        (404, Verdict.DEAD),
        (410, Verdict.DEAD),
        (400, Verdict.UNSURE),
        (401, Verdict.UNSURE),
        (403, Verdict.UNSURE),
        (429, Verdict.UNSURE),
        (500, Verdict.UNSURE),
        (503, Verdict.UNSURE),
    ],
)
def test_what_an_answer_says_of_a_link(server, status, expected):
    assert verdict(server.on("/page", status)) is expected


@pytest.mark.parametrize("refusal", [403, 404, 405, 501])
def test_a_server_that_refuses_the_question_is_asked_for_the_page(server, refusal):
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(refusal if handler.command == "HEAD" else 200)
        handler.end_headers()

    server.replies["/page"] = reply
    assert verdict(server.url + "/page") is Verdict.GOOD
    assert [method for method, *_ in server.seen] == ["HEAD", "GET"]


def test_a_link_is_followed_to_where_it_leads(server):
    server.on("/gone", 410)
    assert verdict(server.on("/moved", 301, Location="/gone")) is Verdict.DEAD
    assert verdict(server.on("/circle", 302, Location="/circle")) is Verdict.UNSURE
    assert verdict(server.on("/inwards", 302, Location="http://10.0.0.1/")) is Verdict.DEAD


def test_a_name_that_does_not_exist_a_closed_port_and_a_bad_certificate_are_dead(server, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert verdict(f"http://127.0.0.1:{unused.getsockname()[1]}/") is Verdict.DEAD
    assert verdict(server.on("/").replace("http:", "https:")) is Verdict.DEAD

    def nowhere(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "as told")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    assert verdict("https://nobody.example.org/") is Verdict.DEAD


def test_private_addresses_are_not_visited(configure):
    configure(GNA_LOCAL="")
    assert verdict("http://127.0.0.1:1/") is verdict("http://169.254.169.254/latest") is Verdict.DEAD


def test_silence_is_waited_for_only_so_long_and_by_all_at_once(server, monkeypatch):
    monkeypatch.setattr(links, "_SECONDS", 0.3)
    over = threading.Event()
    for number in range(20):
        server.replies[f"/{number}"] = lambda handler: over.wait(60)
    started = time.monotonic()
    visits = links.visit([f"{server.url}/{number}" for number in range(20)])
    assert {one.verdict for one in visits} == {Verdict.UNSURE}
    assert len(visits) == 20
    assert time.monotonic() - started < 20 * 0.3  # which one after the other would take
    over.set()


def test_only_who_answered_well_is_not_asked_again(server):
    good, gone = server.on("/good"), server.on("/gone", 404)
    links.visit([good, gone])
    asked = len(server.seen)
    server.on("/gone")
    assert [one.verdict for one in links.visit([good, gone])] == [Verdict.GOOD, Verdict.GOOD]
    assert len(server.seen) == asked + 1


def test_a_visit_is_remembered_for_some_minutes(server, monkeypatch):
    url = server.on("/good")
    links.visit([url])
    assert len(links.recall([url])) == 1
    monkeypatch.setattr(links, "_REMEMBERED", -1)
    assert links.recall([url]) == []


def test_nothing_of_anybody_is_in_the_question(server):
    links.visit([server.on("/page?a=1")])
    (_, path, headers, body) = server.seen[0]
    assert (path, body) == ("/page?a=1", b"")
    assert headers.keys() == {"Host", "User-Agent", "Accept-Encoding"}


def test_each_address_is_visited_once_and_ours_not_at_all():
    page = """
    <a href="https://example.org/a#one">x</a><a href="https://example.org/a#two">x</a><img src="https://example.org/i">
    <a href="https://news.example.org">x</a><a href="https://news.example.org/archive/1">x</a>
    <a href="https://news.example.org/profile">x</a><a href="https://news.example.org/api/unsubscribe?token=1">x</a>
    <a href="https://news.example.org/posts/1">x</a><a href="mailto:a@example.org">x</a><a href="https://nowhere">x</a>
    """
    urls = ["https://example.org/a", "https://example.org/i", "https://news.example.org/posts/1"]
    assert Links(page).visitable == urls


def test_findings_name_dead_links_and_never_stand_in_the_way(server):
    urls = [server.on(f"/{number}") for number in range(25)]
    server.on("/3", 404)
    server.on("/4", 403)
    found = {finding.code: finding for finding in preflight.check_visits(urls, visit=True)}
    assert found.keys() == {"dead_link", "unchecked_links", "many_links"}
    assert found["dead_link"].message == f"Broken link {server.url}/3: it returned 404."
    assert f"{server.url}/4 (it returned 403)" in found["unchecked_links"].message
    assert found["many_links"].message == "Only the first 20 of 25 links were checked."
    assert {finding.level for finding in found.values()} == {Level.WARNING, Level.NOTE}


def test_without_being_asked_to_visit_nobody_is_asked(server, admin, ses):
    body = f'<p><a href="{server.on("/gone", 404)}">x</a></p>'
    made = admin.post("/admin/api/campaigns", json={"subject": "Hi", "body": body}).json
    url = f"/admin/api/campaigns/{made['id']}/preflight"

    def found(url: str) -> bool:
        return "dead_link" in {finding["code"] for finding in admin.get(url).json["findings"]}

    assert not found(url)
    assert server.seen == []
    assert found(f"{url}?visit=links")
    assert found(url)  # by the visit before
    assert len(server.seen) == 2


def test_the_pages_visit_when_asked_and_before_the_button(server, admin, ses):
    body = f'<p><a href="{server.on("/gone", 404)}">x</a></p>'
    page = f"/admin/campaigns/{service.create(Draft('Hi', body)).campaign.id}"
    assert "Check links" in admin.get(f"{page}/review").text
    assert server.seen == []
    assert "Broken link" in admin.get(f"{page}/review?visit=links").text
    links._memory.clear()
    assert "Broken link" in admin.get(f"{page}/send").text
