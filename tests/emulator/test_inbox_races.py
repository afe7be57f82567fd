"""Deliveries at the same moment, on real conditions and transactions: one entry an owner, one event for the desk. And
drafts that begin and cease to show the same picture, while it is cleaned up."""

from datetime import timedelta

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Format
from chalicelib.events.store import EventRow
from chalicelib.inbox import service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import DESK, Act
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Conflict, NotFound
from chalicelib.media import jobs as media_jobs
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from tests.rooms.inbox.things import FOLLOW, NOON, receive, states, to, video
from tests.rooms.media.pictures import encode, grid

OWNERS = [DESK, *(f"member-{number:02}" for number in range(44))]


def test_four_workers_deliver_the_same_item_once_to_each(emulator, together):
    for number in range(5):
        item = video(f"number {number}")
        found = together(*[lambda item=item: service.deliver(item, to(*OWNERS), NOON)] * 4)
        assert sorted(owner for owners in found for owner in owners) == sorted(OWNERS)
    assert len(list(EntryRow.scan())) == 5 * 45
    assert len([row for row in EventRow.scan() if row.type == "ITEM_RECEIVED"]) == 5


def test_somebody_with_newer_word_of_the_item_comes_between(emulator, together):
    newer = video(refreshed_at=NOON + timedelta(hours=1), title="Newer")
    together(
        lambda: service.deliver(video(), to(*OWNERS), NOON),
        lambda: service.deliver(newer, to(*OWNERS[20:]), NOON),
        lambda: service.deliver(video(), [], NOON),
    )
    assert service.find_item(video().id) == newer
    assert len(list(EntryRow.scan())) == 45


def test_a_follow_ends_while_its_entries_are_kept_and_dismissed(emulator, together):
    ids = receive(DESK, *(video(f"number {number}") for number in range(30)))
    together(
        lambda: service.forget_follow(DESK, FOLLOW, lambda: True),
        lambda: service.forget_follow(DESK, FOLLOW, lambda: True),
        lambda: service.bulk(DESK, ids[:10], Act.BOOKMARK),
        lambda: service.bulk(DESK, ids[10:20], Act.DISMISS),
    )
    while not service.forget_follow(DESK, FOLLOW, lambda: True):
        pass
    found = states()
    assert {found[id] for id in ids[10:]} == {None}
    assert {found[id] for id in ids[:10]} <= {None, "BOOKMARKED"}
    assert not [row for row in EntryRow.scan() if row.follow_id]


def test_drafts_come_and_go_while_their_picture_is_cleaned_up(emulator, together, monkeypatch):
    name = media.publish(encode(grid())).name
    draft = campaigns.Draft("Hello", f"![A fox]({media.copy_url(name)})", format=Format.MARKDOWN)
    for _ in range(5):
        before = [campaigns.create(draft).campaign.id for _ in range(2)]
        together(
            lambda: campaigns.create(draft),
            lambda: campaigns.create(draft),
            *(lambda id=id: campaigns.delete(id) for id in before),
            lambda: media_jobs.clean_up(lambda: True),
        )
        moment = clock.now() + timedelta(days=2)
        monkeypatch.setattr(clock, "now", lambda moment=moment: moment)
        media_jobs.clean_up(lambda: True)
    assert CopyRow.get(name).uses == 10
    assert media.read_copy(name)
    for campaign in campaigns.list_page(None, 1, 100).items:
        campaigns.delete(campaign.id)
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(days=2))
    media_jobs.clean_up(lambda: True)
    assert media.read_copy(name) is None


def test_of_sending_and_deleting_one_happens_and_the_picture_follows(emulator, together):
    for number in range(5):
        name = media.publish(encode(grid(cell=20 + number))).name
        draft = campaigns.Draft("Hello", f"![A fox]({media.copy_url(name)})", format=Format.MARKDOWN)
        id = campaigns.create(draft).campaign.id
        found = together(lambda id=id: campaigns.send_now(id), lambda id=id: campaigns.delete(id))
        assert [isinstance(one, Conflict | NotFound) for one in found].count(True) == 1
        was_sent = not isinstance(found[0], Exception)
        assert CopyRow.get(name).uses == was_sent
        assert media.unpublish(name) is not was_sent
