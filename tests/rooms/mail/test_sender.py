from typing import Any

import pytest

from chalicelib.kernel.errors import Misconfigured
from chalicelib.mail import mailboxes, sender
from chalicelib.mail.failures import QuotaReached, Rejected, Stopped, Transient, Unanswered
from chalicelib.mail.message import Message
from local.ses.main import Client

MESSAGE = Message("ada@example.org", "Grüße", "<p>Hi &amp; bye</p>", "Hi & bye", {"Auto-Submitted": "auto-generated"})


def test_a_mail_arrives_as_it_was_written(ses: Client) -> None:
    message_id = sender.send(MESSAGE)
    [mail] = ses.mails()
    assert mail["id"] == message_id
    assert mail["to"] == ["ada@example.org"]
    assert mail["from"] == "The Daily Test <news@example.org>"
    assert (mail["subject"], mail["html"], mail["text"]) == ("Grüße", "<p>Hi &amp; bye</p>", "Hi & bye")
    assert mail["headers"]["Auto-Submitted"] == "auto-generated"


def test_a_mail_leaves_while_the_tables_are_on_moto(aws: None, ses: Client) -> None:
    sender.send(MESSAGE)
    assert len(ses.mails()) == 1


def test_the_configuration_set_travels_when_there_is_one(ses: Client, configure: Any) -> None:
    configure(CONFIGURATION_SET="gna-events")
    sender.send(MESSAGE)
    assert ses.mails()[0]["headers"]["X-SES-Configuration-Set"] == "gna-events"


@pytest.mark.parametrize(
    ("site", "from_email", "raw", "shown"),
    [
        ("Zürich, Daily", "n@example.org", None, "Zürich, Daily <n@example.org>"),
        ("Doe, Jane", "n@example.org", '"Doe, Jane" <n@example.org>', '"Doe, Jane" <n@example.org>'),
        ("Site", "Own Name <n@example.org>", "Own Name <n@example.org>", "Own Name <n@example.org>"),
        ("新しい" * 20, "n@example.org", None, "新しい" * 20 + " <n@example.org>"),
        ("Site", "n@bücher.example", "Site <n@xn--bcher-kva.example>", "Site <n@xn--bcher-kva.example>"),
    ],
)
def test_the_name_of_the_sender_survives(
    ses: Client, configure: Any, site: str, from_email: str, raw: str | None, shown: str
) -> None:
    configure(SITE_NAME=site, FROM_EMAIL=from_email)
    sender.send(MESSAGE)
    [mail] = ses.mails()
    assert mail["from"] == shown
    assert mail["headers"]["From"].isascii()
    assert all(len(word) <= 75 for word in mail["headers"]["From"].split())
    if raw:
        assert mail["headers"]["From"] == raw


@pytest.mark.parametrize(
    ("contact", "answers"), [("hello@example.org", "hello@example.org"), ("News@example.org", None)]
)
def test_answers_reach_the_contact(ses: Client, configure: Any, contact: str, answers: str | None) -> None:
    configure(CONTACT_EMAIL=contact)
    sender.send(MESSAGE)
    assert ses.mails()[0]["headers"].get("Reply-To") == answers


def test_a_domain_beyond_ascii_goes_as_punycode(ses: Client) -> None:
    sender.send(Message("ada@bücher.example", "Hi", "<p>Hi", "Hi"))
    assert ses.mails()[0]["to"] == ["ada@xn--bcher-kva.example"]


def test_without_a_sender_nothing_is_tried(ses: Client, configure: Any) -> None:
    configure(FROM_EMAIL="")
    with pytest.raises(Misconfigured):
        sender.send(MESSAGE)
    assert mailboxes.sender_address() == ""


@pytest.mark.parametrize(
    ("orders", "kind"),
    [
        ({"throttle": 1.0}, Transient),
        ({"fail": {"code": "InternalServiceErrorException", "status": 500}}, Unanswered),
        ({"fail": {"code": "", "status": 503}}, Transient),
        ({"down": True}, Unanswered),
        ({"quota": {"Max24HourSend": 0}}, QuotaReached),
        ({"sending_enabled": False}, Stopped),
        ({"fail": {"code": "AccountSuspendedException"}}, Stopped),
        ({"fail": {"code": "AccessDeniedException", "status": 403}}, Stopped),
        ({"verified": False}, Stopped),
        ({"production": False}, Rejected),
        ({"entries": {"ada@example.org": "MESSAGE_REJECTED"}}, Rejected),
    ],
)
def test_what_goes_wrong_is_told_by_kind(ses: Client, orders: dict[str, Any], kind: type[Exception]) -> None:
    ses.tell(**orders)
    with pytest.raises(kind) as caught:
        sender.send(MESSAGE)
    assert type(caught.value) is kind
    assert ses.mails() == []
    assert "ada" not in str(caught.value)


def test_a_missing_configuration_set_stops(ses: Client, configure: Any) -> None:
    configure(CONFIGURATION_SET="gone")
    ses.tell(configuration_sets=[])
    with pytest.raises(Stopped, match="CONFIGURATION_SET"):
        sender.send(MESSAGE)


def test_a_lost_answer_is_not_followed_by_a_second_mail(ses: Client) -> None:
    ses.tell(lose_answers=1)
    with pytest.raises(Unanswered):
        sender.send(MESSAGE)
    assert len(ses.mails()) == 1
    assert ses.stats()["calls"]["SendEmail"] == 1


def test_an_endpoint_that_is_not_there_is_transient_and_not_unanswered(
    ses: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")
    with pytest.raises(Transient) as caught:
        sender.send(MESSAGE)
    assert type(caught.value) is Transient
