"""What a site embeds."""

import re


def test_the_script_is_small_cached_and_versioned(http):
    answer = http.get("/embed.js")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert len(answer.body) < 9 * 1024  # half of it is the texts of seven languages
    assert answer.headers["Cache-Control"] == "public, max-age=30"  # it says the publication's language
    assert "max-age=31536000" in http.get("/embed.js?v=1").headers["Cache-Control"]
    again = http.get("/embed.js", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_the_page_without_script_may_be_framed_by_allowed_sites_only(http):
    page = http.get("/subscribe?source=blog")
    assert page.status == 200
    assert 'action="https://news.example.org/api/subscribe"' in page.text
    assert 'name="source" value="blog"' in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self' https://blog.example.org https://www.example.org" in policy
    assert page.headers["X-Frame-Options"] is None
    assert "frame-ancestors 'none'" in http.get("/profile").headers["Content-Security-Policy"]


def test_a_source_that_is_none_is_refused_and_not_shown(http):
    answer = http.get("/subscribe?source=" + "<x>" * 40)
    assert answer.status == 400
    assert "<x>" not in answer.text


def test_the_look_takes_the_sites_colour_and_readable_ink(http, configure):
    configure(SITE_COLOR="#ffee00")
    style = http.get("/style.css").text
    assert "--accent: #ffee00" in style
    assert "--on-accent: #111827" in style
    assert 'fill="#ffee00"' in http.get("/icon.svg").text


def test_every_page_is_labelled_and_needs_no_script(http):
    for path in (
        "/subscribe",
        "/subscribed",
        "/confirmed",
        "/profile",
        "/confirm?token=x",
        "/api/unsubscribe?token=x",
    ):
        page = http.get(path).text
        assert "<script" not in page
        assert '<html lang="en">' in page
        assert 'name="viewport"' in page
        assert len(re.findall(r"<h1", page)) == 1
        for name in re.findall(r'<input type="(?:text|email)" id="([^"]+)"', page):
            assert f'for="{name}"' in page
