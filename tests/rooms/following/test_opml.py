"""What is followed, as a file for other programs, and following what such a file names."""

import time
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest

from chalicelib.following import departures, jobs, messages, opml, opml_import
from chalicelib.following.stores import follows
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, Unavailable
from chalicelib.members import service as members
from tests.conftest import received
from tests.rooms.following.conftest import ALLOTMENT, DAWN_CHORUS
from tests.rooms.sightings.person import Person

RSS = """<rss version="2.0"><channel><title>{0}</title><link>https://{0}.example.org/</link>
<item><title>Hello</title><guid>1</guid><link>https://{0}.example.org/1</link></item></channel></rss>"""
YOUTUBE_FEED = "https://www.youtube.com/feeds/videos.xml?channel_id="


@pytest.fixture
def feeds(configure: Any):
    """`feeds("ada")`: the URL of a feed of that name. `down` has names that answer 500, `slow` those that wait."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").removesuffix(".xml")
            asked.append(name)
            if name in url.slow:
                time.sleep(url.slow[name])
            self.send_response(500 if name in url.down else 404 if name.startswith("none") else 200)
            self.end_headers()
            self.wfile.write(RSS.format(name).encode())

        def log_message(self, *ignored: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    asked: list[str] = []

    def url(name: object) -> str:
        return f"http://127.0.0.1:{server.server_port}/{name}.xml"

    url.asked, url.down, url.slow = asked, set(), {}
    configure(GNA_LOCAL="true")
    yield url
    server.shutdown()
    server.server_close()


def file(*urls: str, attribute: str = "xmlUrl") -> str:
    outlines = "".join(f'<outline text="x" type="rss" {attribute}="{escape(url)}"/>' for url in urls)
    body = f'<body><outline text="Folder">{outlines}</outline></body>'
    return f'<?xml version="1.0"?><opml version="1.0"><head/>{body}</opml>'


def parse(document: bytes) -> list[str]:
    return opml.parse(document, 500)


def send(owner: Any, text: str) -> Any:
    answer = owner.call("POST", "follows/opml", json={"opml": text})
    assert answer.status == 200, answer.text
    return answer.json["results"]


def outlines(owner: Any) -> list[dict[str, str]]:
    answer = owner.call("GET", "follows/opml")
    assert answer.status == 200
    return [dict(one.attrib) for one in ElementTree.fromstring(answer.text).iter("outline")]


@pytest.fixture(params=["desk", "member"])
def owner(request: pytest.FixtureRequest) -> Any:
    found = request.getfixturevalue(request.param)
    return found("ada") if isinstance(found, Callable) else found


def test_every_feed_of_the_file_is_followed(owner, feeds, work):
    results = send(owner, file(feeds("one"), feeds("two")))
    followed = {follow["provider_channel_id"]: follow["id"] for follow in owner.follows()}
    assert results == [
        {"url": feeds(name), "ok": True, "follow_id": followed[feeds(name)]} for name in ("one", "two")
    ]
    assert owner.inbox() == []
    work()
    assert {entry["creator"] for entry in owner.inbox()} == {"one", "two"}


@pytest.mark.parametrize("kind", ["text/x-opml", "application/xml", "text/xml; charset=utf-8"])
def test_the_file_itself_can_be_sent(owner, feeds, kind):
    options = {"body": file(feeds("one")), "Content_Type": kind, "Origin": "https://news.example.org"}
    answer = owner.call("POST", "follows/opml", **options)
    assert (answer.status, [result["ok"] for result in answer.json["results"]]) == (200, [True])
    foreign = owner.call("POST", "follows/opml", **{**options, "Origin": "https://evil.example"})
    assert foreign.status == 403
    assert owner.call("POST", "follows/opml", body=options["body"], Content_Type=kind).status == 403


def test_another_kind_of_file_is_refused(owner):
    answer = owner.call(
        "POST", "follows/opml", body="a,b", Content_Type="text/csv", Origin="https://news.example.org"
    )
    assert answer.status == 400


@pytest.mark.parametrize("body", [{}, {"opml": ""}, {"opml": None}])
def test_without_a_file(owner, body):
    answer = owner.call("POST", "follows/opml", json=body)
    assert (answer.status, answer.json) == (400, {"error": "opml is required"})


def test_what_is_followed_already_stays_as_it_is_and_is_not_looked_at(owner, feeds):
    (first,) = send(owner, file(feeds("one")))
    owner.act({"id": first["follow_id"]}, "pause")
    feeds.asked.clear()
    assert send(owner, file(feeds("one"))) == [first]
    assert feeds.asked == []
    assert [follow["status"] for follow in owner.follows()] == ["PAUSED"]


def test_what_was_unfollowed_is_the_same_follow_again(owner, feeds):
    (first,) = send(owner, file(feeds("one")))
    owner.unfollow({"id": first["follow_id"]})
    assert send(owner, file(feeds("one"))) == [first]
    assert [follow["status"] for follow in owner.follows()] == ["ACTIVE"]


def test_one_that_cannot_be_followed_does_not_keep_the_others_from_it(desk, feeds):
    feeds.down.add("broken")
    results = send(desk, file(feeds("none"), feeds("broken"), "ftp://example.org/feed", feeds("fine")))
    assert [(result["ok"], result.get("error")) for result in results] == [
        (False, "The feed's server returned 404"),
        (False, "The feed's server returned 500"),
        (False, "Enter the address of a channel, a show, a feed or a website"),
        (True, None),
    ]
    assert len(desk.follows()) == 1


def test_a_channel_of_youtube_is_followed_by_its_feed(desk, work):
    (result,) = send(desk, file(f"{YOUTUBE_FEED}{ALLOTMENT}"))
    (follow,) = desk.follows()
    assert (follow["provider"], follow["provider_channel_id"]) == ("YOUTUBE", ALLOTMENT)
    assert result == {"url": f"{YOUTUBE_FEED}{ALLOTMENT}", "ok": True, "follow_id": follow["id"]}
    work()
    assert len(desk.inbox()) == 1


def test_without_a_key_or_a_connection_a_channel_says_so(desk, token_only):
    (result,) = send(desk, file(f"{YOUTUBE_FEED}{ALLOTMENT}"))
    assert (result["ok"], result["error"]) == (False, "Connect YouTube first")


def test_what_takes_long_is_followed_by_the_worker(desk, feeds, work, monkeypatch):
    monkeypatch.setattr(opml_import, "_SECONDS_TO_LOOK", 2.5)
    feeds.slow["late"] = 6
    results = send(desk, file(feeds("fast"), feeds("late")))
    assert results[1] == {"url": feeds("late"), "ok": True, "queued": True}
    assert [follow["name"] for follow in desk.follows()] == ["fast"]
    feeds.slow.clear()
    work()
    assert {follow["name"] for follow in desk.follows()} == {"fast", "late"}


def test_what_there_is_no_time_to_follow_is_followed_by_the_worker(desk, feeds, work, monkeypatch):
    monkeypatch.setattr(opml_import, "_SECONDS_TO_FOLLOW", 0.0)
    results = send(desk, file(feeds("one"), f"{YOUTUBE_FEED}{ALLOTMENT}"))
    assert [result["queued"] for result in results] == [True, True]
    assert desk.follows() == []
    work()
    assert len(desk.follows()) == 2


def test_the_worker_follows_once_whatever_comes_twice(desk, feeds, aws):
    message = {"kind": messages.FOLLOW_URL, "owner": "desk", "url": feeds("one"), "tries": 0}
    for _ in range(2):
        jobs.handle(message, lambda: True)
    assert len(desk.follows()) == 1


def test_what_does_not_answer_is_tried_a_few_times_and_then_given_up(desk, feeds, settle):
    feeds.down.add("broken")
    jobs.handle({"kind": messages.FOLLOW_URL, "owner": "desk", "url": feeds("broken"), "tries": 0}, lambda: True)
    assert settle() == 1
    assert settle() == 1
    feeds.down.clear()
    assert settle() >= 1
    assert len(desk.follows()) == 1


def test_after_the_last_try_nothing_is_left(desk, feeds, capsys):
    feeds.down.add("broken")
    jobs.handle({"kind": messages.FOLLOW_URL, "owner": "desk", "url": feeds("broken"), "tries": 3}, lambda: True)
    assert received("feed") == []
    assert "following.not_imported" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["none", "not a url"])
def test_what_cannot_be_followed_is_given_up_at_once(desk, feeds, capsys, name):
    url = feeds(name) if name == "none" else name
    jobs.handle({"kind": messages.FOLLOW_URL, "owner": "desk", "url": url, "tries": 0}, lambda: True)
    assert received("feed") == []
    assert url not in capsys.readouterr().out


def test_nothing_is_followed_for_somebody_who_has_left(member, feeds):
    ada = member("ada")
    members.close(ada.id)
    jobs.handle({"kind": messages.FOLLOW_URL, "owner": ada.id, "url": feeds("one"), "tries": 0}, lambda: True)
    assert list(follows.list_all(ada.id)) == []
    assert feeds.asked == []


def test_who_leaves_at_that_moment_leaves_nothing(member, feeds, monkeypatch):
    ada = member("ada")
    begin = opml_import._begin

    def leave_meanwhile(*args):
        members.close(ada.id)
        departures.forget(ada.id, lambda: True)
        return begin(*args)

    monkeypatch.setattr(opml_import, "_begin", leave_meanwhile)
    jobs.handle({"kind": messages.FOLLOW_URL, "owner": ada.id, "url": feeds("one"), "tries": 0}, lambda: True)
    assert list(follows.list_all(ada.id)) == []


def test_what_cannot_be_queued_says_so(desk, feeds, monkeypatch):
    def fail(*_: Any) -> None:
        raise Unavailable("Service unavailable")

    monkeypatch.setattr(opml_import, "_SECONDS_TO_FOLLOW", 0.0)
    monkeypatch.setattr(messages.queues, "send_many", fail)
    assert send(desk, file(feeds("one"))) == [{"url": feeds("one"), "ok": False, "error": "Service unavailable"}]


@pytest.mark.usefixtures("still")
def test_five_files_an_hour(desk, feeds):
    for _ in range(5):
        send(desk, file(feeds("one")))
    assert desk.call("POST", "follows/opml", json={"opml": file(feeds("one"))}).status == 429


def test_too_many_follows(desk, feeds, monkeypatch):
    monkeypatch.setattr(opml_import.model, "MOST_FOLLOWS", {True: 2, False: 2})
    desk.follow("YOUTUBE", ALLOTMENT)
    results = send(desk, file(feeds("one"), feeds("two")))
    assert results[1] == {"url": feeds("two"), "ok": False, "error": "At most 2 follows are possible"}


def test_the_follows_of_an_owner_are_counted_once_for_a_file(desk, feeds, monkeypatch):
    monkeypatch.setattr(opml_import.model, "MOST_FOLLOWS", {True: 3, False: 3})
    counted, real = [], follows.list_all

    def count(owner):
        counted.append(owner)
        return real(owner)

    monkeypatch.setattr(follows, "list_all", count)
    send(desk, file(feeds("one")))
    assert len(counted) == 1
    results = send(desk, file(feeds("one"), feeds("two"), feeds("three")))
    assert [result["ok"] for result in results] == [True, True, True]
    assert [result["ok"] for result in send(desk, file(feeds("one"), feeds("four")))] == [True, False]


def test_of_one_host_twenty_are_looked_at_and_the_others_are_followed_one_by_one(owner, feeds, settle, monkeypatch):
    delays: list[int] = []
    follow_later = messages.follow_later

    def note_delays(owner_id: str, urls: dict[str, int]) -> set[str]:
        delays.extend(urls.values())
        return follow_later(owner_id, urls)

    monkeypatch.setattr(messages, "follow_later", note_delays)
    results = send(owner, file(*(feeds(number) for number in range(25))))
    assert [result.get("queued", False) for result in results] == [False] * 20 + [True] * 5
    assert len(feeds.asked) == 20
    assert len(set(delays)) == len(delays) == 5
    for message in received("feed"):
        jobs.handle(message, lambda: True)
    settle()
    assert len(follows_of(owner)) == 25


def follows_of(owner: Any) -> list[Any]:
    return list(follows.list_all(owner.id))


def test_a_member_whose_address_is_not_verified_sends_no_file(http, providers, configure, feeds):
    configure(MEMBERS="open")
    eve = Person(http, "eve", verified=False)
    answer = eve.ask("POST", "/api/follows/opml", json={"opml": file(feeds("one"))})
    assert (answer.status, answer.json) == (403, {"error": "Verify your email address first"})
    assert feeds.asked == []


def test_the_desk_can_take_in_as_many_as_it_may_follow(desk, feeds, monkeypatch):
    monkeypatch.setattr(opml_import, "_SECONDS_TO_FOLLOW", 0.0)
    monkeypatch.setattr(opml_import, "_look_at", lambda owner, urls: {})
    queued: list[int] = []

    def take(queue: str, batch: Any) -> int:
        queued.append(len(batch))
        return len(batch)

    monkeypatch.setattr(messages.queues, "send_many", take)
    urls = [f"https://blog{number}.example.org/feed" for number in range(2_000)]
    results = send(desk, file(*urls))
    assert queued == [10] * 200
    assert [result["queued"] for result in results] == [True] * 2_000
    answer = desk.call("POST", "follows/opml", json={"opml": file(*urls, "https://one-more.example.org/feed")})
    assert (answer.status, answer.json) == (400, {"error": "At most 2000 feeds can be followed"})


def test_feeds_are_looked_at_side_by_side(desk, feeds):
    feeds.slow |= {str(number): 0.3 for number in range(30)}
    started = time.monotonic()
    found = opml_import._look_at("desk", [feeds(number) for number in range(30)])
    assert time.monotonic() - started < 6
    assert len(found) == 30


def test_the_file_names_what_is_followed(owner, feeds):
    send(owner, file(feeds("beta"), feeds("Alpha"), feeds("gone")))
    owner.unfollow(next(follow for follow in owner.follows() if follow["name"] == "gone"))
    assert outlines(owner) == [
        {
            "type": "rss",
            "text": name,
            "title": name,
            "xmlUrl": feeds(name),
            "htmlUrl": f"https://{name}.example.org/",
        }
        for name in ("Alpha", "beta")
    ]
    answer = owner.call("GET", "follows/opml")
    assert answer.headers["Content-Type"] == "text/x-opml; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="follows.opml"'


def test_channels_are_named_by_their_feed_and_shows_are_left_out(desk):
    desk.connect("SPOTIFY")
    desk.follow("YOUTUBE", ALLOTMENT)
    desk.follow("SPOTIFY", DAWN_CHORUS)
    (outline,) = outlines(desk)
    assert outline["xmlUrl"] == f"{YOUTUBE_FEED}{ALLOTMENT}"
    assert outline["htmlUrl"].startswith("https://www.youtube.com/")


def test_what_was_taken_out_can_be_taken_in(desk, member, feeds):
    send(desk, file(feeds("one"), feeds("two"), f"{YOUTUBE_FEED}{ALLOTMENT}"))
    ada = member("ada")
    taken = desk.call("GET", "follows/opml").text
    assert all(result["ok"] for result in send(ada, taken))
    assert outlines(ada) == outlines(desk)


def test_nothing_is_followed(owner):
    assert outlines(owner) == []


def test_names_are_text_in_the_file():
    strange = opml.Outline('<b> & "quotes" \x00\ud83c\udf31', "https://example.org/?a=1&b='2'", "")
    text = "".join(opml.write("Ada & <Co>", [strange], clock.now()))
    (found,) = ElementTree.fromstring(text).iter("outline")
    assert found.attrib["text"] == '<b> & "quotes" 🌱'
    assert found.attrib["xmlUrl"] == "https://example.org/?a=1&b='2'"
    assert parse(text.encode()) == ["https://example.org/?a=1&b='2'"]


@pytest.mark.parametrize("attribute", ["xmlUrl", "xmlurl", "XMLURL", "xmlURL"])
def test_programs_write_names_in_many_ways(attribute):
    assert parse(file("https://example.org/feed", attribute=attribute).encode()) == ["https://example.org/feed"]


def test_folders_doubles_and_outlines_without_a_feed():
    text = """<OPML version="2.0"><head><title>Feeds</title></head><body>
        <outline text="News"><outline text="a" xmlUrl=" https://a.example/ "/><outline text="folder">
        <outline text="b" xmlUrl="https://b.example/?x=1&amp;y=2"/></outline></outline>
        <outline text="a again" xmlUrl="https://a.example/"/><outline text="none"/><outline text="" xmlUrl=""/>
        <item xmlUrl="https://no.example/"/></body></OPML>"""
    assert parse(text.encode()) == ["https://a.example/", "https://b.example/?x=1&y=2"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_files_in_other_encodings(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + file("https://example.org/grüße").partition("?>")[2]
    assert parse(text.encode(encoding)) == ["https://example.org/grüße"]


def test_what_says_another_encoding_than_it_has():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + file("https://example.org/grüße").partition("?>")[2]
    assert parse(text.encode()) == ["https://example.org/grüße"]
    assert parse(b"\xef\xbb\xbf" + text.encode()) == ["https://example.org/grüße"]
    assert parse(f"\n  {text}".encode()) == ["https://example.org/grüße"]


LAUGHS = '<!DOCTYPE opml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
FILES = '<!DOCTYPE opml [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "This is not a valid OPML file"),
        ("hello", "This is not a valid OPML file"),
        ("<html><body/></html>", "This is not a valid OPML file"),
        ("<opml><body>", "This is not a valid OPML file"),
        ('<opml><body><outline text="a & b"/></body></opml>', "This is not a valid OPML file"),
        ('<?xml version="1.0" encoding="utf-7"?><opml/>\xff', "This is not a valid OPML file"),
        ("<opml><body/></opml>", "This file names no feeds"),
        ('<opml><body><outline text="x"/></body></opml>', "This file names no feeds"),
        (f'{LAUGHS}<opml><body><outline xmlUrl="https://&b;.example/"/></body></opml>', None),
        (f'{FILES}<opml><body><outline xmlUrl="https://&x;.example/"/></body></opml>', None),
        ("<opml>" + "<outline>" * 60 + "</outline>" * 60 + "</opml>", "This file is nested too deeply"),
        ("<opml>" + "<a>" * 100_000, "This file is nested too deeply"),
        (
            file(*(f"https://example.org/{number}" for number in range(501))),
            "At most 500 feeds can be followed",
        ),
        ("x" * 2_000_001, "An OPML file may have at most 2 MB"),
    ],
)
def test_what_is_no_file_we_take(text, reason):
    with pytest.raises(Invalid) as refusal:
        parse(text.encode("latin-1"))
    assert refusal.value.reason == (reason or "An OPML file must not have a document type")


def test_a_large_file_is_read_in_no_time():
    text = file(*(f"https://example.org/{number}" for number in range(500)))
    padded = text.replace("<head/>", "<head>" + "<x y='z'/>" * 90_000 + "</head>")
    started = time.monotonic()
    assert len(parse(padded.encode())) == 500
    assert time.monotonic() - started < 3


def test_a_file_of_two_megabytes_is_taken_from_members_too(member, feeds):
    ada = member("ada")
    text = file(feeds("one")).replace("<head/>", f"<head>{' ' * 1_950_000}</head>")
    assert [result["ok"] for result in send(ada, text)] == [True]
    answer = ada.call("POST", "follows/opml", json={"opml": text + " " * 100_000})
    assert (answer.status, answer.json) == (400, {"error": "An OPML file may have at most 2 MB"})


def test_a_stranger_cannot(http, configure):
    configure(MEMBERS="open")
    for path in ("/api/follows/opml", "/admin/api/follows/opml"):
        assert http.get(path).status == http.post(path, json={"opml": "x"}).status == 401
