"""Saving a page by its link: read once, known by where it really is, and never taken for another."""

import pytest
from msgspec.structs import replace

from chalicelib.inbox import clipping, entry_store, links, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import LONGEST_NOTE, ContentType, Item, Provider, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.inbox.things import NOON, events, receive, states, to
from tests.rooms.inbox.web import page

FROST = "https://example.org/2026/11/frost"
VIDEO = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
HEAD = """<meta property="og:site_name" content="The Slow Garden"><meta name="description" content="What survives.">
    <meta property="og:image" content="/frost.jpg"><meta property="article:published_time" content="2026-11-14">"""


def identified(url: str) -> str:
    return links.item_id(links.identify(url))


def known(url: str, provider: Provider, content_type: ContentType) -> Item:
    """As a follow has brought it: of a provider, or of the feed of the page's own site."""
    trust = Trust.READ if provider is Provider.RSS else Trust.PROVIDER
    told = {"creator": "The Channel", "creator_id": "creator-1", "trust": trust}
    return Item(identified(url), provider, "x", content_type, "As the channel calls it", url, clock.now(), **told)


def test_a_page_becomes_an_entry(box, web):
    web.says[FROST] = page("Frost on the allotment", HEAD)
    answer = box.clip(FROST)
    assert answer.status == 201
    received_at = answer.json.pop("received_at")
    assert abs(received_at - clock.milliseconds(clock.now())) < 10_000
    assert answer.json == {
        "id": identified(FROST),
        "state": "INBOX",
        "provider": "LINK",
        "content_type": "LINK",
        "title": "Frost on the allotment",
        "creator": "The Slow Garden",
        "canonical_url": FROST,
        "image_url": None,
        "excerpt": "What survives.",
        "duration_seconds": None,
        "published_at": 1794614400000,
        "follow_id": None,
        "note": None,
        "used_in": [],
        "problem": None,
        "available": True,
    }
    assert box.entries() == [{**answer.json, "received_at": received_at}]
    assert service.find_item(answer.json["id"]).image == "https://example.org/frost.jpg"


def test_the_desk_s_clips_are_told_and_those_of_members_are_not(desk, ada, web):
    web.says[FROST] = page()
    ada.clip(FROST)
    assert not events()
    id = desk.clip(FROST).json["id"]
    (event,) = events()
    assert event.payload == {"entry_id": id, "provider": "LINK", "content_type": "LINK"}


def test_again_it_is_there_already_and_is_not_read_again(box, web):
    web.says[FROST] = page()
    first = box.clip(FROST).json
    again = box.clip("http://www.example.org/2026/11/frost/?utm_source=mail#top")
    assert (again.status, again.json) == (200, first)
    assert len(web.asked) == 1


def test_a_note_comes_with_it_and_is_added_to_what_is_there(box, web):
    web.says[FROST] = page()
    assert box.clip(FROST, note="  For Friday ").json["note"] == "For Friday"
    assert box.clip(FROST).json["note"] == "For Friday"
    assert box.clip(FROST, note="For Friday").json["note"] == "For Friday"
    assert box.clip(FROST, note="Ask Bob").json["note"] == "For Friday\n\nAsk Bob"
    assert box.clip(FROST, note=None).status == 200
    full = box.clip(FROST, note="x" * LONGEST_NOTE).json["note"]
    assert (len(full), full[-1]) == (LONGEST_NOTE, "…")
    assert full.startswith("For Friday\n\nAsk Bob\n\nxxx")


def test_a_note_written_at_the_same_moment_is_not_lost(box, web, monkeypatch):
    web.says[FROST] = page()
    id = box.clip(FROST).json["id"]
    add, turns = entry_store.add_note, iter([True])

    def written_meanwhile(before, note):
        if next(turns, False):
            entry_store.set_note(box.owner, id, "From the other window")
        return add(before, note)

    monkeypatch.setattr(entry_store, "add_note", written_meanwhile)
    assert box.clip(FROST, note="Mine").json["note"] == "From the other window\n\nMine"


@pytest.mark.parametrize("state", ["bookmark", "archive"])
def test_what_was_kept_stays_where_it_is(box, web, state):
    web.says[FROST] = page()
    id = box.clip(FROST).json["id"]
    kept = box.act(id, state).json["state"]
    answer = box.clip(FROST)
    assert (answer.status, answer.json["state"]) == (200, kept)


