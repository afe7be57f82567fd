"""Items of a campaign as readers get them: a card in the mail and in the archive, lines in the plain text."""

import re
import time
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.campaigns.content import blocks, cards, renderer
from chalicelib.campaigns.content.blocks import Divider, Heading, Item, Text
from chalicelib.campaigns.model import Format
from chalicelib.kernel.errors import Invalid
from tests.rooms.campaigns.rendering import Layout, detail, mailed, words

LINK = "https://www.youtube.com/watch?v=EXj9v5Qp6a8"
VIDEO = Item(
    title="Who is eating the buds?",
    link=LINK,
    source="The Hedge Birds",
    kind="video",
    duration=721,
    picture="/media/3f2a.jpg",
    alt="A bullfinch on a twig",
    entry="0be54d1e1e1da6aa0bbd04d373dff869",
    excerpt="One hedge, one feeder, one microphone.",
    note="The *best* ten minutes of November.",
)


def written(*given: Any) -> str:
    return blocks.write(Text(block) if isinstance(block, str) else block for block in given)


def mail(*given: Any, **changes: Any) -> Any:
    return mailed(written(*given), format=Format.MARKDOWN, **changes)


def rendered(*given: Any) -> renderer.Mailing:
    return renderer.render(detail(written(*given), format=Format.MARKDOWN))


def card(*given: Any) -> str:
    """The body of the mail."""
    return str(mail(*given).html).partition('class="body"')[2].partition('class="foot"')[0]


def test_a_card_shows_picture_kind_title_source_excerpt_and_note():
    page = card(VIDEO)
    assert f'<a href="{LINK}"' in page
    assert '<img src="https://news.example.org/media/3f2a.jpg" alt="A bullfinch on a twig" width="168"' in page
    assert page.count(f'<a href="{LINK}"') == 2
    shown = [line for line in words("<body" + page).splitlines() if line.strip()]
    assert shown[-5:] == [
        "Video · 12 min",
        "Who is eating the buds?",
        "The Hedge Birds",
        "One hedge, one feeder, one microphone.",
        "The best ten minutes of November.",
    ]
    assert "<em>best</em>" in page
    assert VIDEO.entry not in page


def test_the_plain_text_has_the_same_in_its_own_order():
    text = mail("Hello.", VIDEO, replace(VIDEO, note="", excerpt="", kind="", duration=None), "Bye.").text
    assert text.startswith(
        "Hello.\n\n"
        "Who is eating the buds?\nThe Hedge Birds · Video · 12 min\n\n"
        "One hedge, one feeder, one microphone.\n\n"
        "Editor’s note: The best ten minutes of November.\n\n"
        f"{LINK}\n\n"
        f"Who is eating the buds?\nThe Hedge Birds\n\n{LINK}\n\n"
        "Bye.\n"
    )


@pytest.mark.parametrize(
    ("kind", "duration", "expected"),
    [
        ("video", 721, "Video · 12 min"),
        ("podcast", 2880, "Podcast · 48 min"),
        ("podcast", 3600, "Podcast · 1 h"),
        ("video", 5_400, "Video · 1 h 30 min"),
        ("video", 20, "Video · 1 min"),
        ("article", None, "Article"),
        ("article", 0, "Article"),
        ("sighting", None, "Sighting"),
        ("link", None, ""),
        ("LINK", 60, "1 min"),
        ("book", None, "Book"),
        ("", None, ""),
    ],
)
def test_kind_and_duration_are_words(kind, duration, expected):
    assert cards.facts(Item(kind=kind, duration=duration)) == expected


def test_what_is_missing_leaves_no_gap():
    page = card(Item("Only a title", LINK))
    assert "<img" not in page
    assert "item-gap" not in page
    assert "<p" not in page
    assert page.count("<table") == 1


