"""Requests that are made, confirmed, expired and erased at the same moment: each has one end, and one event of it."""

import re
import threading
from collections import Counter
from datetime import timedelta

import pytest

from chalicelib.audience import counts, jobs, model, opt_outs
from chalicelib.audience.stores.captures import CaptureRow
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.events.store import EventRow
from chalicelib.kernel import clock
from tests.conftest import received

EMAIL = "ada@example.net"


@pytest.fixture
def ada(http, ses):
    return Ada(http, ses)


class Ada:
    def __init__(self, http, ses):
        self.http, self._ses, self._asked = http, ses, 0

    def sign_up(self, **fields):
        """The messages to handle because of it."""
        self._asked += 1
        body = {"email": EMAIL, **fields}
        assert self.http.post("/api/subscribe", json=body, source_ip=f"198.51.100.{self._asked}").status == 201
        return received("audience")

    def subscribe(self, **fields):
        for message in self.sign_up(**fields):
            jobs.handle(message)
        return self.links()[0]

    def links(self):
        texts = [mail["text"] for mail in self._ses.mails(to=EMAIL)]
        found = [re.search(r"https://news\.example\.org(/confirm\?\S+)", text) for text in texts]
        return [link.group(1) for link in found if link]

    def join(self, **fields):
        assert self.http.get(self.subscribe(**fields)).status == 303


@pytest.fixture
def shifted(monkeypatch):
    """`shifted(call, hours=25)`: the call in its thread runs that much later, whatever time it is for others."""
    real, here = clock.now, threading.local()
    monkeypatch.setattr(clock, "now", lambda: real() + getattr(here, "shift", timedelta()))

    def shift(call, **time):
        def run():
            here.shift = timedelta(**time)
            return call()

        return run

    return shift


def _announced():
    rows = list(EventRow.scan(consistent_read=True))
    return Counter((row.type.removeprefix("SUBSCRIPTION_"), dict(row.payload).get("source")) for row in rows)


def _check_person():
    """The row of a person says what the rows of their captures say."""
    (person,) = SubscriberRow.scan(consistent_read=True)
    assert [row.subscriber_id for row in EmailRow.scan(consistent_read=True)] == [person.id]
    assert counts.total() == (person.status == model.ACTIVATED)
    captures = {row.source: row for row in CaptureRow.scan(consistent_read=True)}
    assert {source for source, row in captures.items() if row.status == "CONFIRMED"} == (person.sources or set())
    assert {source for source, row in captures.items() if row.request_id} == (person.requested_sources or set())
    for row in captures.values():
        assert (row.status == "EXPIRED") == (row.expires_at is not None)
    return person, {source: row.status for source, row in captures.items()}


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("turn", range(2))
def test_two_sources_requested_and_confirmed_at_once(ada, http, together, active, turn):
    if active:
        ada.join(source="blog")
    messages = ada.sign_up(source="podcast", tags=["audio"]) + ada.sign_up(source="shop", tags=["goods"])
    together(*(lambda message=message: jobs.handle(message) for message in messages * 2))
    for message in messages:
        jobs.handle(message)
    links = ada.links()
    together(*(lambda link=link: http.get(link) for link in links * 2))
    assert 303 in {http.get(link).status for link in links}
    person, statuses = _check_person()
    assert person.status == model.ACTIVATED
    confirmed = person.sources - {"blog"}
    assert len(confirmed) == 1, "the link that lives confirms what it was mailed for and nothing else"
    assert person.tags == {"podcast": {"audio"}, "shop": {"goods"}}[next(iter(confirmed))]
    assert sorted(statuses[source] for source in ("podcast", "shop")) == ["CONFIRMED", "PENDING"]
    announced = _announced()
    assert announced["CREATED", "podcast"] == announced["CREATED", "shop"] == 1
    assert announced["CONFIRMED", "podcast"] + announced["CONFIRMED", "shop"] == 1


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("turn", range(3))
def test_a_confirm_racing_an_expiry_has_one_end(ada, http, together, shifted, active, turn):
    if active:
        ada.join(source="blog")
    link = ada.subscribe(source="podcast", tags=["audio"])
    clean_up = shifted(lambda: jobs.clean_up(lambda: True), hours=24, minutes=1)
    answer, *_ = together(lambda: http.get(link), clean_up, clean_up)
    announced = _announced()
    ends = announced["CONFIRMED", "podcast"], announced["EXPIRED", "podcast"]
    assert ends == ((1, 0) if answer.status == 303 else (0, 1))
    assert answer.status in (303, 400)
    if active or answer.status == 303:
        _, statuses = _check_person()
        assert statuses["podcast"] == ("CONFIRMED" if answer.status == 303 else "EXPIRED")
    else:
        assert list(SubscriberRow.scan(consistent_read=True)) == list(EmailRow.scan(consistent_read=True)) == []


@pytest.mark.parametrize("turn", range(2))
def test_a_request_racing_the_expiry_of_the_one_before_waits_or_is_made_anew(ada, together, shifted, turn):
    ada.join(source="blog")
    ada.subscribe(source="podcast")
    messages = shifted(lambda: ada.sign_up(source="podcast", tags=["audio"]), hours=23, minutes=59)()
    handle = shifted(lambda: [jobs.handle(message) for message in messages], hours=23, minutes=59)
    clean_up = shifted(lambda: jobs.clean_up(lambda: True), hours=24, minutes=1)
    together(handle, clean_up)
    _, statuses = _check_person()
    assert statuses == {"blog": "CONFIRMED", "podcast": "PENDING"}
    announced = _announced()
    assert announced["CREATED", "podcast"] == announced["EXPIRED", "podcast"] + 1


@pytest.mark.parametrize("end", ["unsubscribe", "never"])
@pytest.mark.parametrize("fields", [{"source": "podcast"}, {"source": "blog", "tags": ["new"]}])
@pytest.mark.parametrize("turn", range(2))
def test_an_erase_racing_a_request_leaves_nothing(ada, http, together, end, fields, turn):
    ada.join(source="blog", tags=["a"])
    (person,) = SubscriberRow.scan(consistent_read=True)
    messages = ada.sign_up(**fields, metadata={"k": "v"})
    if end == "never":
        token = opt_outs.make_token(EMAIL)
        leave = lambda: http.post("/never", form={"token": token})  # noqa: E731
    else:
        leave = lambda: http.get(f"/api/unsubscribe?token={person.id}.{person.unsubscribe_secret}")  # noqa: E731
    left, *_ = together(leave, *(lambda message=message: jobs.handle(message) for message in messages))
    for message in messages:
        jobs.handle(message)
    assert left.status == 200
    for table in (SubscriberRow, EmailRow, TokenRow, CaptureRow):
        assert list(table.scan(consistent_read=True)) == []
    assert counts.total() == 0


def test_two_clean_ups_at_once_expire_a_request_once(ada, together, shifted):
    ada.join(source="blog")
    ada.subscribe(source="podcast")
    clean_up = shifted(lambda: jobs.clean_up(lambda: True), hours=25)
    assert together(clean_up, clean_up) == [None, None]
    assert _announced()["EXPIRED", "podcast"] == 1
    assert _check_person()[1] == {"blog": "CONFIRMED", "podcast": "EXPIRED"}
