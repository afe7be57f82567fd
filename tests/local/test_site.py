"""The demo blog: what it shows, what it feeds, and that everything else is still the app's."""

from xml.etree import ElementTree

import pytest

from local.blog.site import Site
from local.gateway.gateway import Answer
from local.gateway.web import _for_own_host_only

MAILBOX = "http://127.0.0.1:8025/"


@pytest.fixture
def asked():
    return []


@pytest.fixture
def site(tmp_path, asked):
    def app(method, target, headers, body, source_ip):
        asked.append((method, target))
        return Answer(299, [], b"")

    return Site(tmp_path, app, lambda: asked.append("looked"), MAILBOX)


def ask(site, method, target, body=b"", **headers):
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return site.handle(method, target, pairs, body, "127.0.0.1")


def titles(site):
    feed = ElementTree.fromstring(ask(site, "GET", "/demo/feed.xml").body)
    return [item.findtext("title") for item in feed.iter("item")]


def test_the_blog_is_below_its_own_path_and_leaves_the_first_page_to_the_app(site, asked):
    answer = ask(site, "GET", "/demo")
    assert (answer.status, dict(answer.headers)["Location"]) == (303, "/demo/")
    for path in ("/", "/posts/x", "/feed.xml", "/style.css", "/demonstration"):
        assert ask(site, "GET", path).status == 299
    assert [target for _, target in asked] == ["/", "/posts/x", "/feed.xml", "/style.css", "/demonstration"]


def test_the_front_page_has_the_posts_and_the_form(site):
    page = ask(site, "GET", "/demo/?x=1").body.decode()
    assert "/embed.js" in page
    assert all(title in page for title in titles(site))


def test_a_published_post_is_on_the_page_in_the_feed_and_kept(site, tmp_path, asked):
    answer = ask(site, "POST", "/demo/publish", b"title=Snow+%3Cb%3E&text=One%0A%0ATwo")
    assert answer.status == 303
    assert titles(site)[0] == "Snow <b>"
    assert "Snow &lt;b&gt;" in ask(site, "GET", "/demo/").body.decode()
    assert titles(Site(tmp_path, site._otherwise, lambda: None, MAILBOX))[0] == "Snow <b>"
    assert asked[0] == "looked"


def test_it_says_that_publishing_worked_and_where_to_look(site):
    answer = ask(site, "POST", "/demo/publish", b"title=Snow+%3Cb%3E")
    page = ask(site, "GET", dict(answer.headers)["Location"].partition("#")[0]).body.decode()
    assert "Published: Snow &lt;b&gt;" in page
    assert 'role="status"' in page
    nowhere = ask(site, "GET", "/demo/?published=none").body.decode()
    assert "Published" not in nowhere
    assert MAILBOX in nowhere


def test_a_post_without_a_title_is_not_published_and_the_page_says_so(site, asked):
    before = titles(site)
    answer = ask(site, "POST", "/demo/publish", b"title=+++&text=x")
    page = ask(site, "GET", dict(answer.headers)["Location"].partition("#")[0]).body.decode()
    assert "a post needs a title" in page
    assert (titles(site), asked) == (before, [])


def test_every_page_has_one_heading_of_the_first_level_and_links_to_the_mailbox(site):
    link = ElementTree.fromstring(ask(site, "GET", "/demo/feed.xml").body).find("channel/item/link").text
    for path in ("/demo/", link.removeprefix("https://news.example.org")):
        page = ask(site, "GET", path).body.decode()
        assert page.count("<h1") == 1
        assert f'href="{MAILBOX}"' in page


def test_a_post_has_a_page_of_its_own(site):
    feed = ElementTree.fromstring(ask(site, "GET", "/demo/feed.xml").body)
    link = feed.find("channel/item/link").text.removeprefix("https://news.example.org")
    assert ask(site, "GET", link).status == 200
    assert ask(site, "GET", "/demo/posts/none").status == 299


def test_another_site_cannot_publish(site):
    before = titles(site)
    assert ask(site, "POST", "/demo/publish", b"title=Spam", Sec_Fetch_Site="cross-site").status == 403
    assert titles(site) == before


def test_everything_else_is_the_apps(site, asked):
    assert ask(site, "GET", "/health").status == 299
    assert ask(site, "GET", "/").status == 299
    assert ask(site, "POST", "/demo").status == 299
    assert asked == [("GET", "/health"), ("GET", "/"), ("POST", "/demo")]


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1:8000", 299), ("localhost", 299), ("evil.example", 421)])
def test_a_host_name_pointed_to_our_address_gets_nothing(site, host, status):
    assert _for_own_host_only(site.handle)("GET", "/admin", [("Host", host)], b"", "127.0.0.1").status == status
