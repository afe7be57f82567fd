"""After somebody is gone, nothing that is stored, queued or logged names them."""

import json
import re

import pytest

from chalicelib.kernel import aws, clock, settings
from tests.conftest import received

EMAIL, NEW_EMAIL, NICKNAME = "ada.lovelace@example.net", "countess@example.net", "Enchantress"
SOURCE_META = {"campaign": "analytical-engine"}


@pytest.fixture
def person(http, work, ses):
    return Person(http, work, ses)


class Person:
    """Somebody who uses everything there is to use."""

    def __init__(self, http, work, ses):
        self.http, self.work, self.ses = http, work, ses
        self.secrets = set()

    def subscribe(self, email=EMAIL):
        body = {"email": email, "nickname": NICKNAME, "source": "blog", "tags": ["x"], "metadata": SOURCE_META}
        assert self.http.post("/api/subscribe", json=body).status == 201
        self.work("mail")

    def confirm(self, email=EMAIL):
        assert self.http.get(self._link(email, "/confirm")).status == 303

    def use_the_profile(self):
        self.http.post("/api/profile/request-link", json={"email": EMAIL})
        self.work("mail")
        token = self._link(EMAIL, "/profile").partition("token=")[2]
        self.http.get(f"/profile?token={token}")
        self.http.get(f"/profile/data?token={token}")
        self.http.post("/api/profile/update", json={"token": token, "nickname": NICKNAME, "email": NEW_EMAIL})
        self.work("mail")

    def _link(self, email, path):
        for mail in self.ses.mails(to=email):
            for link in re.findall(rf"https://news\.example\.org({path}\?token=\S+)", mail["text"]):
                self.secrets.add(link.partition(".")[2])
                return link
        raise AssertionError("no link")


def _everything(capsys):
    """Every row of every table, every message of every queue, and the log of the whole run."""
    dynamodb, sqs = aws.client("dynamodb"), aws.client("sqs")
    prefix = settings.current().prefix
    names = [name for name in dynamodb.list_tables()["TableNames"] if name.startswith(prefix)]
    assert len(names) > 10
    rows = [dynamodb.scan(TableName=name)["Items"] for name in names]
    urls = sqs.list_queues(QueueNamePrefix=prefix)["QueueUrls"]
    messages = [received(url.rsplit("/", 1)[1].removeprefix(f"{prefix}-")) for url in urls]
    return json.dumps([rows, messages], default=str) + capsys.readouterr().out


def _nothing_left_of(person, capsys, *expected_words):
    everything = _everything(capsys)
    for word in (EMAIL, NEW_EMAIL, NICKNAME, "lovelace", "analytical-engine", "192.0.2.1", *person.secrets):
        assert word.casefold() not in everything.casefold()
    assert person.secrets
    for word in expected_words:
        assert word in everything


def _id():
    from chalicelib.audience.store import SubscriberRow

    (row,) = SubscriberRow.scan(consistent_read=True)
    return row.id, row.unsubscribe_secret


def test_after_an_unsubscribe(person, http, capsys):
    person.subscribe()
    person.confirm()
    person.use_the_profile()
    id, secret = _id()
    person.secrets.add(secret)
    http.get(f"/api/unsubscribe?token={id}.{secret}")
    _nothing_left_of(person, capsys, "UNSUBSCRIBED", id)


def test_after_the_new_address_was_confirmed_and_the_link_clicked(person, http, capsys):
    person.subscribe()
    person.confirm()
    person.use_the_profile()
    person.confirm(NEW_EMAIL)
    id, secret = _id()
    http.post(f"/api/unsubscribe?token={id}.{secret}", form={"List-Unsubscribe": "One-Click"})
    _nothing_left_of(person, capsys, "EMAIL_CHANGED", "UNSUBSCRIBED")


def test_after_a_removal_by_the_operator(person, http, configure, capsys):
    configure(DISABLE_AUTH="true")
    person.subscribe()
    person.confirm()
    person.use_the_profile()
    http.get("/admin/api/subscribers?q=lovelace")
    http.get("/admin/api/subscribers/export")
    assert http.delete(f"/admin/api/subscribers/{_id()[0]}").status == 204
    _nothing_left_of(person, capsys, "subscriber.remove", "dev@localhost")


def test_after_never_again(person, http, work, capsys):
    person.subscribe()
    person.confirm()
    http.post("/api/profile/request-link", json={"email": EMAIL})
    work("mail")
    token = person._link(EMAIL, "/profile").partition("token=")[2]
    http.post("/profile/never", form={"token": token})
    _nothing_left_of(person, capsys, "DO_NOT_CONTACT_SET")


def test_after_an_expiry(person, tick, monkeypatch, capsys):
    from datetime import timedelta

    person.subscribe()
    person._link(EMAIL, "/confirm")
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
