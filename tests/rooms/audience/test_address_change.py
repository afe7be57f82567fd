"""After a change of address, whoever reads the old mailbox has no power over the subscription."""

import pytest

from chalicelib.audience import jobs
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
