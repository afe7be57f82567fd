import html
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.campaigns import personal, renderer
from chalicelib.campaigns.model import Aim, Campaign, Content, Format, Terms, Whole
from chalicelib.kernel.errors import Misconfigured
from chalicelib.mail import render

NOW = datetime(2026, 11, 16, tzinfo=UTC)
ID = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
TOKEN = "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e.abcdefghijklmnopqrstuvwxyz123456"


def whole(body: str, text: str | None = None, **changes: Any) -> Whole:
    fields = {"subject": "News", **changes}
    return Whole(Campaign(ID, created_at=NOW, updated_at=NOW, **fields), Content(body, text), ())


def mailed(body: str, nickname: str | None = "Ana", text: str | None = None, **changes: Any) -> Any:
    return renderer.rendered(whole(body, text, **changes)).message("reader@example.org", nickname, TOKEN)


def words(page: str) -> str:
    """What a reader sees."""
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data)

    Reader().feed(page.partition("<body")[2])
    return "".join(seen)


def test_the_message_has_both_parts_and_every_header_a_list_needs():
    message = mailed("<p>Hello <b>you</b></p>")
    assert "Hello <b>you</b>" in message.html
    assert message.text.startswith("Hello you\n")
    assert message.headers == {
        "List-Id": "The Daily Test <newsletter.news.example.org>",
        "List-Unsubscribe": f"<https://news.example.org/api/unsubscribe?token={TOKEN}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def test_the_footer_has_the_ways_out_and_the_sender(configure):
    configure(POSTAL_ADDRESS="12 Some Street, Berlin")
    message = mailed("<p>Hi</p>")
    for part in (message.html, message.text):
        assert f"https://news.example.org/api/unsubscribe?token={TOKEN}" in part
        assert "https://news.example.org/profile" in part
        assert "hello@example.org" in part
        assert "12 Some Street, Berlin" in part
        assert f"https://news.example.org/archive/{ID}" in part


def test_a_mail_to_some_or_without_an_archive_links_to_none(configure):
    assert "/archive/" not in mailed("<p>Hi</p>", aim=Aim(tags=Terms(any=("vip",)))).html
    configure(ARCHIVE="false")
    assert "/archive/" not in mailed("<p>Hi</p>").html


def test_the_page_is_made_for_mail_programs():
    page = mailed("<p>Hi there</p>", preheader="A look inside").html
    assert '<html lang="en"' in page
    assert "A look inside" in page
    assert "max-width: 600px" in page
    assert '<!--[if mso]><table role="presentation" width="600"' in page
    assert "prefers-color-scheme: dark" in page
    assert all('role="presentation"' in table for table in re.findall(r"<table[^>]*>", page))
    assert '<p style="' in page
    assert "\ufdd0" not in page
    assert not re.search("[\ufdd0-\ufdef]", page)


def test_without_a_preheader_the_first_words_are_shown():
    page = mailed("<p>" + "word " * 100 + "</p>").html
    shown = re.search(r'class="preheader"[^>]*>([^\u2007]*)', page)[1]
    assert shown.startswith("word word")
    assert len(shown) <= 121


def test_the_subject_is_the_title_unless_the_body_has_one():
    assert words(mailed("<p>Hi</p>", subject="Big news").html).count("Big news") == 1
    assert "Big news" not in words(mailed("<h1>Other</h1>", subject="Big news").html)


@pytest.mark.parametrize(
    ("written", "with_nickname", "without"),
    [
        ("Hi {{nickname|there}}!", "Hi Ana!", "Hi there!"),
        ("Hi{{ nickname }}!", "HiAna!", "Hi!"),
        ("{{greeting}}!", "Hi, Ana!", "Hi!"),
        ("{{greeting|Good morning}}.", "Good morning, Ana.", "Good morning."),
        ("{{nickname|R&amp;D}}", "Ana", "R&D"),
        ("{{{nickname|you}}}", "{Ana}", "{you}"),
        ("\\{{nickname|you}}", "\\Ana", "\\you"),
        ("{{nickname|a}}{{nickname|b}}", "AnaAna", "ab"),
    ],
)
def test_personal_words_and_their_fallbacks(written, with_nickname, without):
    for nickname, expected in (("Ana", with_nickname), (None, without)):
        message = mailed(f"<p>{written}</p>", nickname)
        assert expected in words(message.html)
        assert message.text.startswith(expected + "\n")
    subject = html.unescape(written)
    assert mailed("<p>x</p>", "Ana", subject=f"S {subject}").subject == f"S {with_nickname}"


def test_a_nickname_cannot_bring_markup_lines_or_holes():
    written = {"subject": "For {{nickname}}", "preheader": "To {{nickname}}"}
    message = mailed("<p>Hi {{nickname}}</p>", "<b>{{token}}</b>\r\nX: y", **written)
    assert "Hi &lt;b&gt;{{token}}&lt;/b&gt; X: y" in message.html
    assert "To &lt;b&gt;{{token}}&lt;/b&gt; X: y" in message.html
    assert "<title>For &lt;b&gt;{{token}}&lt;/b&gt; X: y</title>" in message.html
    assert "<b>{{" not in message.html
    assert "Hi <b>{{token}}</b> X: y" in message.text
    assert message.subject == "For <b>{{token}}</b> X: y"


@pytest.mark.parametrize(
    "typed",
    ["{{", "{{name}}", "{{{x}}}", "}}", "{{#if a}}b{{/if}}", "\\{{x}}", "{{token}}", "{{b0}}", "{{ }}", "{{nickname",
     "{{> partial}}", "{{!-- c --}}", "{{nickname.first}}"],
)  # fmt: skip
def test_braces_arrive_as_typed(typed):
    markup = html.escape(typed)
    message = mailed(f"<p>see {markup} here</p>", subject=f"S {typed} s")
    assert f"see {typed} here" in words(message.html)
    assert f"see {typed} here" in message.text
    assert message.subject == f"S {typed} s"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="{}\\ab|nickme ", max_size=40))