def test_dismissed_and_then_clipped_by_hand_it_comes_back_as_new(desk, web, later):
    web.says[FROST] = page()
    first = desk.clip(FROST, note="Old").json
    desk.dismiss(first["id"])
    later(hours=1)
    answer = desk.clip(FROST, note="New")
    assert answer.status == 201
    assert answer.json == {**first, "note": "New", "received_at": answer.json["received_at"]}
    assert answer.json["received_at"] > first["received_at"]
    assert desk.ids() == [first["id"]]
    assert len(events()) == 2


def test_what_a_follow_brought_comes_back_by_hand_and_not_by_the_follow(box, web):
    item = known(VIDEO, Provider.YOUTUBE, ContentType.VIDEO)
    receive(box.owner, item)
    box.dismiss(item.id)
    assert receive(box.owner, item) == [item.id]
    assert states(box.owner) == {item.id: None}
    answer = box.clip("https://youtu.be/dQw4w9WgXcQ?si=abc")
    assert (answer.status, answer.json["provider"], answer.json["follow_id"]) == (201, "YOUTUBE", None)
    assert not web.asked


@pytest.mark.parametrize(
    ("url", "provider", "content_type", "clipped"),
    [
        (VIDEO, Provider.YOUTUBE, ContentType.VIDEO, "https://m.youtube.com/watch?v=dQw4w9WgXcQ&list=PL1"),
        (
            "https://open.spotify.com/episode/512ojhOuo1ktJprKbVcKyQ",
            Provider.SPOTIFY,
            ContentType.PODCAST,
            "https://open.spotify.com/intl-de/episode/512ojhOuo1ktJprKbVcKyQ?si=9f",
        ),
        (FROST, Provider.RSS, ContentType.ARTICLE, "https://example.org/2026/11/frost/amp/"),
    ],
)
def test_a_link_to_a_known_item_answers_that_item(box, web, url, provider, content_type, clipped):
    item = known(url, provider, content_type)
    service.deliver(item, to("desk"), NOON)
    service.dismiss("desk", item.id)
    first = box.clip(clipped)
    assert (first.status, first.json["provider"], first.json["content_type"]) == (201, provider, content_type)
    assert first.json["title"] == "As the channel calls it"
    assert box.clip(url).status == 200
    assert not web.asked


def test_a_redirect_to_a_known_item_answers_that_item(box, web):
    item = known(FROST, Provider.RSS, ContentType.ARTICLE)
    receive(box.owner, item)
    web.moved["https://sho.rt/x"] = f"{FROST}?utm_source=short"
    web.says[f"{FROST}?utm_source=short"] = page("As the page calls itself")
    answer = box.clip("https://sho.rt/x", note="Found again")
    assert answer.status == 200
    assert (answer.json["provider"], answer.json["title"]) == ("RSS", "As the channel calls it")
    assert (answer.json["follow_id"], answer.json["note"]) == ("follow-1", "Found again")


def test_a_video_nobody_follows_is_a_link_until_its_channel_tells_of_it(box, web):
    web.says[VIDEO] = page("The video - YouTube")
    assert box.clip(VIDEO).json["provider"] == "LINK"
    item = known(VIDEO, Provider.YOUTUBE, ContentType.VIDEO)
    service.deliver(replace(item, refreshed_at=clock.now()), to("cy"), clock.now())
    assert box.entries()[0]["title"] == "As the channel calls it"
    assert states(box.owner) == {item.id: "INBOX"}


def test_the_address_is_that_after_redirects_without_tracking(box, web):
    web.moved["https://t.co/abc"] = "https://news.example.net/r?to=1"
    web.moved["https://news.example.net/r?to=1"] = f"{FROST}?utm_campaign=x&page=2&fbclid=1#comments"
    web.says[f"{FROST}?utm_campaign=x&page=2&fbclid=1#comments"] = page()
    entry = box.clip("https://t.co/abc").json
    assert entry["canonical_url"] == f"{FROST}?page=2"
    assert entry["id"] == identified(f"{FROST}?page=2")


@pytest.mark.parametrize(
    ("url", "canonical", "shown"),
    [
        ("https://example.org/?p=4711", FROST, FROST),
        (
            "https://m.example.org/2026/11/frost?x=1",
            "https://www.example.org/2026/11/frost",
            "https://www.example.org/2026/11/frost",
        ),
        (f"{FROST}?sort=new", "/2026/11/frost?utm_source=canonical", FROST),
        (f"{FROST}?a=1", "http://example.org/2026/11/frost", FROST),
        ("https://example-org.cdn.ampproject.org/c/s/example.org/2026/11/frost", FROST, FROST),
        (FROST, "https://example.org/", FROST),
        (FROST, "https://example.org/index.html", FROST),
        (FROST, "https://example.org/index.php?utm_source=x", FROST),
        (FROST, "https://example.org/Home/", FROST),
        (FROST, "https://evil.example/2026/11/frost", FROST),
        (FROST, "https://example.org.evil.example/", FROST),
        (FROST, "https://sub.example.org/2026/11/frost", FROST),
        (FROST, "https://example.org:8443/2026/11/frost", FROST),
        (FROST, "https://user@example.org/other", FROST),
        (FROST, "javascript:alert(1)", FROST),
        (FROST, "", FROST),
    ],
)
def test_a_page_may_say_where_it_is_on_its_own_site_only(box, web, url, canonical, shown):
    web.says[url] = web.says[shown] = page("Frost", f'<link rel="canonical" href="{canonical}">')
    entry = box.clip(url).json
    assert (entry["canonical_url"], entry["id"]) == (shown, identified(shown))


