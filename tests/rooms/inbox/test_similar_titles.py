"""An item whose page or nearly whose title is in a campaign says so wherever it is shown, before it is used."""

import re
from html import unescape

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.events.store import EventRow
from chalicelib.feeds import digest
from chalicelib.feeds.reading.model import Entry
from chalicelib.inbox import service, use_store, uses
from chalicelib.inbox.model import ContentType, Provider
from chalicelib.kernel.aws import tables
from tests.rooms.inbox.test_composing import recorded_calls
from tests.rooms.inbox.things import video

TITLE = "How to prune an old pear tree"
NEARLY = "An OLD pear tree: how to prune… | The Slow Garden"
SAID = "Nearly the same title in “Issue 12”"


def draft(desk, *titles, subject="Issue 12"):
    """A campaign with items of these titles, each of a page of its own."""
    items = [Item(title, f"https://elsewhere.example/{title}", entry=f"{at:032x}") for at, title in enumerate(titles)]
    body = {"subject": subject, "body": blocks.write(items), "format": "markdown"}
    made = desk.ask("POST", "/admin/api/campaigns", json=body)
    assert made.status == 201, made.text
    return made.json["id"]


def words(page):
    assert page.status == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def pages(desk, id):
    """Everywhere an editor meets it."""
    return [
        words(desk.ask("GET", f"/admin/inbox{path}")) for path in ("", "?state=all", f"/{id}", f"/compose?ids={id}")
    ]


def test_an_item_says_that_a_draft_has_nearly_its_title(desk):
    (id,) = desk.receive(video(title=NEARLY))
    draft(desk, TITLE)
    for page in pages(desk, id):
        assert f"{SAID}, not sent yet" in page


def test_an_item_says_that_a_sent_campaign_has_nearly_its_title(desk):
    (id,) = desk.receive(video(title=NEARLY))
    campaign_id = draft(desk, TITLE)
    campaigns.send_now(campaign_id)
    deliveries.finish(campaigns.view(campaign_id).deliveries[0], Counts(1, 1, 0))
    for page in pages(desk, id):
        assert re.search(rf"{SAID}, \d+ \w+ 20\d\d", page)


def test_it_leads_to_the_newest_campaign_that_has_it(desk):
    (id,) = desk.receive(video(title=NEARLY))
    draft(desk, TITLE, subject="Issue 11")
    newest = draft(desk, TITLE)
    page = desk.ask("GET", f"/admin/inbox/{id}")
    assert f'<a href="/admin/campaigns/{newest}">“Issue 12”, not sent yet</a>' in page.text
    assert "Issue 11" not in page.text


def test_a_deleted_draft_is_forgotten(desk):
    (id,) = desk.receive(video(title=NEARLY))
    desk.ask("DELETE", f"/admin/api/campaigns/{draft(desk, TITLE)}")
    for page in pages(desk, id):
        assert "Nearly" not in page


def test_what_was_used_itself_says_only_that(desk):
    (id,) = desk.receive(video(title=TITLE))
    desk.ask("POST", "/admin/api/inbox/compose", json={"sections": [{"ids": [id]}]})
    draft(desk, TITLE)
    for page in pages(desk, id):
        assert f"Already in “{TITLE}”, not sent yet" in page
        assert "Nearly" not in page


def test_short_titles_and_names_of_animals_say_nothing(desk):
    (short,) = desk.receive(video("short", title="News"))
    seen = video("seen", title=TITLE, provider=Provider.SIGHTING, content_type=ContentType.SIGHTING)
    draft(desk, "News", TITLE)
    assert service.find_histories("desk", [video("short", title="News"), seen]) == {}
    assert "Nearly" not in words(desk.ask("GET", f"/admin/inbox/{short}"))


def test_members_are_not_told(desk, ada):
    (id,) = ada.receive(video(title=NEARLY))
    draft(desk, TITLE)
    assert "Nearly" not in words(ada.ask("GET", "/inbox"))
    assert "Nearly" not in words(ada.ask("GET", f"/inbox/{id}"))


def test_the_json_names_only_uses_of_the_item_itself(desk):
    (id,) = desk.receive(video(title=NEARLY))
    draft(desk, TITLE)
    assert [entry["used_in"] for entry in desk.entries()] == [[]]
    composed = desk.ask("POST", "/admin/api/inbox/compose", json={"sections": [{"ids": [id]}]})
    assert (composed.status, composed.json["warnings"]) == (201, [])


@pytest.mark.parametrize("path", ["", "/compose?ids={ids}"])
def test_a_page_takes_the_same_requests_however_many_titles_are_like_others(desk, path):
    ids = desk.receive(*(video(f"{number}", title=f"{TITLE} {number}") for number in range(20)))
    path = f"/admin/inbox{path.format(ids='.'.join(ids))}"
    draft(desk, f"{TITLE} 0")
    desk.ask("GET", path)  # whatever a first request looks up
    taken = []
    for number in range(1, 20, 6):
        with recorded_calls() as calls:
            assert SAID in words(desk.ask("GET", path))
        taken.append(len(calls))
        draft(desk, *(f"{TITLE} {other}" for other in range(number, number + 6)))
    assert len(set(taken)) == 1, taken


