"""The archive as programs read it: Atom, JSON Feed, sitemap, robots."""

import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import datetime

import feedparser
import pytest

from chalicelib.campaigns.content import archive_feeds, feed_handlers
from chalicelib.campaigns.model import Format, Targeting, Terms
from tests.rooms.campaigns.test_archive import published

SITE = "https://news.example.org"
ATOM = "{http://www.w3.org/2005/Atom}"
MAPS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
BODY = "# A & B\n\nHi {{nickname|friend}}, see [this](/about) and ![a leek](/media/abc.png).\n\n<b>5 < 6</b>"


def atom(http):
    answer = http.get("/archive/feed.xml")
    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    return ElementTree.fromstring(answer.text)


def items(http):
    answer = http.get("/archive/feed.json")
    assert answer.headers["Content-Type"] == "application/feed+json; charset=utf-8"
    return json.loads(answer.text)["items"]


def addresses(http, path="/sitemap.xml"):
    found = ElementTree.fromstring(http.get(path).text)
    return [entry.findtext(f"{MAPS}loc") for entry in found]


def check_atom(feed):
    """What RFC 4287 demands of a feed and its entries."""
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
            assert element.findtext(f"{ATOM}{name}")
        assert datetime.fromisoformat(element.findtext(f"{ATOM}updated")).tzinfo
        assert re.match(r"(https|urn):", element.findtext(f"{ATOM}id"))
        for link in element.findall(f"{ATOM}link"):
            assert link.get("href").startswith(SITE)
        assert len([link for link in element.findall(f"{ATOM}link") if link.get("rel") == "alternate"]) == 1
    for entry in feed.findall(f"{ATOM}entry"):
        content = entry.findall(f"{ATOM}content")
        assert len(content) <= 1
        assert content or entry.find(f"{ATOM}summary") is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in feed.findall(f"{ATOM}entry")]
    assert len(set(ids)) == len(ids)
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    [own] = [link for link in feed.findall(f"{ATOM}link") if link.get("rel") == "self"]
    assert own.get("href") == f"{SITE}/archive/feed.xml"


def check_json_feed(feed):
    """What version 1.1 of JSON Feed demands."""
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"]
    for name in ("home_page_url", "feed_url", "icon"):
        assert feed.get(name, "https://").startswith("https://")
    assert all(author.get("name") for author in feed["authors"])
    for item in feed["items"]:
        assert isinstance(item["id"], str)
        assert item["id"]
        assert "content_html" in item or "content_text" in item
        assert item["url"].startswith(SITE)
        for name in ("date_published", "date_modified"):
            assert datetime.fromisoformat(item[name]).tzinfo
        assert all(value not in ("", None) for value in item.values())
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])


def test_both_feeds_are_valid_and_say_everything(http):
    id = published("A & B <c>", body=BODY, format=Format.MARKDOWN, preheader="Psst & co").campaign.id
    published("Second")
    check_atom(atom(http))
    check_json_feed(json.loads(http.get("/archive/feed.json").text))
    read = feedparser.parse(http.get("/archive/feed.xml").text)
    assert not read.bozo
    entry = read.entries[1]
    assert (entry.title, entry.link, entry.id) == ("A & B <c>", f"{SITE}/archive/{id}", f"urn:uuid:{id}")
    assert entry.summary == "Psst & co"
    [content] = entry.content
    assert content.type == "text/html"
    item = items(http)[1]
    for html in (content.value, item["content_html"]):
        assert "Hi friend" in html
        assert f'href="{SITE}/about"' in html
        assert f'src="{SITE}/media/abc.png"' in html
    assert (item["title"], item["summary"], item["image"]) == ("A & B <c>", "Psst & co", f"{SITE}/media/abc.png")


def test_feeds_hold_nothing_of_one_reader(http):
    published(body="<p>Hi {{nickname|you}}, \\{{ok}}</p>")
    for path in ("/archive/feed.xml", "/archive/feed.json"):
        text = http.get(path).text
        assert "Hi you, {{ok}}" in text
        assert "token=" not in text
        assert "/api/unsubscribe" not in text


def test_empty_feeds_are_valid(http):
    check_atom(atom(http))
    check_json_feed(json.loads(http.get("/archive/feed.json").text))


def test_characters_that_xml_has_no_room_for_do_not_break_the_feed(http):
    published("Bell", body="<p>a\x0bb\ufffe &#x0; &#11; ]]&gt; c</p>")
    [entry] = feedparser.parse(http.get("/archive/feed.xml").text).entries
    assert "]]" in entry.content[0].value
    check_atom(atom(http))