def test_a_stranger_s_page_cannot_pass_for_another(desk, ada, web):
    web.says[FROST] = page("The real one")
    web.says["https://evil.example/x"] = page(
        "Free money", f'<link rel="canonical" href="{FROST}"><meta property="og:url" content="{FROST}">'
    )
    desk.clip(FROST)
    assert ada.clip("https://evil.example/x").json["id"] != identified(FROST)
    assert desk.entries()[0]["title"] == "The real one"


BOBS, HERS = "https://shared.example/bob/post", "https://shared.example/ada/post"


def naming(url: str) -> str:
    return f'<link rel="canonical" href="{url}">'


def test_words_of_a_page_that_another_one_names_are_its_own(bob, ada, web):
    web.says[BOBS] = page("Bob's words", naming(BOBS))
    web.says[HERS] = page("Not Bob's words", naming(BOBS))
    assert ada.clip(HERS).json["title"] == "Bob's words"
    assert bob.clip(BOBS).json["title"] == "Bob's words"
    assert bob.clip(HERS).status == 200
    assert bob.ids() == [identified(BOBS)]


@pytest.mark.parametrize(
    "said",
    [
        (404, page("Not found")),
        FetchFailed("timeout", "no complete response in time"),
        FetchFailed("refused", "the host is not on the public internet"),
        page("Bob's words", naming("https://shared.example/bob/other")),
    ],
)
def test_one_that_names_a_page_which_does_not_say_so_stands_for_itself(ada, web, said):
    web.says[BOBS], web.says[HERS] = said, page("Her words", naming(BOBS))
    entry = ada.clip(HERS).json
    assert (entry["title"], entry["canonical_url"], entry["problem"]) == ("Her words", HERS, None)
    assert web.asked == [HERS, BOBS]


def test_one_that_names_a_page_which_leads_elsewhere_stands_for_itself(ada, web):
    web.moved[BOBS] = "https://shared.example/bob/other"
    web.says["https://shared.example/bob/other"], web.says[HERS] = page("Other"), page("Her words", naming(BOBS))
    assert ada.clip(HERS).json["canonical_url"] == HERS


def test_a_page_named_by_another_is_read_in_the_time_that_is_left(ada, web):
    web.says[BOBS], web.says[HERS] = page("Bob's words"), page("Her words", naming(BOBS))
    assert ada.clip(HERS).json["title"] == "Bob's words"
    first, second = web.bounds
    assert second.seconds < first.seconds


def test_a_site_s_first_page_can_be_saved_too(box, web):
    web.says["https://www.example.org"] = web.says["https://example.org/"] = page("The Slow Garden")
    first = box.clip("www.example.org")
    assert (first.status, first.json["title"]) == (201, "The Slow Garden")
    again = box.clip("https://example.org/")
    assert (again.status, again.json["id"]) == (200, first.json["id"])


@pytest.mark.parametrize(
    "url",
    [
        "example.org/2026/11/frost",
        " https://example.org/2026/11/frost\n",
        FROST.upper().replace("2026/11/FROST", "2026/11/frost"),
    ],
)
def test_an_address_may_be_typed_in_other_ways(box, web, url):
    web.says[FROST] = web.says["https://EXAMPLE.ORG/2026/11/frost"] = web.says[
        "HTTPS://EXAMPLE.ORG/2026/11/frost"
    ] = page("Frost")
    assert box.clip(url).json["id"] == identified(FROST)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "url is required"),
        (None, "url is required"),
        (7, "url must be text"),
        ("x" * 2001, "url must be at most 2000 characters"),
        *(
            (url, "url must be an http or https link")
            for url in ("hello", "two words", "http://", "https://[::1", "?", "/x")
        ),
        *(
            (url, "url must be an http or https link")
            for url in ("ftp://example.org/x", "file:///etc/passwd", "javascript:alert(1)")
        ),
        *(
            (url, "url must be an http or https link")
            for url in ("data:text/html,x", "mailto:a@example.org", "https://a:b@example.org/")
        ),
    ],
)
def test_what_is_no_link(box, web, url, reason):
    answer = box.clip(url)
    assert (answer.status, answer.json) == (400, {"error": reason})
    assert not web.asked
    assert not list(EntryRow.scan())


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "http://10.1.2.3/x",
        "http://192.168.0.1/admin",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/x",
        "http://[fd00::1]/x",
        "http://0x7f000001/x",
        "https://1.1.1.1:22/x",
    ],
)
def test_what_we_will_not_connect_to_is_refused(box, url):
    """By the client itself."""
    answer = box.clip(url)
    assert answer.status == 400, answer.text
    assert answer.json["error"].startswith("This link cannot be saved: ")
    assert "127.0" not in answer.text
    assert not list(ItemRow.scan())


