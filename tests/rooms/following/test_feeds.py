"""Following any feed: by its link or that of a page, without an account."""

from datetime import timedelta

import pytest

from chalicelib.following.stores import creators
from chalicelib.kernel import clock

PODCAST = b"""<rss version="2.0"><channel><title>Walks</title>
<item><title>Episode</title><guid>1</guid><link>/1</link><pubDate>Mon, 02 Nov 2026 08:00:00 +0000</pubDate>
<enclosure url="https://cdn.example.org/1.mp3" type="audio/mpeg" length="9"/></item></channel></rss>"""
UNDATED = b"""<rss version="2.0"><channel><title>Undated</title>%s</channel></rss>"""


@pytest.fixture
def following(desk, blog):
    blog.etag = True
    desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
    return desk


def page(blog, body):
    """The site's page is at every other path than the feed's."""

    real = blog.reply

    def reply(asked):
        if asked.path in ("/feed.xml", "/moved.xml"):
            return real(asked)
        return 200, {"Content-Type": "text/html"}, body.encode()

    blog.reply = reply


def test_a_feed_is_followed_by_its_url(following, blog):
    follow = following.followed
    assert (follow["provider"], follow["provider_channel_id"]) == ("RSS", f"{blog.url}/feed.xml")
    assert (follow["name"], follow["status"], follow["total_items"]) == ("Blog", "ACTIVE", 1)
    (entry,) = following.inbox()
    assert (entry["provider"], entry["content_type"], entry["title"]) == ("RSS", "ARTICLE", "Hello")
    assert (entry["excerpt"], entry["canonical_url"]) == ("About Hello.", f"{blog.url}/posts/1")


def test_also_by_provider_and_id(desk, blog):
    follow = desk.follow("RSS", f"{blog.url}/feed.xml")
    assert follow["provider_channel_id"] == f"{blog.url}/feed.xml"


@pytest.mark.parametrize("text", ["", "nonsense", "ftp://example.org/", "javascript:x"])
def test_what_is_no_url_is_no_id(desk, text):
    answer = desk.call("POST", "follows", json={"provider": "RSS", "provider_channel_id": text})
    assert (answer.status, answer.json) == (400, {"error": "Invalid feed URL. Expected an http or https URL"})


def test_a_page_leads_to_the_feed_it_names(desk, blog):
    page(blog, '<html><head><link rel="alternate" type="application/rss+xml" href="/feed.xml"></head></html>')
    answer = desk.follow_url(f"{blog.url}/about")
    assert (answer.status, answer.json["provider_channel_id"]) == (201, f"{blog.url}/feed.xml")


def test_a_page_that_names_none_is_not_found(desk, blog):
    page(blog, "<html><p>Nothing here</p></html>")
    assert desk.follow_url(f"{blog.url}/about").status == 404


@pytest.mark.parametrize(
    ("answer", "status"),
    [((404, {}, b""), 404), ((410, {}, b""), 404), ((500, {}, b""), 503), ((429, {"Retry-After": "60"}, b""), 429)],
)
def test_one_that_cannot_be_read_is_not_followed(desk, blog, answer, status):
    blog.answer = answer
    assert desk.follow_url(f"{blog.url}/feed.xml").status == status
    assert desk.follows() == []


def test_addresses_that_are_not_public_are_refused(desk, configure):
    configure(GNA_LOCAL="")
    for url in (
        "http://127.0.0.1/feed",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://10.0.0.1/",
    ):
        assert desk.follow_url(url).status in (400, 404)
    assert desk.follows() == []


def test_new_entries_arrive_once(following, blog, later, sweep):
    blog.publish("Second", clock.now())
    blog.publish("Third", clock.now() + timedelta(minutes=5))
    for _ in range(2):
        later(days=1)
        sweep()
    assert following.titles() == ["Third", "Second", "Hello"]


def test_one_that_is_dated_in_the_future_arrives_when_its_time_has_come(following, blog, later, sweep):
    blog.publish("Next week", clock.now() + timedelta(days=7))
    later(days=1)
    sweep()
    assert following.titles() == ["Hello"]
    for _ in range(2):
        later(days=7)
        sweep()
    assert following.titles() == ["Next week", "Hello"]


def test_entries_without_a_date_are_new_by_their_id(following, blog, later, sweep):
    blog.publish("No date", undated=True)
    for _ in range(2):
        later(days=1)
        sweep()
    assert following.titles() == ["No date", "Hello"]


def test_of_a_feed_without_dates_the_first_is_the_latest(desk, blog):
    entries = b"".join(b"<item><title>%d</title><guid>g%d</guid></item>" % (number, number) for number in (3, 2, 1))
    blog.answer = (200, {}, UNDATED % entries)
    desk.follow_url(f"{blog.url}/feed.xml")
    assert desk.titles() == ["3"]


def test_an_unchanged_feed_is_recognised_by_its_validators(following, blog, later, sweep):
    before = creators.find(following.followed["creator_id"])
    assert before.validators.etag
    later(days=1)
    sweep()
    assert blog.asked[-1]["if-none-match"] == before.validators.etag
    after = creators.find(following.followed["creator_id"])
    assert after.last_polled_at > before.last_polled_at
    assert (after.failures, after.validators.etag) == (0, before.validators.etag)
    assert following.titles() == ["Hello"]


def test_somebody_new_gets_the_latest_of_an_unchanged_feed(following, blog, member, later):
    later(days=2)
    ada = member("ada")
    assert ada.follow_url(f"{blog.url}/feed.xml").status == 201
    assert ada.titles() == ["Hello"]


def test_one_that_has_moved_for_good_is_asked_at_its_new_place(following, blog, later, sweep):
    blog.answer = (301, {"Location": f"{blog.url}/moved.xml"}, b"")
    for _ in range(2):
        later(days=1)
        sweep()
    creator = creators.find(following.followed["creator_id"])
    assert creator.url == f"{blog.url}/moved.xml"
    assert blog.asked[-1]["path"] == "/moved.xml"
    assert following.find(following.followed)["provider_channel_id"] == f"{blog.url}/feed.xml"
    assert following.titles() == ["Hello"]


def test_one_that_has_moved_for_a_while_is_asked_at_its_own(following, blog, later, sweep):
    blog.answer = (302, {"Location": f"{blog.url}/moved.xml"}, b"")
    later(days=1)
    sweep()
    assert creators.find(following.followed["creator_id"]).url == f"{blog.url}/feed.xml"


def test_an_entry_with_sound_is_a_podcast(desk, blog):
    blog.answer = (200, {}, PODCAST)
    desk.follow_url(f"{blog.url}/feed.xml")
    (entry,) = desk.inbox()
    assert (entry["content_type"], entry["provider"], entry["creator"]) == ("PODCAST", "RSS", "Walks")


def test_the_same_id_in_two_feeds_is_two_entries(desk, blog):
    for path in ("one", "two"):
        body = f"<rss version='2.0'><channel><title>{path}</title><item><title>{path}</title><guid>1</guid></item>"
        blog.answer = (200, {}, f"{body}</channel></rss>".encode())
        desk.follow_url(f"{blog.url}/{path}.xml")
    assert sorted(desk.titles()) == ["one", "two"]


def test_a_feed_needs_nothing_to_be_configured(desk, blog, configure):
    configure(YOUTUBE_CLIENT_ID="", YOUTUBE_API_KEY="", SPOTIFY_CLIENT_ID="", TOKEN_KEYS="")
    assert desk.follow_url(f"{blog.url}/feed.xml").status == 201
    assert desk.titles() == ["Hello"]
