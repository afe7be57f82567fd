"""Whose words an item shows: what a member brings changes neither what the desk has, nor what a provider tells."""

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.inbox import item_store, labels, links, model, picture_store, service
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, ContentType, Item, Provider, State, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.inbox.things import NOON, article, entry, receive, to, video
from tests.rooms.inbox.web import page

pytestmark = pytest.mark.usefixtures("aws")

STORY = "https://paper.example/story"
STORY_ID = links.item_id("paper.example/story")


def claim(trust: Trust = Trust.CLAIMED, **changes: Any) -> Item:
    """As a feed tells of the story; of any site, unless it says otherwise."""
    fields: dict[str, Any] = {
        "creator": "Her feed",
        "creator_id": "hers",
        "image": "https://evil.example/fake.jpg",
        "excerpt": "Made up.",
        "trust": trust,
    }
    title, link = "Minister resigns (fake)", STORY.replace("https:", "http:")
    found = Item(STORY_ID, Provider.RSS, "1", ContentType.ARTICLE, title, link, clock.now(), **fields)
    return replace(found, **changes)


def shown(box: Any) -> tuple[Any, ...]:
    (found,) = box.entries()
    return found["title"], found["creator"], found["excerpt"], found["canonical_url"], found["provider"]


@pytest.fixture
def story(web):
    web.says[STORY] = page("Minister visits school", '<meta property="og:site_name" content="The Paper">')
    web.moved[STORY.replace("https:", "http:")] = STORY
    return web


REAL = ("Minister visits school", "The Paper", None, STORY, "LINK")


def test_a_member_s_feed_does_not_change_what_the_desk_has_saved(desk, ada, story, later):
    id = desk.clip(STORY).json["id"]
    desk.act(id, "bookmark")
    later(hours=1)
    assert receive(ada.owner, claim()) == [id]
    (kept,) = desk.entries("?state=BOOKMARKED")
    assert (kept["title"], kept["creator"], kept["canonical_url"]) == ("Minister visits school", "The Paper", STORY)
    assert service.find_item(id).image == ""
    assert shown(ada) == REAL
    assert desk.ids("?state=BOOKMARKED&q=school") == ada.ids("?q=school") == [id]


def test_what_the_desk_saves_is_read_although_a_member_s_feed_was_first(desk, ada, story):
    receive(ada.owner, claim())
    assert shown(ada)[0] == "Minister resigns (fake)"
    assert desk.clip(STORY).status == 201
    assert story.asked == [STORY]
    assert shown(desk) == shown(ada) == REAL
    assert desk.ids("?q=fake") == ada.ids("?q=fake") == []
    assert desk.ids("?q=school") == ada.ids("?q=school") == [STORY_ID]


def test_a_member_s_page_is_read_too_instead_of_believing_a_feed(ada, bob, story):
    receive(ada.owner, claim())
    assert bob.clip(STORY).json["title"] == "Minister visits school"


