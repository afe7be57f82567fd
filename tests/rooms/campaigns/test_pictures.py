"""Public copies of pictures stay while a campaign shows them, and for ever once it is sent; those that only a deleted
draft showed are removed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from PIL import Image

from chalicelib.campaigns import changes, pictures, service, store
from chalicelib.campaigns.content import blocks, corrections
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.model import Counts, Format
from chalicelib.campaigns.review import preflight
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import objects, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unavailable
from chalicelib.media import jobs, places
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from tests.rooms.campaigns.examples import soon
from tests.rooms.media.pictures import PNG, encode, grid

pytestmark = pytest.mark.usefixtures("media_bucket")

# Nobody has published it.
UNKNOWN = "0" * 32 + ".jpg"


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Two days, with the hourly clean-up at their end."""

    def move() -> None:
        moment = clock.now() + timedelta(days=2)
        monkeypatch.setattr(clock, "now", lambda: moment)
        jobs.clean_up(lambda: True)

    return move


@pytest.fixture
def one() -> str:
    return media.publish(encode(grid())).name


@pytest.fixture
def other() -> str:
    return media.publish(encode(grid(cell=20))).name


def body(*names: str) -> str:
    return blocks.write([Item("A title", "https://x.example/", picture=media.copy_url(name)) for name in names])


def draft(*names: str, **more: Any) -> Draft:
    return Draft(**{"subject": "Hello", "body": body(*names), "format": Format.MARKDOWN, **more})


def create(*names: str, **more: Any) -> str:
    return service.create(draft(*names, **more)).campaign.id


def uses() -> dict[str, int]:
    return {row.id: int(row.uses) for row in CopyRow.scan()}


def is_public(name: str) -> bool:
    return objects.get(places.public(name), 1) is not None


def test_a_copy_stays_as_long_as_the_draft_that_shows_it(wait: Any, one: str) -> None:
    id = create(one, one)
    wait()
    assert is_public(one)
    assert uses() == {one: 1}
    service.delete(id)
    assert is_public(one), "somebody may be about to use it"
    wait()
    assert not is_public(one)
    assert uses() == {}


def test_an_edit_releases_what_is_no_longer_shown(wait: Any, one: str, other: str) -> None:
    id = create(one)
    service.update(id, {}, {"body": body(other) + "\nMore words."})
    assert uses() == {one: 0, other: 1}
    service.update(id, {"subject": "Another"}, {})
    service.update(id, {}, {"body": body(other)})
    wait()
    assert uses() == {other: 1}
    assert (is_public(one), is_public(other)) == (False, True)


def test_brought_back_within_a_day_it_stays(wait: Any, one: str) -> None:
    id = create(one)
    service.update(id, {}, {"body": "Without it."})
    service.update(id, {}, {"body": body(one)})
    wait()
    assert is_public(one)


def test_of_two_drafts_with_the_same_picture_the_other_keeps_it(wait: Any, one: str) -> None:
    first, second = create(one), create(one)
    service.delete(first)
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})
    service.delete(second)
    wait()
    assert not is_public(one)


def test_a_duplicate_counts_for_itself(wait: Any, one: str) -> None:
    first = create(one)
    second = service.duplicate(first).campaign.id
    service.delete(first)
    wait()
    assert is_public(one)
    assert service.view(second).content.pictures == {one}


def test_what_an_item_still_shows_stays(wait: Any, one: str) -> None:
    tables.transact(media.use_write(one))
    service.delete(create(one))
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})


@pytest.mark.parametrize("finished", [False, True])
def test_what_was_sent_or_is_being_sent_stays_whoever_else_had_it(wait: Any, one: str, finished: bool) -> None:
    sent, deleted = create(one), create(one)
    detail = service.send_now(sent)
    if finished:
        deliveries.finish(detail.deliveries[0], Counts(2, 2))
    service.delete(deleted)
    for _ in range(2):
        wait()
    with pytest.raises(Conflict):
        service.delete(sent)
    with pytest.raises(Conflict):
        service.update(sent, {}, {"body": "Nothing"})
    assert not media.unpublish(one)
    assert (is_public(one), uses()) == (True, {one: 1})


def test_wherever_the_address_stands_it_counts(one: str, other: str) -> None:
    html = f'<p><img src="https://before.example/media/{one}" alt=""></p>'
    create(format=Format.HTML, body=html, text=f"See /media/{other}.")
    create(body=f"![A fox]({media.copy_url(one)})")
    assert uses() == {one: 2, other: 1}


def test_an_address_that_nobody_has_is_saved_and_changes_nothing() -> None:
    id = create(UNKNOWN)
    assert service.view(id).content.pictures == frozenset()
    service.update(id, {}, {"body": body(UNKNOWN) + "\nMore."})
    service.delete(id)
    assert uses() == {}


def test_a_copy_that_comes_after_the_draft_was_saved_is_counted_when_it_is_sent(wait: Any, one: str) -> None:
    media.unpublish(one)
    id = create(one)
    assert media.publish(encode(grid())).name == one
    service.send_now(id)
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})


def test_a_campaign_of_the_feed_counts_too(wait: Any, one: str) -> None:
    _, writes = service.create_writes(draft(one), send=True)
    assert uses() == {one: 0}
    tables.transact(*writes)
    wait()
    assert is_public(one)


