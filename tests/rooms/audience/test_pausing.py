"""A paused reader stays subscribed and gets what they ask for, but no campaign, until they or an editor resume."""

import pytest

from chalicelib.audience import counts, erasure, pausing, recipients
from chalicelib.audience.stores import subscribers
from chalicelib.campaigns.model import Targeting
from chalicelib.events import store as events_store
from chalicelib.events.model import EventType
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale


@pytest.fixture
def ada(reader, rows):
    """Somebody who is paused."""
    person = reader().join(source="blog")
    pausing.pause(_id(rows))
    return person


def _id(rows):
    return rows("subscribers")[0]["id"]["S"]


def _gets_campaigns(id):
    (found,) = [people for people, _ in recipients.pages((0, 1), None, Targeting().resolve("UTC"), clock.now(), 10)]
    assert recipients.count(Targeting().resolve("UTC"), clock.now()) == len(found) == len(recipients.reload([id]))
    assert recipients.count_everybody() == len(found)
    return bool(found)


def _events(*types):
    rows = sorted(tables.scan(events_store.EventRow), key=lambda row: row.id)
    return [(row.type, row.payload["reason"]) for row in rows if row.type in types]


def test_who_is_paused_gets_no_campaign_and_is_counted_as_a_subscriber(ada, rows):
    assert not _gets_campaigns(_id(rows))
    assert counts.total() == 1
    assert pausing.count() == 1
    assert rows("subscribers")[0]["status"]["S"] == "activated"
    assert list(recipients.look_up([_id(rows)])) == [_id(rows)]


def test_the_mails_they_ask_for_still_come_and_their_page_says_why(ada, http):
    page = http.get(f"/profile?token={ada.magic_token()}").text
    assert "You do not get our emails at the moment: they are paused." in page
    assert "Send me emails again" in page


def test_the_page_says_that_mails_came_back(reader, rows, http):
    ada = reader().join()
    tables.transact(*pausing.pause_writes(_id(rows), "hard_bounce", clock.now()))
    assert "our emails came back as undeliverable" in http.get(f"/profile?token={ada.magic_token()}").text
    stored = ada.stored()
    assert (stored["paused_because"], stored["resumed_at"]) == ("hard_bounce", None)


def test_the_person_resumes_on_their_page_and_the_link_still_works(ada, rows, http):
    token = ada.magic_token()
    for _ in range(2):
        page = http.post("/profile/resume", form={"token": token})
        assert (page.status, "You will get our next email" in page.text) == (200, True)
    assert _gets_campaigns(_id(rows))
    paused = _events(EventType.SUBSCRIBER_PAUSED, EventType.SUBSCRIBER_RESUMED)
    assert paused == [("SUBSCRIBER_PAUSED", "editor"), ("SUBSCRIBER_RESUMED", "person")]
    assert http.post("/profile/resume", form={"token": token[:-1]}).status == 401


@pytest.mark.parametrize("fields", [{"source": "blog"}, {"source": "shop"}, {}])
def test_a_new_sign_up_resumes_once_it_is_confirmed(ada, rows, fields):
    ada.subscribe(**fields)
    assert not _gets_campaigns(_id(rows))
    assert "already receive" not in ada.mails()[0]["text"]
    assert ada.confirm().status == 303
    assert _gets_campaigns(_id(rows))
    assert _events(EventType.SUBSCRIBER_RESUMED) == [("SUBSCRIBER_RESUMED", "person")]


def test_somebody_who_is_not_paused_gets_no_mail_for_signing_up_again(reader):
    ada = reader().join(source="blog")
    before = len(ada.mails())
    ada.subscribe(source="blog")
    assert len(ada.mails()) == before


def test_another_address_resumes(ada, reader, rows, http):
    answer = http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    assert answer.status == 200
    ada.deliver()
    assert reader("new@example.net").confirm().status == 303
    assert _gets_campaigns(_id(rows))
    assert _events(EventType.SUBSCRIBER_RESUMED) == [("SUBSCRIBER_RESUMED", "email_changed")]


def test_an_editor_pauses_and_resumes(reader, rows, admin):
    reader().join()
    id = _id(rows)
    for _ in range(2):
        answer = admin.post(f"/admin/api/subscribers/{id}/pause")
        assert (answer.status, answer.json["paused_because"]) == (200, "editor")
        assert answer.json["paused_at"]
    for _ in range(2):
        answer = admin.post(f"/admin/api/subscribers/{id}/resume")
        assert (answer.status, answer.json["paused_at"], answer.json["paused_because"]) == (200, None, None)
    assert len(_events(EventType.SUBSCRIBER_PAUSED, EventType.SUBSCRIBER_RESUMED)) == 2


def test_only_somebody_who_confirmed_can_be_paused(reader, rows, admin):
    reader().subscribe()
    answer = admin.post(f"/admin/api/subscribers/{_id(rows)}/pause")
    assert (answer.status, answer.json) == (409, {"error": "Only activated subscribers can be paused"})
    for call in ("pause", "resume"):
        assert admin.post(f"/admin/api/subscribers/0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e/{call}").status == 404
        assert admin.post(f"/admin/api/subscribers/nobody/{call}").status == 404


def test_who_is_paused_can_be_listed_apart(ada, reader, admin):
    reader("bob@example.net").join()
    listed = admin.get("/admin/api/subscribers?status=paused").json
    assert [(item["email"], item["status"]) for item in listed["items"]] == [("ada@example.net", "Activated")]
    assert listed["total"] == 1
    both = admin.get("/admin/api/subscribers").json["items"]
    assert [bool(item["paused_at"]) for item in both] == [False, True]
    assert [item["email"] for item in admin.get("/admin/api/subscribers?q=ada").json["items"] if item["paused_at"]]
    assert "ada@example.net" in admin.get("/admin/api/subscribers/export?status=paused").text


def test_nobody_is_paused_for_what_happened_before_they_resumed(ada, rows):
    since = clock.now()
    pausing.resume(_id(rows), pausing.BY_EDITOR)
    assert pausing.pause_writes(_id(rows), "hard_bounce", since) == []
    assert pausing.pause_writes(_id(rows), "hard_bounce", clock.now()) != []


def test_a_pause_for_another_address_does_not_count(reader, rows):
    reader().join()
    assert pausing.pause_writes(_id(rows), "hard_bounce", clock.now(), "other@example.net") == []


def test_a_pause_that_comes_while_somebody_leaves_brings_nothing_back(reader, rows):
    reader().join()
    id = _id(rows)
    writes = pausing.pause_writes(id, "hard_bounce", clock.now())
    erasure.erase(subscribers.find(id), EventType.UNSUBSCRIBED, "link")
    with pytest.raises(Stale):
        tables.transact(*writes)
    assert rows("subscribers") == []
    assert pausing.pause_writes(id, "hard_bounce", clock.now()) == []


def test_somebody_who_is_paused_can_leave(ada, rows, http):
    person = rows("subscribers")[0]
    token = f"{person['id']['S']}.{person['unsubscribe_secret']['S']}"
    assert http.get(f"/api/unsubscribe?token={token}").status == 200
    assert rows("subscribers") == []
    assert (counts.total(), pausing.count(), recipients.count_everybody()) == (0, 0, 0)
