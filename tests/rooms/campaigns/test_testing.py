"""Test emails: to a few addresses, marked as what they are, with somebody's name and nobody's links."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sesv2.models import sesv2_backends

from chalicelib.audience import listing
from chalicelib.audience import model as audience
from chalicelib.kernel import clock
from chalicelib.mail import sender
from chalicelib.mail.failures import Rejected, Transient
from chalicelib.mail.message import LONGEST_SUBJECT
from local import demo
from tests.rooms.campaigns.api import API, UNKNOWN, created

FIVE = [f"me{number}@example.org" for number in range(1, 6)]
NOT_A_LIST = "emails must be a list of 1 to 5 addresses"
BAD = [
    ({"emails": []}, NOT_A_LIST),
    ({"emails": ["me@example.org"] * 6}, NOT_A_LIST),
    ({"emails": "me@example.org"}, NOT_A_LIST),
    ({"emails": [5]}, NOT_A_LIST),
    ({"emails": {"0": "me@example.org"}}, NOT_A_LIST),
    ({"emails": ["me@example.org", "nonsense"]}, "Address 2: Email address is not valid"),
    ({"emails": ["me@example.org", ""]}, "Address 2: Email address is required"),
    ({"emails": [" "]}, "Email address is required"),
    ({"email": "me@example.org", "emails": ["me@example.org"]}, "Send either email or emails, not both"),
    ({"email": "me@example.org", "subscriber_id": 5}, "subscriber_id must be text"),
    (
        {"email": "me@example.org", "subscriber_id": UNKNOWN, "nickname": "Ana"},
        "Send either subscriber_id or nickname, not both",
    ),
]


@pytest.fixture
def mails(aws: None) -> Iterator[list[Any]]:
    """What SES was given."""
    boto3.client("sesv2").create_email_identity(EmailIdentity="news@example.org")
    sent = sesv2_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].core_backend.sent_messages
    sent.clear()
    yield sent
    sent.clear()


def try_out(admin: Any, made: dict[str, Any], **body: Any) -> Any:
    return admin.post(f"{API}/{made['id']}/test", json=body)


def test_a_test_goes_to_each_of_five_addresses_and_says_that_it_is_one(admin, mails):
    made = created(admin, subject="Hello {{nickname|you}}")
    answer = try_out(admin, made, emails=FIVE)
    assert (answer.status, answer.json["state"], answer.json["subject"]) == (200, "draft", "Hello {{nickname|you}}")
    assert [mail.destinations["ToAddresses"] for mail in mails] == [[email] for email in FIVE]
    assert {mail.subject for mail in mails} == {"[Test] Hello you"}
    assert len({mail.body for mail in mails}) == 1
    assert "[Test]" not in mails[0].body


def test_the_same_address_twice_is_one(admin, mails):
    assert (
        try_out(admin, created(admin), emails=["me@example.org", "ME@example.org", "you@example.org"]).status == 200
    )
    assert len(mails) == 2


def test_what_no_test_is_sent_for(admin, mails):
    made = created(admin)
    for body, reason in BAD:
        answer = try_out(admin, made, **body)
        assert (answer.status, answer.json) == (400, {"error": reason}), body
    for unknown in (UNKNOWN, "nonsense", ""):
        answer = try_out(admin, made, emails=["me@example.org"], subscriber_id=unknown)
        assert (answer.status, answer.json) == (404, {"error": "No such subscriber"})
    assert try_out(admin, {"id": UNKNOWN}, emails=["me@example.org"]).status == 404
    assert mails == []


def test_a_test_reads_as_it_would_for_a_subscriber_and_its_links_are_nobodys(admin, mails):
    made = created(admin, subject="{{nickname|Friend}}, hello", body="<p>{{greeting}}!</p>")
    asked = clock.now() - timedelta(days=1)
    bea, nameless = (
        demo.sign_up(email, name, ("blog", ()), asked, asked)
        for email, name in (("bea@example.org", "Bea"), ("x@example.org", None))
    )
    for body in ({"subscriber_id": bea}, {"subscriber_id": nameless}, {"nickname": "Ada"}, {}):
        assert try_out(admin, made, emails=["me@example.org"], **body).status == 200
    names = ("Bea", "Friend", "Ada", "Friend")
    assert [mail.subject for mail in mails] == [f"[Test] {name}, hello" for name in names]
    assert "Hi, Bea!" in mails[0].body
    assert "bea@example.org" not in mails[0].body
    assert set(re.findall(r"unsubscribe\?token=([\w.-]+)", mails[0].body)) == {str(audience.TEST_TOKEN)}
    assert admin.post(f"/api/unsubscribe?token={audience.TEST_TOKEN}").status == 200
    assert listing.find_subscriber(bea).nickname == "Bea"


@pytest.mark.parametrize("subject", ["[Test] Hello", "[Test] [Test] Hello", "Hello [Test]", "[test] Hello"])
def test_the_mark_is_put_before_a_subject_unless_it_is_there(admin, mails, subject):
    assert try_out(admin, created(admin, subject=subject), email="me@example.org").status == 200
    assert mails[0].subject == "[Test] " + subject.removeprefix("[Test] ")


def test_the_longest_subject_is_not_cut(admin, mails):
    subject = "{{nickname}}" * 7 + "x" * 150
    made = created(admin, subject=subject)
    assert try_out(admin, made, email="me@example.org", nickname="n" * 50).status == 200
    filled = subject.replace("{{nickname}}", "n" * 50)
    assert len(filled) == LONGEST_SUBJECT
    assert mails[0].subject == "[Test] " + filled


def failing(monkeypatch: Any, failures: dict[int, Exception]) -> list[str]:
    """SES, refusing the mails at these positions; those it took."""
    taken: list[str] = []
    asked: list[str] = []

    def send(message: Any) -> str:
        asked.append(message.to)
        if failure := failures.get(len(asked)):
            raise failure
        taken.append(message.to)
        return "id"

    monkeypatch.setattr(sender, "send", send)
    return taken


def test_an_address_that_is_refused_does_not_keep_the_others_from_theirs(admin, monkeypatch):
    taken = failing(monkeypatch, {2: Rejected("SES does not accept the address"), 4: Rejected()})
    answer = try_out(admin, created(admin), emails=FIVE)
    assert answer.status == 400
    assert answer.json["error"] == (
        "Sent to 3 of 5. Address 2: SES does not accept the address; Address 4: SES rejected the message"
    )
    assert taken == [FIVE[0], FIVE[2], FIVE[4]]


def test_what_would_stop_every_mail_ends_the_test(admin, monkeypatch):
    taken = failing(monkeypatch, {3: Transient()})
    answer = try_out(admin, created(admin), emails=FIVE)
    assert answer.status == 503
    assert answer.json["error"] == "Sent to 2 of 5. Address 3: The email service is busy"
    assert answer.headers["Retry-After"] == "5"
    assert taken == FIVE[:2]
    assert try_out(admin, created(admin), email="me@example.org").status == 200


def test_one_address_that_is_refused_is_told_as_before(admin, monkeypatch):
    failing(monkeypatch, {1: Rejected("SES does not accept the address")})
    answer = try_out(admin, created(admin), emails=FIVE[:1])
    assert (answer.status, answer.json) == (400, {"error": "SES does not accept the address"})


def test_an_editor_sends_so_many_tests_an_hour_and_no_more(admin, monkeypatch, still):
    taken = failing(monkeypatch, {})
    made = created(admin)
    for _ in range(11):
        assert try_out(admin, made, emails=FIVE).status == 200
    assert try_out(admin, made, emails=FIVE[:3]).status == 200
    refused = try_out(admin, made, emails=FIVE)
    assert (refused.status, refused.json) == (429, {"error": "At most 60 test emails an hour"})
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert try_out(admin, made, emails=FIVE[:2]).status == 200
    assert try_out(admin, made, email="me@example.org").status == 429
    assert len(taken) == 60
    later = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert try_out(admin, made, emails=FIVE).status == 200


def test_a_test_has_the_design_of_the_campaign(admin, mails):
    assert try_out(admin, created(admin, design="letter"), email="me@example.org").status == 200
    assert "Georgia" in mails[0].body


def test_no_address_is_logged(admin, mails, capsys):
    try_out(admin, created(admin), emails=["secret.person@example.org", "other@example.org"])
    assert "secret.person" not in capsys.readouterr().out
