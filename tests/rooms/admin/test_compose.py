"""From chosen entries to a draft, without scripts: order and sections by numbers, notes, and blocks."""

import re
from html import unescape

import pytest

from chalicelib.campaigns import fields as campaign_fields
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Divider, Heading, Item, Text
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.inbox import composing, entry_store, issues, service, triage
from chalicelib.inbox.model import DESK
from chalicelib.inbox.outline import Outline, Section
from tests.rooms.inbox.things import entry, receive, video

LARGEST = 60 * 1024
COMPOSE = "/admin/inbox/compose"
NAMES = ("a", "b", "c")


@pytest.fixture
def ids(dashboard):
    return receive(DESK, *(video(name) for name in NAMES))


def rows(page, **changes):
    """The fields of the compose form as the page has them."""
    found = {
        name: [unescape(value) for value in re.findall(rf'name="{name}" value="([^"]*)"', page.text)]
        for name in ("form", "entry", "was", "at", "place", "heading")
    }
    found["note"] = [unescape(note) for note in re.findall(r'name="note"[^>]*>\n(.*?)</textarea>', page.text, re.S)]
    return {**found, "campaign_id": "", **changes}


def opened(dashboard, ids):
    return dashboard.get(f"{COMPOSE}?ids={'.'.join(ids)}")


def made(answer):
    assert answer.status == 303, answer.text
    return campaigns.view(re.search(r"/admin/campaigns/([\w-]+)", answer.headers["Location"])[1])


def parsed(detail):
    return [getattr(one, "text", "") or getattr(one, "title", "") for one in blocks.parse(detail.content.body)]


def test_entries_are_put_in_order_under_headings_with_notes(dashboard, ids):
    issues.save_outline(Outline(sections=(Section("Watching", 2), Section("Reading"))))
    triage.set_section(DESK, ids[1], "Reading")
    page = opened(dashboard, ids)
    sent = rows(page)
    assert sent["heading"] == ["", "Watching", "Reading", "", ""]
    assert sent["entry"] == [ids[0], ids[2], ids[1]]
    assert sent["at"] == ["1", "1", "3"]
    sent |= {"at": ["2", "2", "3"], "place": ["2", "1", "1"], "note": ["", "Watch *this*", ""]}
    answer = dashboard.post(COMPOSE, **sent)
    assert parsed(made(answer)) == ["Watching", "The c video", "The a video", "Reading", "The b video"]
    assert entry(DESK, ids[2]).note == "Watch *this*"
    assert "Composed." in dashboard.see(answer.headers["Location"])


def test_a_second_click_leads_to_what_the_first_one_made(dashboard, ids):
    sent = rows(opened(dashboard, ids))
    first = made(dashboard.post(COMPOSE, **sent))
    assert made(dashboard.post(COMPOSE, **sent)).campaign.id == first.campaign.id
    assert campaigns.list_page(None, 1, 10).total == 1
    assert dashboard.post(COMPOSE, **sent | {"form": [""]}).status == 400


def test_more_is_added_to_a_draft_and_said_to_be_used_before(dashboard, ids):
    first = composing.compose([composing.Section((ids[0],), "Watching")]).detail.campaign
    page = opened(dashboard, ids[:2])
    assert "Already in" in page.text
    assert f'<option value="{first.id}">The a video' in page.text
    sent = rows(page, campaign_id=first.id)
    sent |= {"heading": ["Watching", "", ""], "entry": [ids[1]], "was": sent["was"][1:], "at": ["1"]}
    detail = made(dashboard.post(COMPOSE, **sent | {"place": ["1"], "note": [""]}))
    assert detail.campaign.id == first.id
    assert parsed(detail) == ["Watching", "The a video", "The b video"]


def test_what_a_draft_has_already_is_said_and_not_added_again(dashboard, ids):
    first = composing.compose([composing.Section((ids[0],))]).detail.campaign
    for chosen, said in ((ids[:1], "Nothing was added"), (ids[:2], "was not added again")):
        answer = dashboard.post(COMPOSE, **rows(opened(dashboard, chosen), campaign_id=first.id))
        assert said in dashboard.see(answer.headers["Location"])
    assert parsed(made(answer)) == ["The a video", "The b video"]