def test_any_run_of_braces_leaves_only_our_own_holes(typed):
    """What SES would read as a hole is one of ours, whatever the author typed."""
    mailing = renderer.rendered(whole("<p>x</p>", text=f"a{typed}z", subject=f"a{typed}z"))
    known = mailing.values("Ana", TOKEN)
    for template in (mailing.subject, mailing.text, mailing.html):
        left = re.sub(r"\{\{(\w+)\}\}", lambda match: "" if match[1] in known else match[0], template)
        assert "{{" not in left
        assert "\\{{" not in template
        assert "{{{" not in template


def test_a_personal_word_in_an_address_stays_as_typed():
    page = mailed('<p><a href="https://example.org/?n={{nickname}}" title="{{nickname}}">x</a></p>', "Ana").html
    assert "n={{nickname}}" in page
    assert 'title="Ana"' in page


def test_every_reader_gets_every_value():
    mailing = renderer.rendered(whole("<p>{{nickname}} {{ {{greeting}}</p>"))
    holes = set(re.findall(r"\{\{(\w+)\}\}", mailing.subject + mailing.html + mailing.text))
    assert holes <= set(mailing.values(None, TOKEN))
    assert json.dumps(mailing.values("Ü", TOKEN))


def test_markdown_is_taken_and_raw_html_in_it_is_cleaned():
    source = "# Hi\n\n*so* **it** ~~goes~~ <script>x</script>\n\n| a | b |\n|---|---|\n| {{nickname|you}} | 2 |"
    message = mailed(source, format=Format.MARKDOWN)
    for piece in ("<em>so</em>", "<strong>it</strong>", "<del>goes</del>", ">Ana</td>"):
        assert piece in message.html
    assert "script" not in message.html


def test_the_author_is_told_what_went():
    body = (
        '<p onclick="x()" style="position:fixed;color:red">a</p><script>b</script><iframe src="https://x"></iframe>'
        '<form action="/x"><input name="y"></form><a href="javascript:alert(1)">c</a>'
        '<img src="data:image/png;base64,x">'
    )
    mailing = renderer.rendered(whole(body))
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


def test_nothing_went_so_nothing_is_told():
    body = '<h2>Hi</h2><p style="color: red">a <a href="https://example.org">b</a><br>'
    body += '<img src="https://x/y.png" alt="z"></p>'
    assert renderer.rendered(whole(body)).removed == ()


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
        body = renderer._body(format, attack, personal.Wishes())[0]
        assert not re.search(
            r"<script|onerror=|onload=|javascript:|<style|<link|<base|<meta|url\(|expression|<object", body
        )


