"""Releases of held confirmations beside each other and beside what their owners do: mailed once, and never lost."""

import re
from datetime import timedelta

import pytest

from chalicelib.audience import held, jobs, model
from chalicelib.audience.stores.captures import CaptureRow
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.kernel import clock
from tests.conftest import received

NAMES = [f"r{number}" for number in range(6)]
RELEASE = {"kind": model.RELEASE}


@pytest.fixture
def held_people(http, ses, configure, monkeypatch):
    """Six people whose confirmations are held, in an hour whose limits have room for all of them."""
    configure(MAILS_PER_HOUR="1")
    for number, name in enumerate(["first", *NAMES]):
        body = {"email": f"{name}@example.net", "source": "blog"}
        assert http.post("/api/subscribe", json=body, source_ip=f"198.51.{number}.1").status == 201
    for message in received("audience"):
        jobs.handle(message)
    assert held.count() == len(NAMES)
    ses.clear()
    configure(MAILS_PER_HOUR="100")
    moment = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: moment)
    return ses


def _mailed(ses):
    return sorted(mail["to"][0].partition("@")[0] for mail in ses.mails())


def _work(together):
    messages = [message for message in received("audience") if message["kind"] == model.HELD]
    together(*(lambda message=message: jobs.handle(message) for message in messages))
    return len(messages)


def test_two_releases_at_once_mail_everybody_once(held_people, together):
    together(lambda: jobs.handle(RELEASE), lambda: jobs.handle(RELEASE))
    assert _work(together) == 2 * len(NAMES)
    assert set(_mailed(held_people)) <= set(NAMES)
    jobs.handle(RELEASE)
    _work(together)
    assert len(_mailed(held_people)) == len(NAMES)
    assert held.count() == 0


def test_two_workers_with_one_message_mail_once(held_people, together):
    jobs.handle(RELEASE)
    messages = [message for message in received("audience") if message["kind"] == model.HELD]
    together(*(lambda message=message: jobs.handle(message) for message in messages * 3))
    for message in messages:
        jobs.handle(message)
    assert len(_mailed(held_people)) == len(set(_mailed(held_people))) == len(NAMES)
    assert held.count() == 0


def test_the_limits_hold_however_many_release_at_once(held_people, together, configure):
    configure(MAILS_PER_HOUR="4")
    together(lambda: jobs.handle(RELEASE), lambda: jobs.handle(RELEASE), lambda: jobs.handle(RELEASE))
    _work(together)
    assert len(_mailed(held_people)) <= 4
    jobs.handle(RELEASE)
    _work(together)
    assert len(_mailed(held_people)) == 4
    assert held.count() == 2


@pytest.mark.parametrize("turn", range(3))
def test_a_release_racing_a_confirm_leaves_nothing_held_or_waiting_for_ever(http, ses, configure, together, turn):
    """The reader has an earlier link; a second sign-up, from another form, is held."""
    _sign_up(http, source="blog")
    link = _link(ses)
    configure(MAILS_PER_HOUR="1")
    _sign_up(http, source="shop")
    assert held.count() == 1
    configure(MAILS_PER_HOUR="100")
    (person,) = SubscriberRow.scan(consistent_read=True)
    message = {"kind": model.HELD, "subscriber_id": person.id}
    confirmed, _ = together(lambda: http.get(link), lambda: jobs.handle(message))
    assert confirmed.status in (303, 400), "the newer link may have replaced it"
    jobs.handle(message)
    assert held.count() == 0
    waits = [row.waits_until for row in CaptureRow.scan(consistent_read=True) if row.waits_until]
    assert waits
    assert all(clock.parse(until) < model.NEVER for until in waits)
    assert http.get(_link(ses)).status == 303
    (person,) = SubscriberRow.scan(consistent_read=True)
    assert "shop" in person.sources
    assert person.status == model.ACTIVATED


@pytest.mark.parametrize("turn", range(3))
def test_a_release_racing_an_erasure_leaves_nothing(held_people, http, together, turn):
    people = list(SubscriberRow.scan(consistent_read=True))
    leave = [f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}" for row in people]
    messages = [{"kind": model.HELD, "subscriber_id": row.id} for row in people]
    together(
        *(lambda path=path: http.get(path) for path in leave),
        *(lambda message=message: jobs.handle(message) for message in messages),
    )
    for path in leave:
        assert http.get(path).status == 200
    assert held.count() == 0
    assert {row.subscriber_id for row in TokenRow.scan(consistent_read=True)} <= {"backlog"}
    assert list(SubscriberRow.scan(consistent_read=True)) == []


def _sign_up(http, **fields):
    body = {"email": "ada@example.net", **fields}
    assert http.post("/api/subscribe", json=body, source_ip="198.51.100.1").status == 201
    for message in received("audience"):
        if message["kind"] == model.SIGN_UP:
            jobs.handle(message)


def _link(ses):
    text = ses.mails(to="ada@example.net")[0]["text"]
    return re.search(r"https://news\.example\.org(/confirm\?\S+)", text).group(1)