def test_a_redirect_to_where_we_will_not_connect_is_refused_too(box, web):
    web.moved[FROST] = "http://10.0.0.1/"
    web.says["http://10.0.0.1/"] = FetchFailed("refused", "the host is not on the public internet")
    assert box.clip(FROST).status == 400
    assert not list(EntryRow.scan())


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            FetchFailed("timeout", "no complete response in time"),
            "The page could not be read: no complete response in time",
        ),
        (
            FetchFailed("unreachable", "the host name has no address"),
            "The page could not be read: the host name has no address",
        ),
        (
            FetchFailed("too_large", "the response is larger than 5000 kB"),
            "The page could not be read: the response is larger than 5000 kB",
        ),
        ((404, page("Not found")), "The page could not be read: the site answered 404"),
        ((403, page("Just a moment...")), "The page could not be read: the site answered 403"),
        ((503, b""), "The page could not be read: the site answered 503"),
    ],
)
def test_a_page_that_cannot_be_read_becomes_an_entry_that_says_so(box, web, said, problem):
    url = "https://www.example.org/2026/caf%C3%A9/?utm_source=x"
    web.says[url] = said
    answer = box.clip(url, note="Try later")
    assert answer.status == 201
    entry = answer.json
    assert (entry["title"], entry["creator"], entry["problem"]) == ("example.org/2026/café", "example.org", problem)
    assert (entry["canonical_url"], entry["note"]) == ("https://www.example.org/2026/caf%C3%A9/", "Try later")
    assert box.entries()[0]["problem"] == problem


@pytest.mark.parametrize("kind", ["application/pdf", "image/jpeg", "application/json", "text/plain; charset=utf-8"])
def test_what_is_no_page_says_so(box, web, kind):
    web.says["https://example.org/report.pdf"] = b"%PDF-1.7 <title>No</title>"
    web.types["https://example.org/report.pdf"] = kind
    entry = box.clip("https://example.org/report.pdf").json
    assert entry["title"] == "example.org/report.pdf"
    assert entry["problem"] == "This is not a web page, so it tells nothing about itself"


def test_a_page_without_a_title_has_its_address_and_no_problem(box, web):
    web.says[FROST] = "<html><body>Just text."
    entry = box.clip(FROST).json
    assert (entry["title"], entry["problem"]) == ("example.org/2026/11/frost", None)


def test_what_could_not_be_read_is_read_when_it_is_clipped_again(desk, ada, web):
    web.says[FROST] = (503, b"")
    desk.clip(FROST)
    assert ada.clip(FROST).json["problem"]
    web.says[FROST] = page("Frost at last")
    answer = desk.clip(FROST)
    assert (answer.status, answer.json["title"], answer.json["problem"]) == (200, "Frost at last", None)
    assert ada.entries()[0]["title"] == "Frost at last"
    web.says[FROST] = (503, b"")
    assert ada.clip(FROST).json["problem"] is None


def test_what_a_feed_tells_later_replaces_what_could_not_be_read(box, web):
    web.says[FROST] = (503, b"")
    box.clip(FROST)
    item = known(FROST, Provider.RSS, ContentType.ARTICLE)
    service.deliver(replace(item, refreshed_at=clock.now()), to(box.owner), clock.now())
    (entry,) = box.entries()
    assert (entry["title"], entry["problem"]) == ("As the channel calls it", None)


def test_pages_behind_one_sign_in_are_not_one(box, web):
    for name in ("one", "two"):
        web.moved[f"https://example.org/{name}"] = "https://example.org/sign-in"
    web.says["https://example.org/sign-in"] = (401, page("Sign in"))
    assert box.clip("https://example.org/one").json["canonical_url"] == "https://example.org/one"
    assert box.clip("https://example.org/two").status == 201


