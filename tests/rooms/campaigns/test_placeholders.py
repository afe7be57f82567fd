"""What differs from reader to reader, and braces that are only braces."""

import html
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.content.placeholders import Placeholders, escape
from chalicelib.campaigns.model import Format
from tests.rooms.campaigns.rendering import TOKEN, detail, mailed, words


@pytest.mark.parametrize(
    ("written", "with_nickname", "without"),
    [
        ("Hi {{nickname|there}}!", "Hi Ana!", "Hi there!"),
        ("Hi{{ nickname }}!", "HiAna!", "Hi!"),
        ("{{greeting}}!", "Hi, Ana!", "Hi!"),
        ("{{greeting|Good morning}}.", "Good morning, Ana.", "Good morning."),
        ("{{nickname|R&amp;D}}", "Ana", "R&D"),
        ("{{{nickname|you}}}", "{Ana}", "{you}"),
        ("\\{{nickname|you}}", "{{nickname|you}}", "{{nickname|you}}"),
        ("{{Nickname|you}}", "Ana", "you"),
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
    ["{{", "{{name}}", "{{{x}}}", "}}", "{{#if a}}b{{/if}}", "\\x{{y}}", "{{token}}", "{{b0}}", "{{ }}", "{{nickname",
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
    mailing = renderer.render(detail("<p>x</p>", text=f"a{typed}z", subject=f"a{typed}z"))
    known = mailing.values("Ana", TOKEN)
    for template in (mailing.subject, mailing.text, mailing.html):
        left = re.sub(r"\{\{(\w+)\}\}", lambda match: "" if match[1] in known else match[0], template)
        assert "{{" not in left
        assert "\\{{" not in template
        assert "{{{" not in template


@pytest.mark.parametrize(
    ("written", "arrives"),
    [
        ("\\{{name}}", "{{name}}"),
        ("\\{{{name}}}", "{{{name}}}"),
        ("\\\\{{name}}", "\\{{name}}"),
        ("{\\{{name}}}", "{{{name}}}"),
        ("\\{{a}} {{nickname}}", "{{a}} Ana"),
        ("\\{{{{nickname}}}}", "{{Ana}}"),
    ],
)
def test_escaped_braces_are_braces(written, arrives):
    for message in (
        mailed(f"<p>see {written} here</p>", subject=f"S {written} s"),
        mailed(f"see {written} here", subject=f"S {written} s", format=Format.MARKDOWN),
        mailed("<p>see</p>", text=f"see {written} here", subject=f"S {written} s"),
    ):
        assert f"see {arrives} here" in message.text
        assert message.subject == f"S {arrives} s"
    page = mailed(f'<p>see <a href="https://example.org/{written}">{written}</a></p>').html
    assert f'href="https://example.org/{arrives.replace("Ana", "{{nickname}}")}"' in page
    assert f">{arrives}</a>" in page


def test_a_personal_word_in_an_address_stays_as_typed():
    page = mailed('<p><a href="https://example.org/?n={{nickname}}" title="{{nickname}}">x</a></p>', "Ana").html
    assert "n={{nickname}}" in page
    assert 'title="Ana"' in page


def test_every_reader_gets_every_value():
    mailing = renderer.render(detail("<p>{{nickname}} {{ {{greeting}}</p>"))
    holes = set(re.findall(r"\{\{(\w+)\}\}", mailing.subject + mailing.html + mailing.text))
    assert holes <= set(mailing.values(None, TOKEN))
    assert json.dumps(mailing.values("Ü", TOKEN))


def test_joined_emoji_may_stand_in_a_subject_and_a_nickname():
    assert mailed("<p>x</p>", "👩‍💻", subject="👨‍👩‍👧 {{nickname}}").subject == "👨‍👩‍👧 👩‍💻"


@pytest.mark.parametrize("hidden", ["\ufdd0", "\uffff", "\x00", "\x9f", "\ufdd0\ufdd1"])
def test_braces_with_something_invisible_between_them_are_escaped_too(hidden):
    found = Placeholders()
    assert found.typed(found.take(escape(f"{{{hidden}{{nickname}}}}"))) == "{{nickname}}"
    assert [one.kind for one in found.all] == ["braces"]
