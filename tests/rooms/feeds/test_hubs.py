"""Which hub is asked, where its redirects lead, and what it may ask in return."""

from urllib.parse import parse_qs, urlencode

import pytest

from chalicelib.feeds import jobs, service, websub_store
from chalicelib.feeds.reading import links
from chalicelib.feeds.state import WATCHED, Trigger
from chalicelib.feeds.websub_store import Standing
from tests.rooms.feeds.parsing import parse

BASE = "https://blog.example.org/feed.xml"
JSON = '{{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [], "hubs": {}}}'


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ('<https://h.org/>; rel="hub", </me>; rel=self', ("https://h.org/", "/me")),
        ('<https://h.org/>;rel=hub,</me>;rel="self"', ("https://h.org/", "/me")),
        ('</a>; title="x, <y>; rel=hub; \\" z"; rel="next", <https://h.org/>; rel=hub', ("https://h.org/", "")),
        ("<https://h.org/?a=1,2;b=3>; rel=hub", ("https://h.org/?a=1,2;b=3", "")),
        ('<https://h.org/>; rel="alternate hub"; rel=next, </me>; REL=SELF', ("https://h.org/", "/me")),
        ("<http://h.org/>; rel=hub, <https://s.org/>; rel=hub", ("https://s.org/", "")),
        ("<javascript:x>; rel=hub, <https://h.org/>; rel=hub", ("https://h.org/", "")),
        ('<https://h.org/>; rel=hub; anchor="/other"', ("", "")),
        ("<https://h.org/>; crossorigin; rel=hub ; x=y junk, </i>; rel=hub", ("https://h.org/", "")),
        ('<https://h.org/>; rel="hub', ("", "")),
        ("no brackets; rel=hub", ("", "")),
        ("<" * 9000, ("", "")),
        ("<>;" * 9000, ("", "")),
        ("", ("", "")),
    ],
)
def test_the_links_of_a_header(header, found):
    hub, topic = links.choose(links.parse_header(header), BASE)
    assert (hub, topic.removeprefix("https://blog.example.org")) == found


def test_every_link_header_is_read(aws, blog):
    several = ["</wp-json/>; rel=https://api.w.org/", "<https://h.example.org/>; rel=hub", "</s?p=1>; rel=shortlink"]
    blog.answer = (200, {"Link": several}, blog.feed())
    service.check(Trigger.ADMIN)
    assert service.view().state.hub == "https://h.example.org/"


@pytest.mark.parametrize(
    ("hubs", "hub"),
    [
        ('[{"type": "rssCloud", "url": "https://c.example.org/"}, {"type": "websub", "url": "/h"}]', "/h"),
        ('[{"type": "WebSub", "url": "https://blog.example.org/h"}]', "/h"),
        ('[{"type": "rssCloud", "url": "/c"}]', ""),
        ('[{"url": "/h"}]', ""),
        ('[{"type": "WebSub", "url": [1]}, 2, null, [], "x"]', ""),
        ("1", ""),
        ('"x"', ""),
        ('{"type": "WebSub", "url": "/h"}', ""),
        ("null", ""),
    ],
)
def test_only_websub_hubs_of_a_json_feed_are_taken(hubs, hub):
    assert parse(JSON.format(hubs)).hub.removeprefix("https://blog.example.org") == hub


def asked(blog) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(blog.posted[-1][1].decode()).items()}


@pytest.mark.parametrize("status", [307, 308])
def test_a_hub_that_has_moved_is_asked_at_its_new_place(http, blog, status):
    blog.hub, blog.moved = f"{blog.url}/hub", {"/hub": (status, "/new"), "/new": (307, f"{blog.url}/newer")}
    jobs.on_schedule()
    assert [path for path, _ in blog.posted] == ["/hub", "/new", "/newer"]
    assert len({body for _, body in blog.posted}) == 1
    assert asked(blog)["hub.mode"] == "subscribe"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_does_not_say_to_repeat_the_request_is_not_followed(http, blog, status):
    blog.hub, blog.moved = f"{blog.url}/hub", {"/hub": (status, "/new")}
    jobs.on_schedule()
    assert [path for path, _ in blog.posted] == ["/hub"]


def test_a_circle_of_hubs_ends(http, blog):
    blog.hub, blog.moved = f"{blog.url}/hub", {"/hub": (307, "/hub")}
    jobs.on_schedule()
    assert len(blog.posted) == 4


def test_a_challenge_that_is_too_long_is_refused_and_confirms_nothing(http, blog):
    blog.hub = f"{blog.url}/hub"
    jobs.on_schedule()
    form = asked(blog)
    path = form["hub.callback"].removeprefix("https://news.example.org")

    def answer(challenge: str):
        query = {"hub.mode": "subscribe", "hub.topic": form["hub.topic"], "hub.challenge": challenge}
        return http.get(f"{path}?{urlencode(query)}")

    assert answer("c" * 1025).status == 400
    assert websub_store.list_subscriptions(WATCHED)[0].standing is Standing.ASKED
    longest = answer("c" * 1024)
    assert (longest.status, longest.text) == (200, "c" * 1024)
    assert websub_store.list_subscriptions(WATCHED)[0].standing is Standing.ACTIVE