def test_a_correction_has_its_pictures_while_it_is_shown(wait: Any, one: str, other: str) -> None:
    third = media.publish(encode(grid(cell=30))).name
    id = create(one)
    service.send_now(id)
    corrections.correct(id, corrections.NewCorrection(body=body(one, other), note="Wrong."))
    assert uses() == {one: 2, other: 1, third: 0}
    corrections.correct(id, corrections.NewCorrection(body=body(third), note="Wrong again."))
    assert uses() == {one: 1, other: 0, third: 1}
    wait()
    assert (is_public(one), is_public(other), is_public(third)) == (True, False, True)
    corrections.withdraw(id)
    wait()
    assert uses() == {one: 1}
    assert is_public(one)


def test_the_review_names_pictures_that_are_gone(ses: Any, one: str) -> None:
    id = create(one, UNKNOWN)
    found = [finding for finding in preflight.check(service.view(id)).findings if finding.code == "missing_pictures"]
    assert [finding.message for finding in found] == [f"1 picture is no longer stored here: /media/{UNKNOWN}."]


# At the same moment


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Once, between reading and writing."""
    transact = tables.transact

    def interrupted(*writes: Any) -> None:
        monkeypatch.setattr(tables, "transact", transact)
        act()
        transact(*writes)

    monkeypatch.setattr(tables, "transact", interrupted)


def test_one_draft_is_deleted_while_the_other_is_saved(monkeypatch: pytest.MonkeyPatch, wait: Any, one: str) -> None:
    first = create(one)
    meanwhile(monkeypatch, lambda: service.delete(first))
    create(one)
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})


def test_saved_while_the_copy_is_removed_the_draft_is_without_it(monkeypatch: pytest.MonkeyPatch, one: str) -> None:
    meanwhile(monkeypatch, lambda: media.unpublish(one))
    id = create(one)
    assert service.view(id).content.pictures == frozenset()
    service.delete(id)
    assert uses() == {}


def test_with_a_picture_that_is_needed_nothing_is_saved_then(monkeypatch: pytest.MonkeyPatch, one: str) -> None:
    meanwhile(monkeypatch, lambda: media.unpublish(one))
    with pytest.raises(Unavailable):
        service.create(draft(one), needed=frozenset({one}))
    assert service.list_page(None, 1, 10).total == 0
    id = create()
    with pytest.raises(Unavailable):
        service.rewrite(id, lambda _: body(one), needed=frozenset({one}))
    assert service.view(id).content.body == body()


def test_sent_while_it_is_deleted_it_keeps_its_picture(monkeypatch: pytest.MonkeyPatch, wait: Any, one: str) -> None:
    id = create(one)
    meanwhile(monkeypatch, lambda: service.send_now(id))
    with pytest.raises(Conflict):
        service.delete(id)
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})


def test_sent_while_the_picture_is_taken_out_it_keeps_it(
    monkeypatch: pytest.MonkeyPatch, wait: Any, one: str
) -> None:
    id = create(one)
    service.schedule(id, soon())
    meanwhile(monkeypatch, lambda: service.send_now(id))
    with pytest.raises(Conflict):
        service.update(id, {}, {"body": "Without it."})
    wait()
    assert (is_public(one), uses()) == (True, {one: 1})


def test_deleted_twice_at_once_it_is_released_once(monkeypatch: pytest.MonkeyPatch, one: str) -> None:
    create(one)
    second = create(one)
    read, raced = store.find_detail, []

    def read_late(campaign_id: str) -> Any:
        found = read(campaign_id)
        if not raced:
            raced.append(True)
            service.delete(second)
        return found

    monkeypatch.setattr(changes.store, "find_detail", read_late)
    with pytest.raises(NotFound):
        service.delete(second)
    assert uses() == {one: 1}


def test_a_transaction_that_fails_counts_nothing(one: str) -> None:
    _, writes = service.create_writes(draft(one), send=False)
    with pytest.raises(Stale):
        tables.transact(*writes, tables.Check(CopyRow("missing"), CopyRow.id.exists()))
    assert uses() == {one: 0}


# As many as a transaction holds


@pytest.fixture
def many() -> list[str]:
    return [media.publish(encode(Image.new("RGB", (1, 1), (n, 0, 0)), PNG)).name for n in range(181)]


def test_pictures_beyond_what_a_transaction_holds_are_refused(many: list[str]) -> None:
    most = pictures.MOST_EXCHANGED
    id = create(*many[:most])
    with pytest.raises(Invalid, match="pictures can be"):
        service.update(id, {}, {"body": body(*many[: most + 1])})
    with pytest.raises(Invalid, match="exchanged at once"):
        service.update(id, {}, {"body": body(*many[most : 2 * most])})
    copy = service.duplicate(id).campaign.id
    service.send_now(id)
    with pytest.raises(Invalid, match="exchanged at once"):
        corrections.correct(id, corrections.NewCorrection(body=body(*many), note="Wrong."))
    service.delete(copy)
    assert set(uses().values()) == {0, 1}


def test_as_many_items_as_a_campaign_may_have_bring_a_picture_each(many: list[str]) -> None:
    items = [
        Item("A title", "https://x.example/", picture=media.copy_url(name), entry=f"{number:032x}")
        for number, name in enumerate(many[:30])
    ]
    id = service.create(draft(body=blocks.write(items))).campaign.id
    with pytest.raises(Invalid, match="At most 30 different pictures"):
        service.update(id, {}, {"body": f"{blocks.write(items)}\n\n{body(many[30])}"})
    service.delete(service.duplicate(id).campaign.id)
    service.delete(id)
    assert set(uses().values()) == {0}
