"""What a careful editor would have seen is said at review."""

import pytest

from chalicelib.campaigns import uses
from chalicelib.campaigns.content import blocks, renderer
from chalicelib.campaigns.content.blocks import Item, Text
from chalicelib.campaigns.content.links import Links
from chalicelib.campaigns.model import Format, Origin
from chalicelib.campaigns.review import care, preflight
from chalicelib.campaigns.review.care import Minutes
from chalicelib.kernel.findings import Finding, Level
from chalicelib.mail import account
from chalicelib.mail.account import Account
from tests.rooms.campaigns.rendering import detail

API = "/admin/api/campaigns"
LINK = "https://example.org/a"


def leftovers(body: str = "", **changes: str) -> list[str]:
    given = detail(body or "<p>Fine.</p>", **changes)
    return [finding.message for finding in care.check_leftovers(renderer.render(given), given)]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("<p>More TODO here.</p>", "TODO"),
        ("<p>It opens on TK.</p>", "TK"),
        ("<p>TKTK</p>", "TKTK"),
        ("<p>XXX: ask Ana</p>", "XXX"),
        ("<p>Lorem\nipsum dolor</p>", "Lorem ipsum"),
        ("<p>And so […]</p>", "[…]"),
        ("<p>And so [...]</p>", "[...]"),
        ("<b>TO</b>DO", "TODO"),
    ],
)
def test_words_left_over_from_writing_are_found(body, word):
    assert leftovers(body) == [f"Left over from writing: “{word}”."]


@pytest.mark.parametrize(
    "body",
    [
        "<p>A todo list, todos los días, TODOS, ATK, XXL, tk.</p>",
        '<a href="https://example.org/TODO?q=TK#XXX">a link</a>',
        "<p>https://example.org/TODO and #TODO and me@TK.example</p>",
        "<p>[1] … [a]</p>",
    ],
)
def test_words_that_only_look_like_it_are_not(body):
    assert leftovers(body) == []


def test_they_are_found_in_every_part():
    assert leftovers(subject="TODO") == leftovers(preheader="TODO") == leftovers("<p>x</p>", text="TODO") != []
    assert leftovers("<p>TODO</p>", text="Written by hand.") == ["Left over from writing: “TODO”."]
    assert leftovers("<p>TODO TODO XXX</p>") == ["Left over from writing: “TODO”, “XXX”."]


def pictures(body: str, **changes: Format) -> list[Finding]:
    return list(care.check_pictures(Links(renderer.render(detail(body, **changes)).archived())))


def test_a_picture_of_another_host_is_named_with_its_host():
    (finding,) = pictures('<img src="https://img.example.com/x.png" alt=""><img src="https://a.example/y" alt="">')
    assert (finding.level, finding.code) == (Level.WARNING, "foreign_images")
    assert finding.text == (
        "2 images are loaded from img.example.com and a.example: whoever runs such a host sees who opens the email."
    )
    item = blocks.write([Item("x", LINK, picture="https://i.ytimg.com/vi/x.jpg")])
    assert [found.code for found in pictures(item, format=Format.MARKDOWN)] == ["foreign_images"]


def test_our_own_pictures_are_nobodys_business():
    assert pictures('<img src="/media/a.jpg" alt=""><img src="https://news.example.org/media/b.jpg" alt="">') == []
    assert pictures(blocks.write([Item("x", LINK, picture="/media/a.jpg")]), format=Format.MARKDOWN) == []


def test_items_that_are_not_complete_are_errors_and_missing_notes_are_noted():
    items = [Item("Good", LINK, note="n"), Item("x" * 80), Item(link=LINK, rest="odd: one"), Item("y", LINK)]
    assert [(finding.level, finding.message) for finding in care.check_items(items)] == [
        (Level.ERROR, f"“{'x' * 60}…” has no link."),
        (Level.ERROR, "Item 3 has no title and lines that cannot be read."),
        (Level.NOTE, "3 items have no note."),
    ]
    assert list(care.check_items(items[:1])) == []
    assert [finding.message for finding in care.check_items([Item("y", LINK)])] == ["1 item has no note."]


def test_of_many_that_are_not_complete_the_first_are_named():
    messages = [finding.message for finding in care.check_items([Item()] * 9, wants_notes=False)]
    assert messages[0] == "Item 1 has no title and no link."
    assert messages[5:] == ["4 more items are not complete."]


def test_minutes_are_those_of_reading_listening_and_watching():
    items = (
        Item("a", LINK, kind="video", duration=721),
        Item("b", LINK, kind="video", duration=30),
        Item("c", LINK, kind="podcast", duration=2880),
        Item("d", LINK, kind="article", duration=999),
    )
    body = blocks.write([Text("word " * 390), *items])
    mailing = renderer.render(detail(body, format=Format.MARKDOWN))
    minutes = care.estimate_minutes(mailing, items)
    assert minutes == Minutes(reading=3, listening=48, watching=13)
    (finding,) = care.check_minutes(minutes)
    assert finding.message == (
        "It takes readers about 3 minutes to read, 48 minutes to listen and 13 minutes to watch."
    )
    assert list(care.check_minutes(Minutes())) == []
    assert care.estimate_minutes(renderer.render(detail("<p>One word.</p>")), ()) == Minutes(1)


@pytest.fixture
def ses(monkeypatch):
    monkeypatch.setattr(account, "account", lambda: Account(200, 1, 0, False, True, "HEALTHY"))  # moto has none
    monkeypatch.setattr(account, "identity", lambda: None)


def test_the_review_says_it_all(admin, ses, monkeypatch):
    used = Finding(Level.WARNING, "used_before", "“x” was already in “Issue 12”, 3 March.")
    monkeypatch.setattr(uses, "findings", lambda found: [used] if uses.list_items(found) else [])
    body = blocks.write([Text("TODO"), Item("x"), Item("y", LINK, "z", "video", 60, "https://i.example/p.jpg")])
    made = admin.post(API, json={"subject": "s", "format": "markdown", "body": body}).json
    report = admin.get(f"{API}/{made['id']}/preflight").json
    found = {finding["code"]: finding["level"] for finding in report["findings"]}
    assert report["ready"] is False
    assert {
        "leftovers": "warning",
        "incomplete_item": "error",
        "items_without_note": "note",
        "foreign_images": "warning",
        "used_before": "warning",
        "minutes": "note",
    }.items() <= found.items()
    assert admin.get(f"/admin/campaigns/{made['id']}/review").status == 200


def test_without_items_the_review_is_as_before(aws, ses):
    report = preflight.check(detail("<p>Fine</p>", text="Fine"))
    assert report.minutes == Minutes(1)
    assert not {"minutes", "items_without_note", "used_before"} & {finding.code for finding in report.findings}


def test_nobody_is_asked_for_notes_about_posts_of_a_feed(aws, ses):
    body = blocks.write([Item("x", LINK)])
    codes = {
        origin: {finding.code for finding in preflight.check(given).findings}
        for origin in Origin
        if (given := detail(body, format=Format.MARKDOWN, origin=origin))
    }
    assert "items_without_note" in codes[Origin.MANUAL]
    assert "items_without_note" not in codes[Origin.FEED]
