"""Mails to people who have not verified their address: nobody can use them up for others, and none is lost."""

import pytest

from chalicelib.kernel.aws import queues
from chalicelib.members import jobs, mail_limits
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("still")


@pytest.fixture
def waits(monkeypatch):
    """The messages that were asked to wait, with how long."""
    asked = []
    real = queues.send

    def send(queue, message, delay_seconds=0):
        if delay_seconds:
            asked.append((message, delay_seconds))
        real(queue, message)

    monkeypatch.setattr(queues, "send", send)
    return asked


@pytest.fixture
def flood(person, configure, later):
    """A client that signs up one stranger after another, and asks for as many mails as it may."""
    configure(MAILS_PER_HOUR="100")
    eve = person()

    def run(strangers):
        for number in range(strangers):
            if number and number % 5 == 0:
                later(minutes=1)
            eve.email = f"stranger{number}@example.net"
            assert eve.sign_up().status == 201
            for _ in range(3):
                assert eve.send("POST", "/api/auth/request-verify").status == 200
            eve.deliver()
        return eve

    return run


def test_one_network_gets_a_tenth_of_the_hours_mails_and_others_get_theirs(flood, person, ses):
    flood(20)
    assert len(ses.mails()) == 10
    ada = person().join()
    assert ada.verify().status == 200


def test_what_is_beyond_a_networks_share_waits_and_is_mailed_later(flood, waits, later, ses):
    flood(4)
    assert len(ses.mails()) == 10
    assert {delay for _, delay in waits} == {900}
    assert all(set(message) == {"kind", "member_id", "network"} for message, _ in waits)
    waiting = received("members")
    assert len(waiting) == 6
    later(hours=1)
    for message in waiting:
        jobs.handle(message)
    assert len(ses.mails()) == 16
    assert received("members") == []


def test_another_address_of_the_same_network_is_the_same_network(flood, person, waits, ses):
    eve = flood(3)
    neighbour = person("neighbour@example.net")
    neighbour.ip = eve.ip.rpartition(".")[0] + ".99"
    neighbour.join()
    assert ses.mails(to=neighbour.email) == []
    assert len(received("members")) == 3


def test_asking_for_resets_counts_for_the_network_that_asks(flood, person):
    eve = flood(3)
    ada = person().join()
    before = len(ada.mails())
    eve.send("POST", "/api/auth/request-reset", json={"email": ada.email})
    ada.deliver()
    assert len(ada.mails()) == before
    ada.request_reset()
    assert ada.reset().status == 200


def test_a_message_without_a_network_is_as_good_as_before(person):
    ada = person()
    ada.sign_up()
    (message,) = received("members")
    del message["network"]
    jobs.handle(message)
    assert ada.verify().status == 200


def test_two_networks_have_two_pseudonyms_and_not_those_of_readers(person):
    from chalicelib.audience import model as audience

    ada, bob = person(), person("bob@example.net")
    ada.sign_up()
    bob.sign_up()
    first, second = (message["network"] for message in received("members"))
    assert first != second
    assert first != audience.network_pseudonym(ada.ip.rpartition(".")[0] + ".0/24")


def test_whoever_holds_an_address_cannot_use_up_the_mail_that_takes_it_back(person):
    eve = person()
    for _ in range(2):
        eve.join()
        for _ in range(3):
            assert eve.send("POST", "/api/auth/request-verify").status == 200
        eve.deliver()
        assert eve.delete().status == 204
    eve.join()
    assert len(eve.mails()) == mail_limits.MAILS_TO_ONE
    owner = eve.elsewhere()
    assert owner.request_reset().status == 200
    assert owner.reset().status == 200
    assert eve.me().status == 401


def test_a_verification_beyond_what_one_address_gets_waits_for_the_next_hour(person, waits, later):
    for _ in range(mail_limits.MAILS_TO_ONE):
        assert person().join().delete().status == 204
    owner = person().join()
    assert len(owner.mails()) == mail_limits.MAILS_TO_ONE
    later(hours=1)
    owner.deliver()
    assert owner.verify().status == 200
