"""Somebody who is held and signs up again, at any moment: what waits is mailed, and once."""

import pytest

from chalicelib.audience import held, jobs, mails, model
from chalicelib.audience.stores import captures
from chalicelib.audience.stores import held as held_store
from tests.conftest import received


@pytest.fixture
def full_network(sign_up, mailed, configure, still):
    """Network 1 has used up its share of the hour; others have theirs."""
    configure(MAILS_PER_HOUR="20")
    for number in range(2):
        sign_up(f"first{number}", network=1, client=number + 1)
    mailed()


def test_who_signs_up_again_from_elsewhere_is_mailed_at_once_and_not_again(
    full_network, sign_up, release, mailed, later
):
    sign_up("ada", network=1, client=9, source="blog")
    assert held.count() == 1
    sign_up("ada", network=2, source="blog")
    assert mailed() == ["ada"]
    assert held.count() == 0
    later(hours=1)
    release()
    assert mailed() == []


@pytest.mark.parametrize("by", ["a release", "a sign-up from elsewhere"])
def test_what_is_held_while_something_older_is_mailed_stays_held(
    full_network, reader, sign_up, release, mailed, rows, later, meanwhile, by
):
    ada = reader().join(source="site")
    sign_up("ada", network=1, client=9, source="blog")
    mailed()
    meanwhile(captures, "list_requests", "shop")
    if by == "a release":
        later(hours=1)
        jobs.handle({"kind": model.HELD, "subscriber_id": _id(rows, ada)})
    else:
        sign_up("ada", network=2, source="news")
    assert held.count() == 1
    later(hours=1)
    release()
    assert ada.confirm().status == 303
    assert held.count() == 0
    assert "9999-12" not in str(rows("captures"))


def test_what_is_held_while_there_was_nothing_to_mail_stays_held(
    full_network, reader, sign_up, release, mailed, rows, http, later, meanwhile
):
    ada = reader()
    ada.subscribe(source="blog")
    link = ada.link()
    sign_up("ada", network=1, client=9, source="blog")
    assert http.get(link).status == 303
    mailed()
    meanwhile(mails, "_newest", "shop")
    jobs.handle({"kind": model.HELD, "subscriber_id": _id(rows, ada)})
    assert held.count() == 1
    later(hours=1)
    release()
    assert mailed() == ["ada"]


def test_what_a_worker_left_behind_ends_when_its_owner_has_signed_up_again(
    full_network, sign_up, release, mailed, later, rows, monkeypatch
):
    """It died after the mail, and nothing was released until the link had expired."""
    sign_up("ada", network=1, client=9)
    later(hours=1)
    with monkeypatch.context() as broken:
        broken.setattr(held_store, "settle", lambda row: None)
        release()
    later(hours=25)
    sign_up("ada", network=2)
    mailed()
    release()
    assert held.count() == 0
    jobs.clean_up(lambda: True)
    assert [row["email"]["S"] for row in rows("subscribers")] == ["ada@example.net"]
    assert mailed() == []


def _id(rows, ada):
    (id,) = [row["id"]["S"] for row in rows("subscribers") if row["email"]["S"] == ada.email]
    return id


@pytest.fixture
def meanwhile(monkeypatch, http):
    """Once, right after the function has answered: ada signs up from the network whose share is used up, and another
    worker processes that."""

    def prepare(module, name, source):
        real = getattr(module, name)

        def call(*args):
            monkeypatch.setattr(module, name, real)
            found = real(*args)
            body = {"email": "ada@example.net", "source": source}
            assert http.post("/api/subscribe", json=body, source_ip="198.51.1.77").status == 201
            for message in received("audience"):
                jobs.handle(message)
            return found

        monkeypatch.setattr(module, name, call)

    return prepare