def test_relative_addresses_become_absolute():
    page = mailed('<a href="/a?b=1&amp;c=2">a</a><a href="//cdn.example.org/x">b</a><img src="i.png" alt="">').html
    assert 'href="https://news.example.org/a?b=1&amp;c=2"' in page
    assert 'href="https://cdn.example.org/x"' in page
    assert 'src="https://news.example.org/i.png"' in page


def test_the_plain_twin_keeps_words_order_and_addresses():
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


def test_preview_test_mail_and_sending_are_the_same_bytes_and_the_archive_only_lacks_the_readers_part():
    mailing = renderer.rendered(whole("<p>{{greeting}} {{x}}</p>"))
    sent = mailing.message("a@example.org", None, TOKEN)
    filled = re.sub(r"\{\{(\w+)\}\}", lambda match: mailing.values(None, TOKEN)[match[1]], mailing.html)
    assert sent.html == filled
    again = renderer.rendered(whole("<p>{{greeting}} {{x}}</p>"))
    assert again == mailing
    without = re.sub(r"<a [^>]*>Read on the web</a>|<p[^>]*>You are reading this because.*?</p>", "", sent.html)
    assert mailing.archived() == without


def test_the_archived_page_has_nothing_of_one_reader():
    page = renderer.rendered(whole("<p>Hi {{nickname|friend}}</p>")).archived()
    assert "Hi friend" in page
    for private in ("unsubscribe", "token", "/profile", "{{"):
        assert private not in page


def test_a_deployment_s_own_template_wins_and_only_where_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "own" / "email").mkdir(parents=True)
    (tmp_path / "email").symlink_to(render._TEMPLATES / "email")
    (tmp_path / "own" / "email" / "campaign.html").write_text(
        "<style>p { color: red }</style><h1>Ours</h1>{{ body }}"
        "{{ one_reader_starts }}<a href='{{ unsubscribe_url }}'>Out</a>{{ one_reader_ends }}"
    )
    monkeypatch.setattr(render, "_TEMPLATES", tmp_path)
    render.environment.cache_clear()
    try:
        message = mailed("<p>Hi {{nickname}}</p>")
    finally:
        render.environment.cache_clear()
    assert '<h1>Ours</h1><p style="color: red;">Hi Ana</p>' in message.html
    assert f"token={TOKEN}" in message.html
    assert "You are reading this because" in message.text  # the plain twin is still the house's


def test_an_own_template_without_a_way_out_is_refused(monkeypatch):
    from jinja2 import DictLoader

    environment = render.environment().overlay(
        loader=DictLoader({"campaign.html": "{{ body }}", "campaign.txt": "x"})
    )
    monkeypatch.setattr(render, "environment", lambda: environment)
    with pytest.raises(Misconfigured, match="unsubscribe_url"):
        renderer.rendered(whole("<p>x</p>"))


def test_an_own_template_that_would_publish_a_readers_link_is_refused(monkeypatch):
    from jinja2 import DictLoader

    own = {"campaign.html": "{{ body }}{{ unsubscribe_url }}", "campaign.txt": "{{ unsubscribe_url }}"}
    environment = render.environment().overlay(loader=DictLoader(own))
    monkeypatch.setattr(render, "environment", lambda: environment)
    with pytest.raises(Misconfigured, match="one_reader"):
        renderer.rendered(whole("<p>x</p>"))


def test_a_name_beyond_ascii_makes_headers_that_are_ascii(configure):
    configure(SITE_NAME="Die Tägliche Prüfung")
    assert all(value.isascii() for value in mailed("<p>x</p>").headers.values())


def test_a_long_hostile_text_is_rendered_in_no_time():
    import time

    started = time.perf_counter()
    mailed("<p>" + "{}" * 100_000 + "\\" * 100_000 + "</p>")
    assert time.perf_counter() - started < 2


def test_joined_emoji_may_stand_in_a_subject_and_a_nickname():
    assert mailed("<p>x</p>", "👩‍💻", subject="👨‍👩‍👧 {{nickname}}").subject == "👨‍👩‍👧 👩‍💻"