def test_histories_take_three_requests(desk):
    items = [video(f"{number}", title=f"{TITLE} {number}") for number in range(30)]
    ids = desk.receive(*items)
    desk.ask("POST", "/admin/api/inbox/compose", json={"sections": [{"ids": ids[:10]}]})
    draft(desk, *(f"{TITLE} {number}" for number in range(10, 30)))
    with recorded_calls() as calls:
        found = uses.find_histories(items)
    assert sorted(calls) == ["BatchGetItem", "BatchGetItem", "Query"]
    assert [bool(found[id].uses) for id in ids] == [True] * 10 + [False] * 20
    assert [bool(found[id].similar) for id in ids] == [False] * 10 + [True] * 20


PAGE = "https://blog.example.org/frost"
FROST = {"title": "Frost", "canonical_url": f"{PAGE}?utm_source=x"}
ALREADY = "Already in “Issue 12”, not sent yet"


def by_hand(desk, *links, subject="Issue 12", title="Written by hand"):
    """A campaign whose items were never in the inbox."""
    body = {"subject": subject, "body": blocks.write(Item(title, link) for link in links), "format": "markdown"}
    made = desk.ask("POST", "/admin/api/campaigns", json=body)
    assert made.status == 201, made.text
    return made.json["id"]


def reviewed(campaign_id):
    return [finding.message for finding in uses.findings(campaigns.view(campaign_id))]


def test_an_item_says_that_a_campaign_leads_to_its_page_though_it_was_never_in_the_inbox(desk):
    (id,) = desk.receive(video(**FROST))
    by_hand(desk, f"{PAGE}#top")
    for page in pages(desk, id):
        assert ALREADY in page
    assert [entry["used_in"] for entry in desk.entries()] == [[]]


def test_the_review_says_so_between_two_campaigns_by_hand(desk):
    first, second = by_hand(desk, PAGE), by_hand(desk, f"{PAGE}?utm_source=x", subject="Issue 13", title="Another")
    assert reviewed(first) == ["“Written by hand” is already in “Issue 13”, not sent yet."]
    assert reviewed(second) == ["“Another” is already in “Issue 12”, not sent yet."]


def test_what_the_feed_brought_to_readers_is_known(desk):
    (id,) = desk.receive(video(**FROST))
    posts = [Entry(f"{at}", f"A post of day {at}", f"https://blog.example.org/{at}", "") for at in range(49)]
    detail, writes = campaigns.create_writes(digest.draft([*posts, Entry("f", "Frost", PAGE, "")]), send=False)
    tables.transact(*writes)
    for page in pages(desk, id):
        assert "Already in “A post of day 0 and 49 more”, not sent yet" in page
    (stored,) = [row for row in use_store.ContentsRow.scan() if row.item_id == detail.campaign.id]
    assert (len(stored.links), len(stored.titles)) == (50, 49)


def test_a_link_or_title_that_an_editor_changes_is_known(desk):
    (id,) = desk.receive(video(**FROST))
    campaign_id = draft(desk, "Something else altogether")
    changed = blocks.write([Item("Frost and ice", PAGE, entry=f"{0:032x}")])
    desk.ask("PATCH", f"/admin/api/campaigns/{campaign_id}", json={"body": changed})
    assert ALREADY in words(desk.ask("GET", f"/admin/inbox/{id}"))
    desk.ask("PATCH", f"/admin/api/campaigns/{campaign_id}", json={"body": "Nothing."})
    assert "Already" not in words(desk.ask("GET", f"/admin/inbox/{id}"))
    assert not list(use_store.ContentsRow.query("titles of desk"))


def test_rows_from_before_links_were_kept_are_read(desk):
    (id,) = desk.receive(video(title=NEARLY))
    campaign_id = draft(desk, TITLE)
    use_store.ContentsRow("titles of desk", campaign_id).update([use_store.ContentsRow.links.remove()])
    assert SAID in words(desk.ask("GET", f"/admin/inbox/{id}"))


def test_a_campaign_of_very_many_items_has_a_row_of_bounded_size(desk):
    by_hand(desk, *(f"https://blog.example.org/{number}" for number in range(150)))
    (stored,) = use_store.ContentsRow.query("titles of desk")
    assert len(stored.links) == 100


@pytest.mark.parametrize("link", ["https://[::1", "https://x:y/", "?", "https://cdn.ampproject.org/c/" * 9_000])
def test_a_campaign_is_saved_whatever_is_typed_as_a_link(desk, link):
    campaign_id = by_hand(desk, link, PAGE)
    assert reviewed(campaign_id) == []


def test_only_entries_cause_an_event(desk):
    by_hand(desk, PAGE)
    assert not [row for row in EventRow.scan() if row.type == "ITEM_USED"]