def test_what_is_not_complete_shows_what_there_is():
    assert "Only a title" in card(Item("Only a title"))
    assert "<a" not in card(Item("Only a title"))
    assert f">{LINK}</a>" in card(Item(link=LINK))
    assert mail("x", Item(link=LINK)).text.startswith(f"x\n\n{LINK}\n\n\n--")
    page = mailed(":::item\ntitle: Open\n\nText below.", format=Format.MARKDOWN).html
    assert "Text below.</p>" in page
    assert ">Open</h3>" in page


def test_the_readers_name_stands_in_notes_and_texts_only():
    braces = Item("On {{nickname}} \\{{a}}", LINK, "{{greeting}}", excerpt="{{{x}}} {{nickname|you}}")
    given = ("{{greeting}}!", replace(braces, note="For {{nickname|you}}: `\\{{b}}`."))
    mailing = rendered(*given)
    message = mail(*given)
    for part in (message.html, message.text):
        for literal in ("On {{nickname}} \\{{a}}", "{{greeting}}", "{{{x}}} {{nickname|you}}"):
            assert literal in part
        assert "Hi, Ana!" in part
    assert "For Ana: <code" in message.html
    assert "For Ana: {{b}}." in message.text
    assert (mailing.unknown, mailing.unfilled) == ((), False)
    assert "For you: " in mailing.archived()


def test_an_unknown_placeholder_of_a_note_is_found():
    (tag,) = rendered(replace(VIDEO, note="For {{nicknam}}.")).unknown
    assert tag.typed == "{{nicknam}}"


@pytest.mark.parametrize("name", ["title", "source", "excerpt", "kind", "alt"])
def test_text_of_a_source_never_becomes_markup(name):
    text = '<b onclick=x>Tom & "Jerry"</b> *x* <script>y</script> [a](b)'
    page = mail(replace(VIDEO, **{name: text})).html
    assert not {"b", "script"} & {tag for tag, _ in Layout(page).found}
    assert text in (words(page) if name != "alt" else [given.get("alt") for _, given in Layout(page).found])


def test_a_link_that_is_no_web_address_is_no_link():
    page = card(replace(VIDEO, link="javascript:alert(1)", picture="data:image/png;base64,x"))
    assert "javascript" not in page
    assert "data:" not in page


def test_a_tag_left_open_in_a_note_ends_with_it():
    page = card(replace(VIDEO, note="<b>bold </td></tr></table> <div>x"), "After.", VIDEO)
    assert page.count('class="item"') == 2
    assert re.search(r"<p[^>]*>After\.</p>", page)
    assert "<b" not in page.partition("After.")[2]


def test_what_the_sanitiser_takes_out_of_a_note_is_reported_and_a_card_loses_nothing():
    assert rendered(VIDEO).removed == ()
    assert rendered(replace(VIDEO, note="x <script>y</script>")).removed == ("<script> (1×)",)


def test_cards_keep_the_dark_colours_and_the_mails_title():
    page = mail(replace(VIDEO, note="# Loud")).html
    assert "prefers-color-scheme: dark" in page
    assert 'class="title"' in page
    assert 'class="title"' not in mail("# My own", VIDEO).html


def test_a_title_from_the_right_turns_its_card():
    page = card(Item("«מדריך» field", LINK, note="In English."), Item("A guide", LINK, note="12 קצר"))
    assert re.findall(r'dir="(\w+)"', page) == ["rtl", "ltr", "ltr", "rtl"]


def test_only_cards_that_follow_each_other_are_kept_apart_by_a_line():
    lines = [part.count("border-top: 1px") for part in card(VIDEO, VIDEO, "x", VIDEO).split('class="item"')]
    assert lines == [0, 0, 1, 0]


def test_an_item_in_a_comment_or_a_code_block_is_none():
    item = written(VIDEO)
    hidden = mailed(f"<!--\n\n{item}\n-->\n\nText", format=Format.MARKDOWN)
    assert "buds" not in hidden.html + hidden.text
    code = mailed(f"```\n{item}```", format=Format.MARKDOWN).html
    assert 'class="item"' not in code
    assert ":::item\ntitle: Who is eating" in code