@pytest.mark.parametrize(
    "asking",
    [
        "https://example.org/consent?to=x",
        "https://example.org/account/Login.php",
        "https://consent.example.org/",
        "https://accounts.example.com/v3",
        "https://example.org/sign-in/",
        "https://example.org/cdn/challenge/platform",
    ],
)
def test_a_question_before_a_page_is_not_the_page(box, web, asking):
    web.says[asking] = page("Before you continue")
    for name in ("story1", "story2"):
        web.moved[f"https://example.org/{name}"] = asking
        entry = box.clip(f"https://example.org/{name}").json
        assert (entry["canonical_url"], entry["title"]) == (f"https://example.org/{name}", f"example.org/{name}")
        assert entry["problem"] == "The page could not be read: it leads elsewhere"
    assert len(box.entries()) == 2


def test_a_page_about_signing_in_can_be_saved(box, web):
    web.moved["http://example.org/login/history"] = "https://example.org/login/history/part-1"
    web.says["https://example.org/login/history/part-1"] = page("A short history of the login")
    entry = box.clip("http://example.org/login/history").json
    assert (entry["title"], entry["problem"]) == ("A short history of the login", None)


def test_a_question_before_a_video_is_not_the_video(box, web):
    asked = "https://consent.youtube.com/m?continue=x"
    web.moved[VIDEO] = asked
    web.says[asked] = page("Before you continue to YouTube")
    entry = box.clip(VIDEO).json
    assert (entry["id"], entry["title"]) == (identified(VIDEO), "youtube.com/watch")
    assert entry["problem"] == "The page could not be read: it leads elsewhere"


def test_of_a_large_page_the_beginning_is_read(box, web):
    web.says[FROST] = page("Frost")
    assert box.clip(FROST).json["title"] == "Frost"
    assert {(bounds.largest, bounds.cut) for bounds in web.bounds} == {(2_000_000, True)}


def test_texts_are_bounded(box, web):
    long = page(
        "t " * 500,
        f'<meta name="description" content="{"d " * 900}"><meta property="og:site_name" content="{"s" * 900}">',
    )
    web.says[FROST] = long
    entry = box.clip(FROST).json
    assert (len(entry["title"]), len(entry["creator"])) == (300, 200)
    assert len(entry["excerpt"]) <= 500


def test_somebody_else_saves_the_same_page_without_reading_it_again(desk, ada, bob, web):
    web.says[FROST] = page("Frost")
    for owner in (desk, ada, bob):
        assert owner.clip(FROST, note=owner.owner).status == 201
    assert len(web.asked) == len(list(ItemRow.scan())) == 1
    assert [owner.entries()[0]["note"] for owner in (desk, ada, bob)] == [desk.owner, ada.owner, bob.owner]


def test_two_at_once_make_one_entry(desk, web, monkeypatch):
    web.says[FROST] = page()
    deliver, turns = clipping.delivery.deliver, iter([True])

    def twin_first(*args):
        if next(turns, False):
            deliver(*args)
        return deliver(*args)

    monkeypatch.setattr(clipping.delivery, "deliver", twin_first)
    assert desk.clip(FROST).status == 200
    assert len(list(EntryRow.scan())) == len(events()) == 1


def test_dismissed_by_somebody_else_at_that_moment_it_is_there_all_the_same(desk, web, monkeypatch):
    web.says[FROST] = page()
    find, turns = entry_store.find, iter([True])

    def dismissed_meanwhile(owner, id):
        if next(turns, False):
            entry_store.dismiss(owner, id)
        return find(owner, id)

    monkeypatch.setattr(entry_store, "find", dismissed_meanwhile)
    assert desk.clip(FROST).status == 201
    assert list(states().values()) == ["INBOX"]


@pytest.mark.usefixtures("still")
def test_sixty_an_hour(desk, ada, web):
    web.says[FROST] = page()
    assert {ada.clip(FROST).status for _ in range(60)} == {200, 201}
    answer = ada.clip(FROST)
    assert (answer.status, answer.json) == (429, {"error": "Too many requests"})
    assert desk.clip(FROST).status == 201


def test_another_site_cannot_clip_for_somebody_signed_in(box, web):
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert box.ask("POST", box.prefix, json={"url": FROST}, headers=foreign).status == 403
    assert not web.asked


def test_a_stranger_cannot(http, configure):
    configure(MEMBERS="open")
    for path in ("/api/inbox", "/admin/api/inbox", "/api/inbox/lines", "/admin/api/inbox/lines"):
        assert http.post(path, json={"url": FROST, "text": FROST}).status == 401
