"""After somebody is gone, nothing that is stored, queued or logged names them."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from chalicelib.audience import model
from chalicelib.kernel import clock
from chalicelib.kernel.aws import queues
from tests.emulator import dump
from tests.fixtures.receiver import Receiver
from tests.rooms.events.conftest import hook

EMAIL, NEW_EMAIL, NICKNAME = "ada.lovelace@example.net", "countess@example.net", "Enchantress"
SOURCE_META = {"campaign": "analytical-engine"}
EVENTS = Path(__file__).parents[1] / "rooms" / "bounces" / "events"


@pytest.fixture
def person(http, work, ses, configure):
    configure(KEEP_IP_HASH="true", DISABLE_AUTH="true", GNA_LOCAL="true")
    return Person(http, work, ses)


class Person:
    """Somebody who uses everything there is to use."""

    def __init__(self, http, work, ses):
        self.http, self.work, self.ses = http, work, ses
        self.secrets = {model.ip_pseudonym("192.0.2.1")}

    def subscribe(self, email=EMAIL, source="blog"):
        body = {"email": email, "nickname": NICKNAME, "source": source, "tags": ["x"], "metadata": SOURCE_META}
        assert self.http.post("/api/subscribe", json=body).status == 201

    def join(self):
        self.subscribe()
        self.work("audience")
        self.confirm()

    def confirm(self, email=EMAIL):
        assert self.http.get(self.link(email, "/confirm")).status == 303

    def magic_token(self):
        assert self.http.post("/api/profile/request-link", json={"email": EMAIL}).status == 200
        self.work("audience")
        return self.link(EMAIL, "/profile").partition("token=")[2]

    def use_the_profile(self):
        token = self.magic_token()
        self.http.get(f"/profile?token={token}")
        self.http.get(f"/profile/data?token={token}")
        self.http.post("/api/profile/update", json={"token": token, "nickname": NICKNAME, "email": NEW_EMAIL})
        self.work("audience")

    def report(self, name):
        """SES tells something of a mail to this person."""
        event = (EVENTS / f"event_{name}.json").read_text().replace("reader@example.org", EMAIL)
        queues.send("mail-events", json.loads(event))
        self.work("mail-events")

    def link(self, email, path):
        for mail in self.ses.mails(to=email):
            for link in re.findall(rf"https://news\.example\.org({path}\?token=\S+)", mail["text"]):
                self.secrets.add(link.partition(".")[2])
                return link
        raise AssertionError("no link")


def _nothing_left_of(person, capsys, *expected_words):
    everything = dump.everything(capsys)
    for word in (EMAIL, NEW_EMAIL, NICKNAME, "lovelace", "analytical-engine", "192.0.2.1", *person.secrets):
        assert word.casefold() not in everything.casefold()
    assert person.secrets
    for word in expected_words:
        assert word in everything


def _id():
    from chalicelib.audience.stores.subscribers import SubscriberRow

    (row,) = SubscriberRow.scan(consistent_read=True)
    return row.id, row.unsubscribe_secret


def test_after_an_unsubscribe_of_somebody_who_did_all_there_is_to_do(person, http, work, tick, capsys):
    there = Receiver()
    try:
        hook(there, include_address=True)
        there.answer = lambda call: 500 if call is there.calls[0] else 204
        _live(person, http, work, tick)
        id, secret = _id()
        person.secrets.add(secret)
        person.subscribe(source="podcast")  # and its message comes late
        for word in (EMAIL, NEW_EMAIL, NICKNAME, "analytical-engine", secret, model.ip_pseudonym("192.0.2.1")):
            assert word in dump.rows()
        assert http.get(f"/api/unsubscribe?token={id}.{secret}").status == 200
        work()
        tick("sweep_events", "sweep_deliveries", "clean_up")
        work()
    finally:
        there.stop()
    assert EMAIL in str([call.body for call in there.calls]), "the receiver was told, and nobody else"
    _nothing_left_of(person, capsys, id, *_TRACES, "UNSUBSCRIBED")


# What must be in the dump for it to have looked everywhere: rows and lines that ids leave behind.
_TRACES = (
    "BOUNCE_RECORDED",
    "message.failed",
    '{"kind": "magic-link"',
    "published",
    "subscribers.export",
    '"N": "500"',
)


def _live(person, http, work, tick):
    person.join()
    person.use_the_profile()
    person.subscribe(source="shop")
    work("audience")
    campaign = http.post("/admin/api/campaigns", json={"subject": "News", "body": "<p>{{nickname}}</p>"}).json["id"]
    assert http.post(f"/admin/api/campaigns/{campaign}/send").status < 300
    work.until(lambda: any(mail["subject"] == "News" for mail in person.ses.mails(to=EMAIL)))
    person.report("bounce_permanent")
    person.ses.tell(down=True)
    http.post("/api/profile/request-link", json={"email": EMAIL})
    work("audience")  # in vain, until it is a dead letter
    person.ses.tell(down=False)
    for path in ("/admin/api/subscribers?q=lovelace", "/admin/api/subscribers/export", "/admin/bounces"):
        assert http.get(path).status == 200
    tick("sweep_events")
    work()


def test_after_the_new_address_was_confirmed_and_the_link_clicked(person, http, capsys):
    person.join()
    person.use_the_profile()
    person.confirm(NEW_EMAIL)
    id, secret = _id()
    http.post(f"/api/unsubscribe?token={id}.{secret}", form={"List-Unsubscribe": "One-Click"})
    _nothing_left_of(person, capsys, "EMAIL_CHANGED", "UNSUBSCRIBED")


def test_after_a_removal_by_the_operator(person, http, capsys):
    person.join()
    person.use_the_profile()
    assert http.delete(f"/admin/api/subscribers/{_id()[0]}").status == 204
    _nothing_left_of(person, capsys, "subscriber.remove", "dev@localhost")


def test_after_a_complaint(person, capsys):
    person.join()
    person.use_the_profile()
    person.report("complaint")
    _nothing_left_of(person, capsys, "DO_NOT_CONTACT_SET", "complaint")


def test_after_never_again_and_taking_it_back(person, http, work, capsys):
    person.join()
    http.post("/profile/never", form={"token": person.magic_token()})
    person.subscribe()
    work("audience")
    _nothing_left_of(person, capsys, "DO_NOT_CONTACT_SET")
    http.post("/profile/request-resume", form={"email": EMAIL})
    work("audience")
    token = person.link(EMAIL, "/resume").partition("token=")[2]
    assert http.post("/resume", form={"token": token}).status == 200
    _nothing_left_of(person, capsys, "DO_NOT_CONTACT_LIFTED")


def test_after_an_expiry(person, tick, work, monkeypatch, capsys):
    person.subscribe()
    work("audience")
    person.link(EMAIL, "/confirm")
    later = clock.now() + timedelta(hours=25)
    monkeypatch.setattr(clock, "now", lambda: later)
    tick("clean_up")
    _nothing_left_of(person, capsys, "SUBSCRIPTION_EXPIRED", "EXPIRED")


def test_what_was_refused_is_not_logged_either(http, person, ses, capsys):
    ses.tell(down=True)
    http.post("/api/subscribe", json={"email": f"{EMAIL} <x>", "nickname": NICKNAME})
    http.post("/api/subscribe", json={"email": EMAIL, "nickname": NICKNAME * 9})
    http.get(f"/confirm?token={EMAIL}")
    http.get(f"/api/unsubscribe?token={EMAIL}")
    http.post("/api/profile/update", json={"token": EMAIL, "nickname": NICKNAME})
    person.secrets.add(EMAIL)
    _nothing_left_of(person, capsys)
