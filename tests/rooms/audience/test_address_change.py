"""After a change of address, whoever reads the old mailbox has no power over the subscription."""

from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.audience import jobs, mails
from chalicelib.audience.stores import subscribers
from tests.conftest import received


def _change(ada, to):
    """Ask for the change, and confirm it by the link mailed to the new address."""
    body = {"token": ada.magic_token(), "email": to}
    assert ada.http.post("/api/profile/update", json=body).status == 200
    ada.deliver()
    return type(ada)(ada.http, ada.mailbox, ada.deliver, to)


def _secret(rows):
    row = rows("subscribers")[0]
    return f"{row['id']['S']}.{row['unsubscribe_secret']['S']}"


def test_a_profile_link_mailed_to_the_old_address_ends_with_the_change(reader):
    ada = reader().join()
    new = _change(ada, "new@example.net")
    link = new.link()
    old_token = ada.magic_token()
    assert new.http.get(link).status == 303
    assert ada.http.get(f"/profile?token={old_token}").status == 401
    assert ada.http.get(f"/profile/data?token={old_token}").status == 401
    assert ada.http.post("/api/profile/update", json={"token": old_token, "nickname": "X"}).status == 401
    assert ada.http.post("/profile/never", form={"token": old_token}).status == 401
    assert new.stored()["nickname"] is None


def test_a_profile_link_on_its_way_to_the_old_address_is_not_sent_after_the_change(reader, monkeypatch):
    """The worker has read the old address when the change is confirmed."""
    ada = reader().join()
    new = _change(ada, "new@example.net")
    link = new.link()
    ada.http.post("/api/profile/request-link", json={"email": "ada@example.net"})
    before = len(ada.mails())
    real = subscribers.find

    def find(subscriber_id):
        monkeypatch.setattr(subscribers, "find", real)
        found = real(subscriber_id)
        assert new.http.get(link).status == 303
        return found

    monkeypatch.setattr(subscribers, "find", find)
    for message in received("audience"):
        jobs.handle(message)
    assert len(ada.mails()) == before


@pytest.mark.parametrize("changes", [1, 2])
def test_the_unsubscribe_link_of_mails_already_sent_works_until_the_next_change(reader, rows, changes):
    ada = reader().join()
    first = _secret(rows)
    for number in range(changes):
        ada = _change(ada, f"new{number}@example.net")
        assert ada.confirm().status == 303
    assert _secret(rows) != first
    answer = ada.http.get(f"/api/unsubscribe?token={first}")
    assert answer.status == (200 if changes == 1 else 400)
    assert len(rows("subscribers")) == (0 if changes == 1 else 1)


def test_the_new_unsubscribe_secret_works_and_is_what_pages_and_mails_carry(reader, rows):
    ada = reader().join()
    first = _secret(rows)
    new = _change(ada, "new@example.net")
    assert new.confirm().status == 303
    page = new.http.get(f"/profile?token={new.magic_token()}")
    assert _secret(rows) in page.text
    assert first not in page.text
    assert new.http.get(f"/api/unsubscribe?token={_secret(rows)}").status == 200
    assert rows("subscribers") == rows("emails") == rows("tokens") == []


def test_a_second_click_on_the_change_link_renews_nothing_again(reader, rows):
    ada = reader().join()
    first = _secret(rows)
    new = _change(ada, "new@example.net")
    assert new.confirm().status == 303
    after = _secret(rows)
    assert new.confirm().status == 303
    assert _secret(rows) == after
    assert new.http.get(f"/api/unsubscribe?token={first}").status == 200


def test_a_link_for_a_further_source_mailed_to_the_old_address_ends_with_the_change(reader, rows):
    ada = reader().join(source="blog")
    ada.subscribe(source="shop", tags=["sale"])
    link = ada.link()
    new = _change(ada, "new@example.net")
    assert new.confirm().status == 303
    assert ada.http.get(link).status == 400
    stored = new.stored()
    assert (stored["sources"], stored["tags"]) == (["blog"], [])


def test_a_link_for_a_further_source_is_not_sent_to_the_old_address_after_the_change(reader, monkeypatch):
    ada = reader().join(source="blog")
    new = _change(ada, "new@example.net")
    link = new.link()
    before = len(ada.mails())
    real = mails._mail_confirmation

    def mail(*args):
        assert new.http.get(link).status == 303
        real(*args)

    monkeypatch.setattr(mails, "_mail_confirmation", mail)
    ada.subscribe(source="shop")
    assert len(ada.mails()) == before


def test_a_link_confirms_the_address_it_was_mailed_to_and_no_other(reader, rows, monkeypatch):
    """The reader asks for another address while the mail to the first one is being made."""
    ada = reader().join()
    saved = ada.http.post("/api/profile/update", form={"token": ada.magic_token(), "email": "mine@example.net"})
    fresh = parse_qs(urlsplit(saved.headers["Location"]).query)["token"][0]
    _meanwhile(monkeypatch, lambda: _ask(ada, fresh, "victim@example.net"))
    ada.deliver()
    mine = type(ada)(ada.http, ada.mailbox, ada.deliver, "mine@example.net")
    assert [ada.http.get(mine.link()).status for _ in mine.mails()] == []
    victim = type(ada)(ada.http, ada.mailbox, ada.deliver, "victim@example.net")
    ada.deliver()
    assert [row["email"]["S"] for row in rows("subscribers")] == ["ada@example.net"]
    assert victim.confirm().status == 303
    assert [row["email"]["S"] for row in rows("subscribers")] == ["victim@example.net"]


def test_a_mail_made_twice_does_not_bring_a_used_link_back(reader, monkeypatch):
    """The queue delivers the message again while the link of the first mail is opened."""
    ada = reader().join()
    _ask(ada, ada.magic_token(), "new@example.net")
    (message,) = received("audience")
    jobs.handle(message)
    new = type(ada)(ada.http, ada.mailbox, ada.deliver, "new@example.net")
    _meanwhile(monkeypatch, lambda: new.confirm())
    jobs.handle(message)
    assert len(new.mails()) == 1
    assert new.confirm().status == 303


def test_a_mail_made_twice_does_not_bring_a_used_link_of_the_do_not_contact_list_back(reader, http, ses, monkeypatch):
    ada = reader().join()
    http.post("/profile/never", form={"token": ada.magic_token()})
    ses.clear()
    http.post("/profile/request-resume", form={"email": ada.email})
    (message,) = [message for message in received("audience") if message["kind"] == "lift"]
    jobs.handle(message)
    first = ada.token()
    real = mails._is_suppressed

    def is_suppressed(email):
        found = real(email)
        assert http.post("/resume", form={"token": first}).status == 200
        return found

    monkeypatch.setattr(mails, "_is_suppressed", is_suppressed)
    jobs.handle(message)
    assert http.post("/resume", form={"token": ada.token()}).status == 400
    assert len(ada.mails()) == 1


def _ask(ada, token, email):
    assert ada.http.post("/api/profile/update", json={"token": token, "email": email}).status == 200


def _meanwhile(monkeypatch, happens):
    """Once, after the worker has read what it is to mail."""
    real = subscribers.find_with_tokens

    def find(*args):
        monkeypatch.setattr(subscribers, "find_with_tokens", real)
        found = real(*args)
        happens()
        return found

    monkeypatch.setattr(subscribers, "find_with_tokens", find)
