"""Nor is any page of the inbox, of blocks or of following larger than 60 KB, the desk's or a member's, whatever valid
input it shows."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Divider, Heading, Image, Item, Text
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.following import discovery, notifications
from chalicelib.following.bodies import LONGEST_SEARCH
from chalicelib.following.discovery import Candidate
from chalicelib.following.providers.contract import Channel
from chalicelib.inbox import clipping, composing, issues, model, search, service, triage
from chalicelib.inbox.composing import MOST_ITEMS, MOST_SECTIONS
from chalicelib.inbox.item_store import ItemRow
from chalicelib.inbox.model import DESK, Provider
from chalicelib.inbox.outline import LONGEST_SUBJECT, Every, Outline, Section
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.http import client
from tests.fixtures.client import Answer
from tests.rooms.admin.conftest import ORIGIN
from tests.rooms.admin.test_page_size import LARGEST
from tests.rooms.following import made
from tests.rooms.inbox.things import receive, video
from tests.rooms.inbox.web import Web
from tests.rooms.inbox.web import page as html
from tests.rooms.sightings.person import Person

pytestmark = pytest.mark.slow

Ask = Callable[..., Answer]


@pytest.fixture(params=["&", "\U00010330"], ids=["five-bytes-in-a-page", "twelve-in-a-url"])
def letter(request):
    return request.param


@pytest.fixture
def desk(dashboard, configure, providers) -> Ask:
    configure(MEMBERS="open", DISABLE_AUTH="true")
    return dashboard.http.request


@pytest.fixture
def ada(desk, http) -> Person:
    return Person(http, "ada")


def oversized(ask: Ask, *paths: str, **options: Any) -> dict[str, int]:
    """Those that are too large, with their sizes."""
    answers = {path: ask("GET", path, **options) for path in paths}
    assert {answer.status for answer in answers.values()} <= {200}, {p: a.status for p, a in answers.items()}
    return {path[:100]: len(answer.body) for path, answer in answers.items() if len(answer.body) > LARGEST}


def refused(ask: Ask, path: str, **fields: Any) -> int:
    answer = ask("POST", path, form=fields, Origin=ORIGIN)
    assert answer.status in (400, 409), answer.status
    return len(answer.body)


def fill(
    owner: str, letter: str, most: int = MOST_ITEMS, note: int = model.LONGEST_NOTE, link: int = 1_900
) -> list[str]:
    """Entries with the longest valid values, each of them used in two campaigns if they are the desk's."""
    long = {
        "title": letter * model.LONGEST_TITLE,
        "creator": letter * model.LONGEST_CREATOR,
        "excerpt": letter * model.LONGEST_EXCERPT,
        "problem": letter * 300,
    }
    items = [
        video(f"{number:02}", canonical_url=f"https://example.org/?{'&' * link}{number:02}", **long)
        for number in range(most)
    ]
    ids = receive(owner, *items)
    for id in ids:
        tables.update(ItemRow(id), [ItemRow.picture.set(f"{'0' * 64}.jpg")])
        service.set_note(owner, id, letter * note)
        triage.set_section(owner, id, letter * 200)
    if owner == DESK:
        for _ in range(2):
            composing.compose([composing.Section(tuple(ids))])
    return ids


def outline(letter: str) -> None:
    sections = tuple(Section(f"{number:02}{letter * 198}", MOST_ITEMS) for number in range(MOST_SECTIONS))
    issues.save_outline(Outline(letter * LONGEST_SUBJECT, sections, Every.MONTH, 28))
    issues.open_next()


def drafts(letter: str) -> None:
    for number in range(30):
        campaigns.create(Draft(f"{number:02}{letter * 198}", "x", format=Format.MARKDOWN))


def tell(owner: str, letter: str) -> None:
    for provider in (Provider.YOUTUBE, Provider.SPOTIFY, Provider.RSS):
        for kind in notifications.Kind:
            notifications._tell(owner, kind, provider, letter * 230, letter * 700)


def test_the_inbox_of_the_desk(desk, letter):
    outline(letter)
    ids = fill(DESK, letter)
    notifications.tell_expired(DESK, Provider.SPOTIFY)
    words = quote(f"{letter * 20} " * 9 + letter * 10)
    home = "/admin/inbox"
    assert not oversized(
        desk,
        home,
        f"{home}?state=all",
        f"{home}?q={words}&provider=YOUTUBE&type=VIDEO&state=all",
        f"{home}?q={quote(letter * search.LONGEST_SEARCH)}&provider=YOUTUBE&type=VIDEO&state=archived",
        f"{home}/{ids[0]}",
        f"{home}/add",
        f"{home}/add?url={quote('https://example.org/' + letter * 1_900)}",
        f"{home}/outline",
    )


@pytest.mark.parametrize("note", [0, 100, 500, 2_000])
def test_composing(desk, letter, note):
    outline(letter)
    ids = fill(DESK, letter, note=note, link=0)
    drafts(letter)
    assert not oversized(desk, f"/admin/inbox/compose?ids={'.'.join(ids)}", f"/admin/inbox/compose?ids={ids[0]}")