def test_what_was_typed_is_kept_when_it_cannot_be_composed(dashboard, ids):
    sent = rows(opened(dashboard, ids))
    draft = campaigns.create(Draft("Sent", "x", format=Format.MARKDOWN)).campaign.id
    campaigns.send_now(draft)
    changed = {"heading": ["", "Mine"], "at": ["2", "2", "1"], "note": ["One", "Two", "Three"], "campaign_id": draft}
    answer = dashboard.post(COMPOSE, **sent | changed)
    assert answer.status == 409
    again = rows(answer)
    assert (again["heading"], again["note"]) == (["", "Mine"], ["Three", "One", "Two"])
    assert again["form"] != sent["form"]


def test_a_note_that_somebody_else_wrote_meanwhile_is_not_lost(dashboard, ids):
    sent = rows(opened(dashboard, ids))
    service.set_note(DESK, ids[0], "Theirs")
    made(dashboard.post(COMPOSE, **sent | {"note": ["Mine", "", ""]}))
    assert entry(DESK, ids[0]).note == "Theirs\n\nMine"


def test_nothing_is_lost_when_there_are_more_headings_than_room(dashboard, ids):
    planned = tuple(Section(f"Planned {number}") for number in range(composing.MOST_SECTIONS))
    issues.save_outline(Outline(sections=planned))
    triage.set_section(DESK, ids[0], "My own")
    triage.set_section(DESK, ids[1], planned[-1].heading)
    sent = rows(opened(dashboard, ids))
    assert len(sent["heading"]) == composing.MOST_SECTIONS
    placed = dict(zip(sent["entry"], [sent["heading"][int(at) - 1] for at in sent["at"]], strict=True))
    assert placed == {ids[0]: "My own", ids[1]: planned[-1].heading, ids[2]: ""}


def test_more_sections_than_a_form_has_go_to_the_top(dashboard):
    found = receive(DESK, *(video(f"{number:02}") for number in range(25)))
    for number, id in enumerate(found):
        triage.set_section(DESK, id, f"Section {number}")
    sent = rows(opened(dashboard, found))
    assert sorted(sent["entry"]) == sorted(found)
    assert len(sent["heading"]) == composing.MOST_SECTIONS


def test_a_note_that_somebody_else_writes_at_the_same_moment_is_not_lost(dashboard, ids, monkeypatch):
    sent = rows(opened(dashboard, ids))
    set_note_as, turns = entry_store.set_note_as, iter([True])

    def noted_meanwhile(before, note):
        if next(turns, False):
            service.set_note(DESK, before.id, "Theirs")
        return set_note_as(before, note)

    monkeypatch.setattr(entry_store, "set_note_as", noted_meanwhile)
    made(dashboard.post(COMPOSE, **sent | {"note": ["Mine", "", ""]}))
    assert entry(DESK, ids[0]).note == "Theirs\n\nMine"


def test_what_is_no_longer_there_is_left_out(dashboard, ids):
    service.dismiss(DESK, ids[0])
    assert "1 of what was chosen is no longer in the inbox" in dashboard.see(f"{COMPOSE}?ids={'.'.join(ids)}")
    assert "Nothing is chosen" in dashboard.see(f"{COMPOSE}?ids=nothing.x")
    assert dashboard.post("/admin/inbox", act="compose", id=ids).headers["Location"].startswith(f"{COMPOSE}?ids=")


def test_the_page_is_never_too_large(dashboard, aws):
    long = {"title": "&" * 300, "excerpt": "&" * 500, "creator": "&" * 200}
    found = receive(DESK, *(video(f"{number:02}", **long) for number in range(40)))
    for id in found[:20]:
        service.set_note(DESK, id, "&" * 2_000)
    page = opened(dashboard, found)
    assert (page.status, len(page.body) <= LARGEST) == (200, True), len(page.body)
    assert "There is no room for all of them" in page.text


BODY = blocks.write(
    [
        Text("Hello & *welcome*"),
        Heading("Watching"),
        Item(title="One", link="https://example.org/1", entry="a" * 32, duration=60, note="First\n\nsecond"),
        Divider(),
        Item(title="Two", link="https://example.org/2"),
    ]
)