def test_feeds_have_the_latest_twenty(http, monkeypatch):
    monkeypatch.setattr(archive_feeds, "LATEST", 3)
    for number in range(5):
        published(f"No {number}")
    assert [item["title"] for item in items(http)] == ["No 4", "No 3", "No 2"]
    assert [entry.findtext(f"{ATOM}title") for entry in atom(http).findall(f"{ATOM}entry")] == [
        "No 4",
        "No 3",
        "No 2",
    ]


def test_what_would_make_a_feed_too_large_is_told_by_its_beginning(http, monkeypatch):
    monkeypatch.setattr(archive_feeds, "MOST_BYTES", 400)
    published("Old and short", body="<p>brief</p>")
    published("Long", body=f"<p>{'word ' * 200}</p>")
    published("New and short", body="<p>brief</p>")
    check_atom(atom(http))
    check_json_feed(json.loads(http.get("/archive/feed.json").text))
    assert ["content_html" in item for item in items(http)] == [True, False, True]
    assert items(http)[1]["content_text"].startswith("word word")
    long = atom(http).findall(f"{ATOM}entry")[1]
    assert long.find(f"{ATOM}content") is None
    assert long.findtext(f"{ATOM}summary").startswith("word word")


@pytest.mark.parametrize("path", ["/archive/feed.xml", "/archive/feed.json"])
def test_who_has_seen_a_feed_already_gets_no_body_until_it_changes(http, admin, path):
    id = published("First").campaign.id
    first = http.get(path)
    tag = first.headers["ETag"]
    again = http.get(path, headers={"If-None-Match": tag})
    assert (again.status, again.text) == (304, "")
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"] == "public, max-age=30, must-revalidate"
    published("Second")
    second = http.get(path, headers={"If-None-Match": tag})
    assert (second.status, second.headers["ETag"] != tag) == (200, True)
    assert admin.patch(f"/admin/api/campaigns/{id}", json={"hidden": True}).status == 200
    assert http.get(path, headers={"If-None-Match": second.headers["ETag"]}).status == 200


def test_the_sitemap_names_every_public_page(http):
    assert addresses(http) == [f"{SITE}/"]
    ids = [published(f"No {number}").campaign.id for number in range(3)]
    published("Secret", targeting=Targeting(tags=Terms(any=("vip",))))
    assert addresses(http) == [f"{SITE}/", f"{SITE}/archive", *(f"{SITE}/archive/{id}" for id in reversed(ids))]
    assert http.get("/sitemap.xml").headers["Content-Type"] == "application/xml; charset=utf-8"


def test_a_sitemap_that_would_be_too_large_is_a_list_of_several(http, monkeypatch):
    monkeypatch.setattr(feed_handlers, "PER_SITEMAP", 2)
    ids = [published(f"No {number}").campaign.id for number in range(3)]
    parts = addresses(http)
    assert parts == [f"{SITE}/sitemap.xml?part=1", f"{SITE}/sitemap.xml?part=2"]
    found = [address for part in parts for address in addresses(http, part.removeprefix(SITE))]
    assert found == [f"{SITE}/", f"{SITE}/archive", *(f"{SITE}/archive/{id}" for id in reversed(ids))]
    for part in ("0", "3", "x", "-1", "99999", "²"):
        assert http.get(f"/sitemap.xml?part={part}").status == 404


def test_a_sitemap_of_the_largest_size_fits_into_an_answer_of_lambda():
    largest = len(f"<url><loc>https://{'x' * 100}/archive/{'0' * 36}</loc><lastmod>{'0' * 24}</lastmod></url>\n")
    assert largest * feed_handlers.PER_SITEMAP < 6_000_000


def test_robots_may_read_what_is_public_and_nothing_mailed(http):
    answer = http.get("/robots.txt")
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert lines[0] == "User-agent: *"
    for private in ("/admin", "/api/", "/confirm", "/profile", "/never", "/resume"):
        assert f"Disallow: {private}" in lines
    assert "Allow: /" in lines
    assert f"Sitemap: {SITE}/sitemap.xml" in lines


def test_without_an_archive_there_are_no_feeds_and_the_sitemap_is_the_first_page(http, configure):
    published("Secret")
    configure(ARCHIVE="false")
    for path in ("/archive/feed.xml", "/archive/feed.json", "/archive?q=secret"):
        assert http.get(path).status == 404
    assert addresses(http) == [f"{SITE}/"]
    assert http.get("/robots.txt").status == 200
    assert "/archive" not in http.get("/").text
