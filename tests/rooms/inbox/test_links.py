"""Which links lead to the same thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.inbox import links

ARTICLE = "https://example.org/2026/11/frost"
VIDEO = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
EPISODE = "https://open.spotify.com/episode/512ojhOuo1ktJprKbVcKyQ"


@pytest.mark.parametrize(
    ("url", "other"),
    [
        (ARTICLE, "http://example.org/2026/11/frost"),
        (ARTICLE, "https://www.example.org/2026/11/frost/"),
        (ARTICLE, "https://EXAMPLE.org:443/2026/11/frost#comments"),
        (ARTICLE, "https://m.example.org/2026/11/frost"),
        ("https://en.wikipedia.org/wiki/Frost", "https://en.m.wikipedia.org/wiki/Frost"),
        ("https://en.example.org:8080/a", "https://en.mobile.example.org:8080/a"),
        ("https://example.co.uk/a", "https://m.example.co.uk/a"),
        (ARTICLE, "https://example.org/2026/11/frost/amp/"),
        (ARTICLE, "https://example.org/2026/11/frost?amp=1"),
        (ARTICLE, "https://amp.example.org/2026/11/frost"),
        (ARTICLE, "https://example.org/2026/11/frost.amp"),
        (ARTICLE, "https://example-org.cdn.ampproject.org/c/s/example.org/2026/11/frost"),
        (ARTICLE, "https://www.google.com/amp/s/example.org/2026/11/frost"),
        (ARTICLE, f"{ARTICLE}?utm_source=x&utm_medium=email&fbclid=1&mc_eid=2"),
        (f"{ARTICLE}?page=2", f"{ARTICLE}?gclid=x&page=2&UTM_Campaign=y"),
        ("https://example.org/caf%C3%A9", "https://example.org/caf%c3%a9"),
        ("https://example.org/café", "https://example.org/caf%C3%A9"),
        (VIDEO, "https://youtu.be/dQw4w9WgXcQ?si=abc&t=42"),
        (VIDEO, "https://m.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ&list=PL1&index=3"),
        (VIDEO, "https://www.youtube.com/shorts/dQw4w9WgXcQ?feature=share"),
        (VIDEO, "https://music.youtube.com/watch?v=dQw4w9WgXcQ"),
        (VIDEO, "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"),
        (EPISODE, "https://open.spotify.com/intl-de/episode/512ojhOuo1ktJprKbVcKyQ?si=9f"),
    ],
)
def test_these_are_one(url, other):
    assert links.identify(url) == links.identify(other)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        (ARTICLE, "https://example.org/2026/11/Frost"),
        (ARTICLE, f"{ARTICLE}?page=2"),
        (ARTICLE, "https://example.com/2026/11/frost"),
        (ARTICLE, "https://example.org:8080/2026/11/frost"),
        (VIDEO, "https://www.youtube.com/watch?v=aaaaaaaaaaa"),
        ("https://www.com/a", "https://com/a"),
        ("https://a.m.com/a", "https://a.com/a"),
        ("https://m.co.uk/a", "https://co.uk/a"),
        ("https://shop.m.co.uk/a", "https://shop.co.uk/a"),
        ("https://en.amp.example.org/a", "https://en.example.org/a"),
        ("https://example.org/wiki/AMP", "https://example.org/wiki"),
        ("https://example.org/?p=1", "https://example.org/?p=2"),
        ("https://example.org/a/amplifier", "https://example.org/a"),
        ("https://www.youtube.com/@one", "https://www.youtube.com/@two"),
    ],
)
def test_these_are_two(url, other):
    assert links.identify(url) != links.identify(other)


@pytest.mark.parametrize(
    "url",
    [
        *("", "https://example.org", "https://www.example.org/?utm_source=x", "ftp://example.org/a", "mailto:a@b"),
        *("https://[::1", "https:///a", "https://example.org:99999/a"),
    ],
)
def test_what_names_no_page_has_no_identity(url):
    assert links.identify(url) is None


def test_a_shown_link_keeps_what_changes_the_page():
    shown = links.without_tracking("https://Example.org/a/?page=2&utm_source=x&q=a%20b&fbclid=1#part")
    assert shown == "https://Example.org/a/?page=2&q=a%20b"


@given(st.text(max_size=200) | st.text(max_size=100).map(lambda text: f"https://example.org/{text}"))
def test_any_text_has_an_identity_or_none(text):
    identity = links.identify(text)
    if identity is not None:
        assert len(links.item_id(identity)) == 32
    links.without_tracking(text)
