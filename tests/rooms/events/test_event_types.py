"""Every type of event is written when it happens: in the transaction of the change, with the documented fields."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.audience import jobs as audience_jobs
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.bounces import jobs as bounces_jobs
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.events.model import EXAMPLES, EventType
from chalicelib.events.store import EventRow
from chalicelib.feeds import service as feeds
from chalicelib.feeds.state import Trigger
from chalicelib.inbox import service as inbox
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from tests.conftest import received
from tests.rooms.audience.reader import Reader
from tests.rooms.bounces.test_service import event as ses_event
from tests.rooms.inbox.things import to, video

Fields = dict[str, set[str]]


@pytest.fixture
def written(aws: None, monkeypatch: pytest.MonkeyPatch) -> Fields:
    """The fields written so far, by type. An event that is written without a change is a failure at once."""
    found: Fields = {}
    real = tables.transact

    def transact(*writes: tables.Write) -> None:
        real(*writes)
        events: list[Any] = [write.row for write in writes if isinstance(write.row, EventRow)]
        for row in events:
            assert len(events) < len(writes), f"{row.type} is written without a change"
            found.setdefault(row.type, set()).update(row.payload)

    monkeypatch.setattr(tables, "transact", transact)
    return found


@pytest.fixture
def reader(http: Any, ses: Any) -> Callable[[str], Reader]:
    def deliver() -> None:
        for message in received("audience"):
            audience_jobs.handle(message)

    return lambda email: Reader(http, ses, deliver, email)


def test_readers(written: Fields, reader: Any, admin: Any, later: Any) -> None:
    ada = reader("ada@example.net").join(source="blog")
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    assert reader("new@example.net").confirm().status == 303
    (row,) = SubscriberRow.scan()
    ada.http.post(f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}")
    reader("bob@example.net").join()
    for call in ("do-not-contact", "do-not-contact/lift"):
        assert admin.post(f"/admin/api/{call}", json={"email": "bob@example.net"}).status == 200
    reader("reader@example.org").join()
    bounces_jobs.handle(ses_event("event_bounce_permanent"))
    (row,) = SubscriberRow.scan()
    for call in ("pause", "resume"):
        assert admin.post(f"/admin/api/subscribers/{row.id}/{call}").status == 200
    reader("eve@example.net").subscribe()
    later(hours=25)
    audience_jobs.clean_up(lambda: True)
    assert written == {type: set(EXAMPLES[EventType(type)]) for type in written}
    assert set(written) == {type for type in EventType if "subscriber_id" in EXAMPLES[type]}


def test_campaigns(written: Fields) -> None:
    campaign_id = campaigns.create(Draft(subject="Hello", body="<p>Hi</p>")).campaign.id
    campaigns.schedule(campaign_id, clock.text(clock.now().replace(year=clock.now().year + 1)))
    sending = campaigns.send_now(campaign_id)
    deliveries.finish(sending.deliveries[0], Counts(2, 2))
    assert written == {type: set(EXAMPLES[EventType(type)]) for type in written}
    assert set(written) == {"CAMPAIGN_SCHEDULED", "CAMPAIGN_PUBLISHED", "DELIVERY_FINISHED"}


def test_the_feed(written: Fields, blog: Any, ses: Any) -> None:
    blog.answer = (500, {}, b"")
    for _ in range(3):
        feeds.check(Trigger.SCHEDULE)
    blog.answer = None
    feeds.check(Trigger.SCHEDULE)
    assert written == {type: set(EXAMPLES[EventType(type)]) for type in ("FEED_FAILING", "FEED_RECOVERED")}


def test_the_inbox(written: Fields) -> None:
    inbox.deliver(video(), to("desk", "member"), clock.now())
    assert written == {"ITEM_RECEIVED": set(EXAMPLES[EventType.ITEM_RECEIVED])}