def test_her_picture_does_not_stay_beside_other_words(desk, ada, story):
    receive(ada.owner, claim())
    ItemRow(STORY_ID).update(actions=[ItemRow.picture.set("hers"), ItemRow.picture_of.set("x")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture_store.media, "release_write", lambda name: item_store.touch_write(article().id))
        item_store.save(article())
        desk.clip(STORY)
    assert service.find_item(STORY_ID).picture == ""


def test_if_the_desk_cannot_read_it_it_gets_the_link_and_not_her_words(desk, ada, web):
    receive(ada.owner, claim())
    web.says[STORY] = (503, b"")
    found = desk.clip(STORY).json
    assert (found["title"], found["canonical_url"]) == ("paper.example/story", STORY)
    assert found["problem"] == "The page could not be read: the site answered 503"
    receive(ada.owner, claim(refreshed_at=clock.now()))
    receive("bob", claim(Trust.READ, refreshed_at=clock.now()))
    assert desk.entries()[0]["title"] == "paper.example/story"


def test_what_was_read_for_a_member_stays_if_the_desk_cannot_read_it_now(desk, ada, story):
    ada.clip(STORY)
    story.says[STORY] = FetchFailed("timeout", "no complete response in time")
    assert desk.clip(STORY).json["title"] == "Minister visits school"
    assert service.find_item(STORY_ID).trust is Trust.DESK_READ


def test_what_the_desk_follows_is_not_read_when_it_is_saved(desk, story):
    receive(DESK, claim(title="As our link blog calls it"))
    assert desk.clip(STORY).json["title"] == "As our link blog calls it"
    assert story.asked == []


@pytest.mark.parametrize("owner", [DESK, "ada"])
def test_a_page_is_read_again_after_thirty_days(story, later, owner):
    service.clip(owner, STORY)
    later(days=31)
    story.says[STORY] = page("Minister visits two schools")
    detail, is_new = service.clip(owner, STORY)
    assert (is_new, detail.item.title) == (False, "Minister visits two schools")
    assert len(service.list_page(owner, words=("two",)).entries) == 1
    later(days=31)
    story.says[STORY] = (503, b"")
    assert service.clip(owner, STORY)[0].item.title == "Minister visits two schools"


def test_what_a_reading_could_not_replace_is_not_read(story, later):
    service.clip(DESK, STORY)
    later(days=31)
    assert service.clip("ada", STORY)[0].item.title == "Minister visits school"
    assert len(story.asked) == 1


def test_a_feed_that_the_desk_follows_too_is_the_desk_s_whoever_is_named_first():
    many = [f"member-{number:02}" for number in range(30)]
    service.deliver(claim(), to(*many, DESK), NOON)
    assert service.find_item(STORY_ID).trust is Trust.DESK_CLAIMED


def test_what_is_served_again_from_the_store_is_trusted_as_it_was():
    service.deliver(claim(), to("ada"), NOON)
    service.deliver(service.find_item(STORY_ID), to(DESK), NOON, is_told=False)
    assert service.find_item(STORY_ID).trust is Trust.CLAIMED
    assert entry(DESK, STORY_ID)


@pytest.mark.parametrize(("first", "second"), list(product(Trust, Trust)))
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("hours", [-1, 0, 1])
@pytest.mark.parametrize("problem", ["", "Not read yet"])
def test_the_store_decides_as_the_model_does(first, second, same, hours, problem):
    before = claim(first, refreshed_at=NOON, problem=problem)
    after = claim(
        second,
        title="Second",
        refreshed_at=NOON + timedelta(hours=hours),
        creator_id="hers" if same else "",
        id=before.id,
    )
    item_store.save(before)
    assert item_store.save(after) is model.replaces(after, before)
    assert service.find_item(before.id) == (after if model.replaces(after, before) else before)


@pytest.mark.parametrize(
    ("stored", "trust"), [(video(), Trust.PROVIDER), (claim(), Trust.CLAIMED), (article(), Trust.CLAIMED)]
)
def test_rows_from_before_are_a_provider_s_or_merely_claimed(stored, trust):
    item_store.save(stored)
    ItemRow(stored.id).update(actions=[ItemRow.trust.remove()])
    assert service.find_item(stored.id).trust is trust
    told = replace(stored, title="Told", creator_id="other", refreshed_at=clock.now(), trust=Trust.READ)
    assert item_store.save(told) is (trust is Trust.CLAIMED)
    own = replace(stored, title="Own", refreshed_at=clock.now(), trust=Trust.PROVIDER)
    assert item_store.save(own) is True


def test_an_entry_is_of_the_kind_that_is_shown(desk, ada):
    """A link blog has mentioned a video before its channel told of it."""
    blog = replace(video(), provider=Provider.RSS, content_type=ContentType.ARTICLE, title="Watch this", image="")
    blog = replace(blog, trust=Trust.CLAIMED, creator_id="blog", duration_seconds=None)
    receive(DESK, blog)
    receive(ada.owner, blog)
    receive(DESK, replace(video(), refreshed_at=NOON - timedelta(hours=1)))
    for box in (desk, ada):
        (found,) = box.entries("?provider=YOUTUBE&type=VIDEO&q=first")
        assert (found["title"], found["duration_seconds"]) == ("The first video", 754)
        assert box.entries("?q=watch") == []


def test_who_gets_it_from_a_blog_later_has_the_video_all_the_same(ada):
    receive("bob", video())
    receive(ada.owner, replace(video(), provider=Provider.RSS, title="Watch this", trust=Trust.CLAIMED))
    (found,) = ada.entries("?provider=YOUTUBE&q=first")
    assert found["title"] == "The first video"


def test_a_search_finds_the_title_that_is_shown_after_it_was_renamed(desk, ada):
    receive(DESK, video(), state=State.BOOKMARKED)
    receive(ada.owner, video())
    assert service.refresh_item(replace(video(), title="Renamed", refreshed_at=NOON + timedelta(hours=1)))
    assert desk.ids("?state=BOOKMARKED&q=renamed") == ada.ids("?q=renamed") == [video().id]
    assert desk.ids("?state=BOOKMARKED&q=first") == ada.ids("?q=first") == []


def test_only_so_many_entries_follow_a_new_name(monkeypatch):
    monkeypatch.setattr(labels, "_MOST_HOLDERS", 3)
    done = []
    monkeypatch.setattr(labels, "apply", lambda owner, item: done.append(owner))
    service.deliver(video(), to(DESK, *(f"member-{number}" for number in range(9))), NOON)
    service.refresh_item(replace(video(), title="Renamed", refreshed_at=NOON + timedelta(hours=1)))
    assert len(done) <= 3
    assert done[0] == DESK


def test_a_member_does_not_suggest_the_words_of_a_feed(desk, ada, story):
    receive(ada.owner, claim())
    assert ada.suggest(STORY_ID, note="Look").status == 204
    assert shown(desk) == REAL
    assert desk.entries()[0]["note"] == "Look"


def test_a_suggested_page_that_cannot_be_read_is_a_link(desk, ada, web):
    receive(ada.owner, claim())
    web.says[STORY] = (503, b"")
    assert ada.suggest(STORY_ID).status == 204
    (found,) = desk.entries()
    assert (found["title"], bool(found["problem"])) == ("paper.example/story", True)


def test_a_page_that_was_read_is_suggested_as_it_is(desk, ada, story):
    ada.clip(STORY)
    ada.suggest(STORY_ID)
    assert len(story.asked) == 1
    assert shown(desk) == REAL
    receive(ada.owner, claim(Trust.READ, refreshed_at=clock.now()))
    assert shown(desk) == REAL
