"""Which markup of an author gets into an email, and how the rest is reported."""

import re

import pytest

from chalicelib.campaigns.content import body, placeholders, renderer
from chalicelib.campaigns.model import Format
from tests.rooms.campaigns.rendering import detail, mailed


def test_markdown_is_taken_and_raw_html_in_it_is_cleaned():
    source = "# Hi\n\n*so* **it** ~~goes~~ <script>x</script>\n\n| a | b |\n|---|---|\n| {{nickname|you}} | 2 |"
    message = mailed(source, format=Format.MARKDOWN)
    for piece in ("<em>so</em>", "<strong>it</strong>", "<del>goes</del>", ">Ana</td>"):
        assert piece in message.html
    assert "script" not in message.html


def test_what_was_removed_is_reported():
    body = (
        '<p onclick="x()" style="position:fixed;color:red">a</p><script>b</script><iframe src="https://x"></iframe>'
        '<form action="/x"><input name="y"></form><a href="javascript:alert(1)">c</a>'
        '<img src="data:image/png;base64,x">'
    )
    mailing = renderer.render(detail(body))
    assert set(mailing.removed) >= {
        "<script> (1×)",
        "<iframe> (1×)",
        "<form> (1×)",
        "javascript: addresses",
        "data: addresses",
        "onclick on <p>",
        "style position",
    }
    for gone in ("onclick", "<script", "<iframe", "<form", "<input", "javascript:", "data:image", "position"):
        assert gone not in mailing.html
    assert "color:red" in mailing.html.replace(" ", "")


def test_nothing_removed_is_nothing_reported():
    body = '<h2>Hi</h2><p style="color: red">a <a href="https://example.org">b</a><br>'
    body += '<img src="https://x/y.png" alt="z"></p>'
    assert renderer.render(detail(body)).removed == ()


@pytest.mark.parametrize(
    "attack",
    [
        "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<math><mtext></p><script>alert(1)</script>",
        "<a href=' javascript:alert(1)'>x</a>", "<a href='java\nscript:alert(1)'>x</a>", "<style>@import 'x'</style>",
        "<link rel=stylesheet href=https://x>", "<base href=https://x>", "<meta http-equiv=refresh content=0>",
        "<object data=x></object>", "<p style=\"background:url(https://x)\">a", "<p style='width:expression(1)'>",
        "<noscript><p title='</noscript><script>alert(1)</script>'>", "<textarea><script>alert(1)</script>",
        "<!--><script>alert(1)</script>-->", "<img src='https://x' style='behavior:url(x)'>",
    ],
)  # fmt: skip
def test_nothing_that_acts_or_calls_home_gets_through(attack):
    for format in Format:
        clean = body.read(format, attack, placeholders.Placeholders()).html
        assert not re.search(
            r"<script|onerror=|onload=|javascript:|<style|<link|<base|<meta|url\(|expression|<object", clean
        )


def test_relative_addresses_become_absolute():
    page = mailed('<a href="/a?b=1&amp;c=2">a</a><a href="//cdn.example.org/x">b</a><img src="i.png" alt="">').html
    assert 'href="https://news.example.org/a?b=1&amp;c=2"' in page
    assert 'href="https://cdn.example.org/x"' in page
    assert 'src="https://news.example.org/i.png"' in page


def test_the_plain_text_keeps_words_order_and_addresses():
    body = (
        "<h2>Title</h2><p>One <a href='https://example.org/a'>link</a>,<br>a line.</p>"
        "<ul><li>first</li><li>second<ul><li>deep</li></ul></li></ul><ol start='3'><li>three</li></ol>"
        "<blockquote><p>Said</p></blockquote><pre>a\n  b</pre><hr><img src='https://x/y.png' alt='A cat'>"
        "<p><a href='https://example.org/'>https://example.org</a> &amp; <a href='mailto:x@example.org'>mail</a></p>"
    )
    text = mailed(body).text.partition("\n\n\n--\n")[0]
    assert text == (
        "Title\n\nOne link (https://example.org/a),\na line.\n\n- first\n- second\n  - deep\n\n3. three\n\n> Said\n\n"
        "a\n  b\n\n----------\n\n[A cat]\n\nhttps://example.org & mail (x@example.org)"
    )


def test_the_authors_own_text_is_used_when_given():
    assert mailed("<p>HTML</p>", text="Hi {{nickname|you}}, <plain> & simple").text.startswith(
        "Hi Ana, <plain> & simple\n"
    )