def test_a_refused_composition(desk, letter):
    """Notes are saved before that is known."""
    ids = fill(DESK, letter, note=0)
    sent = campaigns.create(Draft("Sent", "x", format=Format.MARKDOWN)).campaign.id
    campaigns.send_now(sent)
    rows = {
        "entry": ids,
        "note": [letter * model.LONGEST_NOTE] * MOST_ITEMS,
        "was": ["x"] * MOST_ITEMS,
        "at": ["1"] * MOST_ITEMS,
    }
    headings = [letter * 200] * MOST_SECTIONS
    size = refused(
        desk, "/admin/inbox/compose", form="f", campaign_id=sent, heading=headings, place=["1"] * MOST_ITEMS, **rows
    )
    assert size <= LARGEST


def test_saving_links(desk, ada, letter, monkeypatch):
    outline(letter)
    web = Web()
    monkeypatch.setattr(client, "get", web.get)
    links = [f"https://example.org/{number:02}{'&' * 300}" for number in range(clipping.MOST_LINKS)]
    web.says.update({link: html("&amp;" * model.LONGEST_TITLE) for link in links[:25]})
    for ask, home in ((desk, "/admin/inbox"), (ada.ask, "/inbox")):
        assert refused(ask, f"{home}/add", text=letter * 50_000, note=letter * 2_000, section=letter * 200) <= LARGEST
        assert refused(ask, f"{home}/add", text="x", note=letter * 50_000, section=letter * 50_000) <= LARGEST
        form = {"text": "\n".join(links), "note": letter * 100, "section": letter * 200}
        answer = ask("POST", f"{home}/add", form=form, Origin=ORIGIN)
        assert (answer.status, len(answer.body) <= LARGEST) == (200, True), len(answer.body)


def test_the_inbox_of_a_member(ada, letter):
    ids = fill(ada.id, letter)
    words = quote(f"{letter * 20} " * 9 + letter * 10)
    assert not oversized(
        ada.ask,
        "/inbox",
        "/inbox?state=all",
        f"/inbox?q={words}&provider=YOUTUBE&type=VIDEO&state=all",
        f"/inbox/{ids[0]}",
        f"/inbox/add?url={quote('https://example.org/' + letter * 1_900)}",
    )
    for note in (2_000, 50_000):
        form = {"suggest": "yes", "message": letter * note}
        answer = ada.ask("POST", f"/inbox/{ids[0]}", form=form, Origin=ORIGIN)
        assert len(answer.body) <= LARGEST, (note, len(answer.body))
    assert refused(ada.ask, f"/inbox/{ids[0]}", note=letter * 50_000) <= LARGEST


BLOCKS = {
    "text": lambda letter: Text(letter),
    "heading": lambda letter: Heading(letter),
    "image": lambda letter: Image(f"https://example.org/{letter}", letter),
    "divider": lambda letter: Divider(),
    "item": lambda letter: Item(title=letter, link="https://example.org/", entry="a" * 32),
    "long item": lambda letter: Item(
        title=letter * 300, link="https://example.org/", note=letter * 500, entry="a" * 32
    ),
    "long text": lambda letter: Text(letter * 1_000),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_as_many_blocks_as_there_is_room_for(desk, letter, kind):
    subject = letter * 200

    def shown(count):
        body = blocks.write(BLOCKS[kind](letter) for _ in range(count))
        draft = campaigns.create(Draft(subject, body, format=Format.MARKDOWN)).campaign.id
        page = desk("GET", f"/admin/campaigns/{draft}/blocks")
        assert (page.status, len(page.body) <= LARGEST) == (200, True), (count, len(page.body))
        return "data-blocks" in page.text

    least, most = 1, 400
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if shown(middle) else (least, middle)
    assert least > 3


def test_refused_blocks(desk, letter):
    draft = campaigns.create(Draft("Beans", "x", format=Format.MARKDOWN)).campaign.id
    path = f"/admin/campaigns/{draft}/blocks"
    item = {"kind-1": "item", "title-1": letter * 300, "duration-1": "long"}
    assert refused(desk, path, version="1", **{"kind-0": "text", "text-0": letter * 200_000}, **item) <= LARGEST
    assert refused(desk, path, version="7", **{"kind-0": "text", "text-0": letter * 20_000}) <= LARGEST


def test_what_is_followed(desk, ada, letter, monkeypatch):
    long = Channel(f"UC{'x' * 22}", letter * 200, description=letter * 5_000)
    listed = [Candidate(replace(long, channel_id=f"UC{number:022}"), number % 2 == 0) for number in range(60)]
    monkeypatch.setattr(discovery, "list_mine", lambda owner, provider: listed)
    monkeypatch.setattr(discovery, "search", lambda owner, provider, words, most: listed[:most])
    facts = {"problem": letter * 400, "failures": 5, "description": letter * 1_000, "last_polled_at": clock.now()}
    for ask, owner, home in ((desk, DESK, "/admin/following"), (ada.ask, ada.id, "/following")):
        tell(owner, letter)
        followed = [made.follow(letter * 200, owner, number=number, **facts) for number in range(50)]
        one = followed[0].id.replace("-", "")
        assert not oversized(
            ask,
            home,
            f"{home}?status=ACTIVE&provider=RSS",
            f"{home}/find",
            f"{home}/find?provider=YOUTUBE&q={quote(letter * LONGEST_SEARCH)}",
            f"{home}/{one}",
            f"{home}/{one}/unfollow",
        )
        assert refused(ask, home, url=letter * 20_000) <= LARGEST
