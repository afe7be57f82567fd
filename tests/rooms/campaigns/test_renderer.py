"""The one renderer: the message, its page, templates of one's own, and the archive."""

import re

import pytest

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.kernel.errors import Misconfigured
from chalicelib.mail import templates
from tests.rooms.campaigns.rendering import ID, TOKEN, detail, mailed, words


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
    assert "/archive/" not in mailed("<p>Hi</p>", targeting=Targeting(tags=Terms(any=("vip",)))).html
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
    first_words = re.search(r'class="preheader"[^>]*>([^\u2007]*)', page)[1]
    assert first_words.startswith("word word")
    assert len(first_words) <= 121


def test_the_subject_is_the_title_unless_the_body_has_one():
    assert words(mailed("<p>Hi</p>", subject="Big news").html).count("Big news") == 1
    assert "Big news" not in words(mailed("<h1>Other</h1>", subject="Big news").html)


def test_preview_test_mail_and_sending_are_the_same_bytes_and_the_archive_only_lacks_the_readers_part():
    mailing = renderer.render(detail("<p>{{greeting}} {{x}}</p>"))
    sent = mailing.message("a@example.org", None, TOKEN)
    filled = re.sub(r"\{\{(\w+)\}\}", lambda match: mailing.values(None, TOKEN)[match[1]], mailing.html)
    assert sent.html == filled
    again = renderer.render(detail("<p>{{greeting}} {{x}}</p>"))
    assert again == mailing
    without = re.sub(r"<a [^>]*>Read on the web</a>|<p[^>]*>You are receiving this because.*?</p>", "", sent.html)
    assert mailing.archived() == without


def test_the_archived_page_has_nothing_of_one_reader():
    page = renderer.render(detail("<p>Hi {{nickname|friend}}</p>")).archived()
    assert "Hi friend" in page
    for private in ("unsubscribe", "token", "/profile", "{{"):
        assert private not in page


def test_a_deployment_s_own_template_wins_and_only_where_there_is_one(tmp_path, monkeypatch):
    (tmp_path / "own" / "email").mkdir(parents=True)
    (tmp_path / "email").symlink_to(templates._TEMPLATES / "email")
    (tmp_path / "own" / "email" / "campaign.html").write_text(
        "<style>p { color: red }</style><h1>Ours</h1>{{ body }}"
        "{{ one_reader_starts }}<a href='{{ unsubscribe_url }}'>Out</a>{{ one_reader_ends }}"
    )
    monkeypatch.setattr(templates, "_TEMPLATES", tmp_path)
    templates.environment_in.cache_clear()
    try:
        message = mailed("<p>Hi {{nickname}}</p>")
    finally:
        templates.environment_in.cache_clear()
    assert '<h1>Ours</h1><p style="color: red;">Hi Ana</p>' in message.html
    assert f"token={TOKEN}" in message.html
    assert "You are receiving this because" in message.text  # the plain twin is still the house's


def test_an_own_template_without_a_way_out_is_refused(monkeypatch):
    from jinja2 import DictLoader

    environment = templates.environment().overlay(
        loader=DictLoader({"campaign.html": "{{ body }}", "campaign.txt": "x"})
    )
    monkeypatch.setattr(templates, "environment", lambda: environment)
    with pytest.raises(Misconfigured, match="unsubscribe_url"):
        renderer.render(detail("<p>x</p>"))


def test_an_own_template_that_would_publish_a_readers_link_is_refused(monkeypatch):
    from jinja2 import DictLoader

    own = {"campaign.html": "{{ body }}{{ unsubscribe_url }}", "campaign.txt": "{{ unsubscribe_url }}"}
    environment = templates.environment().overlay(loader=DictLoader(own))
    monkeypatch.setattr(templates, "environment", lambda: environment)
    with pytest.raises(Misconfigured, match="one_reader"):
        renderer.render(detail("<p>x</p>"))


def test_a_name_beyond_ascii_makes_headers_that_are_ascii(configure):
    configure(SITE_NAME="Die Tägliche Prüfung")
    assert all(value.isascii() for value in mailed("<p>x</p>").headers.values())


def test_a_long_hostile_text_is_rendered_in_no_time():
    import time

    started = time.perf_counter()
    mailed("<p>" + "{}" * 100_000 + "\\" * 100_000 + "</p>")
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("lang", "greeted", "alone"),
    [
        ("en", "Hi, Ana!", "Hi!"),
        ("de", "Hallo Ana!", "Hallo!"),
        ("es", "Hola, Ana!", "Hola!"),
        ("ja", "Hi, Ana!", "Hi!"),
    ],
)
def test_a_greeting_is_in_the_publications_language(configure, lang, greeted, alone):
    configure(SITE_LANG=lang)
    mailing = renderer.render(detail("<p>{{greeting}}!</p>"))
    assert f'<p style="margin: 0 0 20px;">{greeted}' in mailing.message("a@example.org", "Ana", "t").html
    assert alone in mailing.message("a@example.org", None, "t").text


def test_what_surrounds_a_campaign_is_in_the_publications_language(configure):
    configure(SITE_LANG="de")
    message = renderer.render(detail("<p>x</p>")).message("a@example.org", None, "t")
    assert "Sie erhalten diese E-Mail, weil Sie The Daily Test abonniert haben." in message.text
    assert ">Abmelden</a> oder <a" in message.html
    assert "Unsubscribe" not in message.text + message.html


def test_words_around_a_campaign_in_another_language_say_which_they_are_in(configure):
    configure(SITE_LANG="ja")
    message = renderer.render(detail("<p>x</p>")).message("a@example.org", None, "t")
    assert '<html lang="ja"' in message.html
    assert '<p lang="en"' in message.html