def test_in_html_it_is_text():
    assert ":::item" in mailed(written(VIDEO)).html


def test_markdown_goes_on_around_items():
    page = card(
        "See [the guide].\n\n- one\n- two", VIDEO, "[the guide]: https://x.example/guide\n\n1. three", Divider()
    )
    assert '<a href="https://x.example/guide"' in page
    assert page.index("two") < page.index("buds") < page.index("three") < page.index("<hr")


def test_a_campaign_renders_to_the_same_bytes_each_time():
    assert rendered("x", VIDEO, VIDEO) == rendered("x", VIDEO, VIDEO)


def test_outlook_finds_every_measure_in_attributes():
    """Its engine lays out tables by attributes, and knows no flex, no max-width and no margin around a table."""
    page = card(VIDEO, replace(VIDEO, kind="podcast"))
    for tag, given in Layout(page).found:
        style = given.get("style") or ""
        assert not re.search(r"flex|grid|position|float|min-width|calc|inline-start|inline-end|var\(", style), style
        if tag == "table":
            assert given["role"] == "presentation"
            assert (given["width"], given["cellpadding"], given["cellspacing"], given["border"]) == (
                "100%", "0", "0", "0"
            )  # fmt: skip
            assert given["dir"] in ("ltr", "rtl")
            assert "margin" not in style
        if tag == "img":
            assert (given["width"], bool(given["alt"])) == ("168", True)
        if given.get("class", "") in ("item-shot", "item-gap"):
            assert given["width"] in ("34%", "20")
        if "item-shot" in (given.get("class") or "") or given.get("class") == "item-words":
            assert given["valign"] == "top"


def test_thirty_items_fit_into_what_gmail_shows():
    full = replace(VIDEO, title="t" * 90, excerpt="word " * 60, note="word " * 60, link=LINK + "&x=" * 40)
    page = mail("Hello", *[full] * 30).html
    assert len(page.encode()) < 100 * 1024
    usual = mail("Hello", Heading("Watch"), *[VIDEO] * 30).html
    assert len(usual.encode()) < 60 * 1024


def test_as_many_items_as_there_may_be_are_rendered_at_once():
    began = time.process_time()
    mail(*[VIDEO] * blocks.MOST_ITEMS)
    assert time.process_time() - began < 4
    with pytest.raises(Invalid, match="more than 200 items"):
        mail(*[VIDEO] * (blocks.MOST_ITEMS + 1))


def test_too_many_items_are_refused_at_saving_time(admin):
    body = {"subject": "s", "format": "markdown", "body": ":::item\n" * 60_000}
    began = time.process_time()
    answer = admin.post("/admin/api/campaigns", json=body)
    assert (answer.status, answer.json) == (400, {"error": "Body has more than 200 items"})
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "body",
    [
        ":" * 100_000,
        ":::item\n" * 200 + "title: x" * 10_000,
        ":::item\nnote: " + "*" * 50_000 + "\n:::",
        ":::item\nnote: " + "[" * 50_000 + "\n:::",
        ":::item\ntitle: " + "{{" * 50_000 + "\n:::",
        ":::item\nnote: " + "{{nickname|" * 9_000 + "\n:::",
        ":::item\nlink: " + "https://" * 12_000 + "\n:::",
        ":::item\n:::\n" * 200 + "x" * 90_000,
    ],
)
def test_hostile_items_take_no_time(body):
    began = time.process_time()
    mailed(body, format=Format.MARKDOWN)
    assert time.process_time() - began < 4


def test_the_archive_shows_the_same_card(admin):
    made = admin.post("/admin/api/campaigns", json={"subject": "s", "format": "markdown", "body": written(VIDEO)})
    assert (made.status, made.json["body"]) == (201, written(VIDEO))
    assert admin.post(f"/admin/api/campaigns/{made.json['id']}/send", json={}).status == 200
    page = admin.get(f"/archive/{made.json['id']}").text
    assert "Video · 12 min" in page
    assert 'class="item"' in page
