"""What is held survives a release that runs twice, a worker that dies, and everything its owner does meanwhile."""

import pytest

from chalicelib.audience import held, jobs, mails, model
from chalicelib.audience.stores import held as store
from chalicelib.audience.stores import subscribers
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received


def test_a_release_that_runs_twice_mails_once(sign_up, mailed, configure, still, later):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    mailed()
    later(hours=1)
    configure(MAILS_PER_HOUR="9")
    jobs.handle({"kind": model.RELEASE})
    jobs.handle({"kind": model.RELEASE})
    messages = [message for message in received("audience") if message["kind"] == model.HELD]
    assert len(messages) == 2
    for message in messages:
        jobs.handle(message)
    assert mailed() == ["ada"]


@pytest.mark.parametrize("moment", ["before the mail", "after the mail"])
def test_a_worker_that_dies_leaves_it_held(sign_up, release, mailed, configure, still, later, monkeypatch, moment):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    mailed()
    later(hours=1)
    configure(MAILS_PER_HOUR="9")
    with monkeypatch.context() as broken:
        where = (mails, "_send") if moment == "before the mail" else (store, "settle")
        broken.setattr(*where, _die)
        with pytest.raises(KeyboardInterrupt):
            release()
    mailed()
    assert held.count() == 1
    release()
    assert mailed() == [], "another worker may still be sending it"
    later(hours=1)  # the attempt counts, so the share of its network is used up until then
    release()
    assert mailed() == ["ada"]
    assert held.count() == 0


def test_ses_that_does_not_answer_neither_loses_nor_counts_it(sign_up, release, mailed, ses, configure, still, later):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    mailed()
    later(hours=1)
    ses.tell(down=True)
    for _ in range(3):
        with pytest.raises(Unavailable):
            release()
    ses.tell(down=False)
    release()
    assert mailed() == ["ada"]


def test_whoever_is_held_and_leaves_or_is_removed_leaves_nothing(http, sign_up, release, mailed, configure, rows):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    mailed()
    (row,) = [row for row in rows("subscribers") if row["email"]["S"] == "ada@example.net"]
    assert held.count() == 1
    http.get(f"/api/unsubscribe?token={row['id']['S']}.{row['unsubscribe_secret']['S']}")
    assert row["id"]["S"] not in str(rows("tokens"))
    assert held.count() == 0
    release()
    assert mailed() == []


def test_a_second_sign_up_of_somebody_held_keeps_the_place_and_mails_once(
    sign_up, release, mailed, configure, still, later, rows
):
    configure(MAILS_PER_HOUR="1")
    for name in ("first", "ada", "bob"):
        sign_up(name, network=len(name) + ord(name[0]))
        later(milliseconds=5)
    mailed()
    sign_up("ada", network=3, source="blog")
    assert held.count() == 2
    later(hours=1)
    release()
    assert mailed() == ["ada"]
    ada = next(row for row in rows("subscribers") if row["email"]["S"] == "ada@example.net")
    waits = [row["waits_until"]["S"] for row in rows("captures") if row["subscriber_id"] == ada["id"]]
    assert len(waits) == 2
    assert all(not until.startswith("9999") for until in waits)


def test_signing_up_too_often_does_not_lose_what_is_held(
    sign_up, release, mailed, configure, still, later, monkeypatch
):
    """Five mails an hour to one address is a limit of its own, which drops; what is held is not dropped."""
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    mailed()
    monkeypatch.setattr(mails, "_MAILS_TO_ONE_ADDRESS", 0)
    sign_up("ada", network=3, source="blog")
    monkeypatch.undo()
    configure(MAILS_PER_HOUR="1")
    later(days=3)
    jobs.clean_up(lambda: True)
    release()
    assert mailed() == ["ada"]


def test_a_further_source_of_an_active_reader_is_held_too(reader, sign_up, release, mailed, configure, later, still):
    ada = reader().join(source="blog")
    later(hours=1)
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2, source="shop")
    mailed()
    stored = ada.stored()
    assert stored["held_confirmation"]["held_at"]
    assert "198.51" not in str(stored)
    later(days=2)
    jobs.clean_up(lambda: True)
    release()
    assert ada.confirm().status == 303
    stored = ada.stored()
    assert (stored["sources"], stored["held_confirmation"]) == (["blog", "shop"], None)


def test_somebody_who_confirmed_by_an_earlier_link_is_not_written_to(
    reader, sign_up, release, mailed, configure, rows, still, later
):
    ada = reader()
    ada.subscribe(source="blog")
    earlier = ada.link()
    later(hours=1)
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2, source="blog")
    mailed()
    assert ada.http.get(earlier).status == 303
    later(hours=1)
    release()
    assert mailed() == []
    assert held.count() == 0
    jobs.clean_up(lambda: True)
    assert "9999-12" not in str(rows("captures"))


def test_the_clean_up_restarts_a_release_whose_message_was_lost(sign_up, mailed, configure, still, later):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    received("audience")
    later(hours=2)
    jobs.clean_up(lambda: True)
    assert {"kind": model.RELEASE} in received("audience")


def test_only_one_release_a_minute_is_on_its_way(http, ses, configure, still, sqs_delays):
    configure(MAILS_PER_HOUR="1")
    for number in range(5):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"}, source_ip=f"198.51.{number}.1")
    for message in received("audience"):
        jobs.handle(message)
    assert sqs_delays == [60]


def test_no_address_is_stored_for_what_is_held(sign_up, configure, rows):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    stored = [row for row in rows("tokens") if row["subscriber_id"]["S"] in ("held", "backlog")]
    assert len(stored) == 2
    assert "198.51" not in str(stored)
    assert "ada@" not in str(stored)
    assert [row for row in rows("tokens") if row["kind"]["S"] == "sign-up"] == [], "the network went with the sign-up"
    assert subscribers.find(stored[0]["kind"]["S"]) or subscribers.find(stored[1]["kind"]["S"])


def _die(*_):
    raise KeyboardInterrupt


@pytest.fixture
def sqs_delays(monkeypatch):
    """The delays of messages that are sent later."""
    from chalicelib.kernel.aws import queues

    delays = []
    real = queues.send

    def send(queue, message, delay_seconds=0):
        if delay_seconds:
            delays.append(delay_seconds)
        else:
            real(queue, message)

    monkeypatch.setattr(queues, "send", send)
    return delays