@pytest.fixture
def draft(dashboard):
    return campaigns.create(Draft("Beans", BODY, format=Format.MARKDOWN)).campaign.id


def block_fields(page):
    """The fields of the blocks as the page has them."""
    found = dict(re.findall(r'name="([\w-]+-\d+|version)" value="([^"]*)"', page.text))
    found |= dict(re.findall(r'<textarea[^>]* name="([\w-]+)"[^>]*>\n(.*?)</textarea>', page.text, re.S))
    boxes = re.findall(r'type="checkbox" name="([\w-]+)"', page.text)
    return {name: unescape(value) for name, value in found.items() if name not in boxes}


def test_saving_blocks_as_they_are_changes_nothing(dashboard, draft):
    page = dashboard.get(f"/admin/campaigns/{draft}/blocks")
    answer = dashboard.post(f"/admin/campaigns/{draft}/blocks", **block_fields(page))
    assert answer.headers["Location"] == f"/admin/campaigns/{draft}/blocks?notice=saved"
    assert campaigns.view(draft).content.body == BODY


def test_blocks_are_edited_moved_removed_and_added(dashboard, draft):
    sent = block_fields(dashboard.get(f"/admin/campaigns/{draft}/blocks"))
    sent |= {"title-2": "One & only", "place-4": "1", "remove-3": "yes", "text-6": "Reading", "place-6": "2.5"}
    sent |= {"kind-9": "divider", "place-9": "99"}
    assert dashboard.post(f"/admin/campaigns/{draft}/blocks", **sent).status == 303
    found = blocks.parse(campaigns.view(draft).content.body)
    assert [type(one).__name__ for one in found] == ["Text", "Item", "Heading", "Heading", "Item", "Divider"]
    assert (found[1].title, found[3].text, found[4].title) == ("Two", "Reading", "One & only")
    assert (found[4].entry, found[4].note) == ("a" * 32, "First\n\nsecond")


def test_somebody_else_s_change_is_not_overwritten_and_nothing_typed_is_lost(dashboard, draft):
    sent = block_fields(dashboard.get(f"/admin/campaigns/{draft}/blocks"))
    campaigns.update(draft, {}, {"body": "Theirs"})
    answer = dashboard.post(f"/admin/campaigns/{draft}/blocks", **sent | {"title-2": "Mine"})
    assert (answer.status, "Someone else changed this campaign" in answer.text) == (409, True)
    assert campaigns.view(draft).content.body == "Theirs"
    assert dashboard.post(f"/admin/campaigns/{draft}/blocks", **block_fields(answer)).status == 303
    assert blocks.items(campaigns.view(draft).content.body)[0].title == "Mine"


def test_what_has_no_blocks_is_edited_as_text(dashboard, draft):
    page = f"/admin/campaigns/{draft}/blocks"
    assert page in dashboard.get(f"/admin/campaigns/{draft}").text
    html = campaigns.create(Draft("HTML", "<p>x</p>")).campaign.id
    assert "No view of blocks" in dashboard.see(f"/admin/campaigns/{html}/blocks")
    assert "/blocks" not in dashboard.get(f"/admin/campaigns/{html}").text
    long = campaigns.create(Draft("Long", "&" * (campaign_fields.LARGEST_BODY // 2), format=Format.MARKDOWN))
    assert "too long" in dashboard.see(f"/admin/campaigns/{long.campaign.id}/blocks")
    sent = block_fields(dashboard.get(page))
    assert dashboard.post(page, **sent | {"duration-2": "long"}).status == 400
    campaigns.send_now(draft)
    assert dashboard.get(page).status == 409
    assert dashboard.post(page, **sent).status == 409


def test_the_page_of_blocks_is_never_too_large(dashboard):
    items = [Item(title="&" * 50, link="https://example.org/") for _ in range(16)]
    body = blocks.write([*items, Text("&" * 500)])
    draft = campaigns.create(Draft("&" * 200, body, format=Format.MARKDOWN)).campaign.id
    page = dashboard.get(f"/admin/campaigns/{draft}/blocks")
    assert (page.status, len(page.body) <= LARGEST) == (200, True), len(page.body)
