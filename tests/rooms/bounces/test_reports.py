"""What a report of SES says, in the many forms in which servers and SES write it."""

from typing import Any

import pytest

from chalicelib.bounces import model
from chalicelib.bounces.model import Bounced, Complained, Kind, SoftBounced
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.mail.failures import UNSENDABLE

SENDER = "news@example.org"
READER = "reader@example.org"


def report(type: str | None, subtype: str | None = None, to: Any = (READER,), **recipient: str) -> dict[str, Any]:
    bounce = {
        "bounceType": type,
        "bounceSubType": subtype,
        "bouncedRecipients": [{"emailAddress": READER} | recipient],
    }
    return {"eventType": "Bounce", "bounce": bounce, "mail": {"source": SENDER, "destination": list(to)}}


def findings(event: dict[str, Any], sender: str = SENDER) -> list[tuple[type, str]]:
    found = model.parse_event(event, sender, clock.now()).findings
    return [(type(finding), finding.address.key) for finding in found]


@pytest.mark.parametrize(
    ("sender", "source"),
    [
        ("Zeitung <post@müller.example>", "Zeitung <post@xn--mller-kva.example>"),
        ("post@xn--mller-kva.example", "post@müller.example"),
        ("Post@MÜLLER.example", "=?utf-8?q?Zeitung?= <post@xn--mller-kva.example>"),
        ("news@example.org", "Garden, News & Co <news@Example.org>"),
        ("news@example.org", '"Garden, News" <NEWS@example.org>'),
    ],
)
def test_the_sender_is_recognised_in_every_spelling(sender: str, source: str) -> None:
    event = report("Permanent", "General")
    event["mail"]["source"] = source
    assert findings(event, sender) == [(Bounced, READER)]


@pytest.mark.parametrize(
    "source", [None, "", "<>", "news@example.com", "evil.news@example.org", "a@\udc80.example", 7]
)
@pytest.mark.parametrize("sender", [SENDER, ""])
def test_a_mail_of_somebody_else_is_not_ours(source: Any, sender: str) -> None:
    event = report("Permanent", "General")
    event["mail"]["source"] = source
    with pytest.raises(Invalid):
        findings(event, sender)


@pytest.mark.parametrize(
    "final_recipient",
    [
        "rfc822;reader@example.org",
        "rfc822; Reader@Example.org",
        "reader@example.org.",
        "<reader@example.org>",
        "Ann Reader <reader@example.org>",
        "ann@forwarded.example.net",
        "reader",
        "x400; /G=Ann/S=Reader/",
        "",
        None,
    ],
)
def test_the_destination_tells_who_bounced_whatever_the_last_server_called_them(final_recipient: Any) -> None:
    event = report("Permanent", "NoEmail", emailAddress=final_recipient)
    assert findings(event) == [(Bounced, READER)]


def test_a_report_that_names_no_recipient_is_about_the_destination() -> None:
    """An empty list may be left out on the way."""
    event = report("Permanent", "General", to=["Reader@EXAMPLE.org"])
    del event["bounce"]["bouncedRecipients"]
    assert findings(event) == [(Bounced, READER)]


def test_the_destination_may_be_an_internationalised_domain() -> None:
    event = report("Permanent", "General", to=["ann@xn--mller-kva.example"])
    assert findings(event) == [(Bounced, "ann@xn--mller-kva.example")]


@pytest.mark.parametrize("named", ["rfc822;reader@example.org.", "Reader@example.org", "<reader@example.org>"])
def test_of_several_recipients_only_those_who_are_named_are_meant(named: str) -> None:
    event = report("Permanent", "General", to=["other@example.org", READER, READER.upper()], emailAddress=named)
    assert findings(event) == [(Bounced, READER)]


def test_who_complained_is_the_one_who_was_written_to() -> None:
    """Most providers remove the address from what they report."""
    event = {
        "notificationType": "Complaint",
        "complaint": {"complainedRecipients": [{"emailAddress": "redacted@example.net"}], "feedbackId": "f"},
        "mail": {"source": SENDER, "destination": [READER]},
    }
    assert findings(event) == [(Complained, READER)]


@pytest.mark.parametrize(
    ("type", "subtype", "reason", "kind"),
    [
        ("Permanent", "General", "permanent", Kind.HARD),
        ("Permanent", "NoEmail", "permanent: NoEmail", Kind.HARD),
        ("Permanent", None, "permanent", Kind.HARD),
        ("Permanent", "SomethingNew", "permanent: SomethingNew", Kind.HARD),
        ("Permanent", "Suppressed", "permanent: Suppressed", Kind.SUPPRESSED),
        ("Permanent", "OnAccountSuppressionList", "permanent: OnAccountSuppressionList", Kind.SUPPRESSED),
    ],
)
def test_a_permanent_bounce_says_whether_ses_even_tried(type: str, subtype: Any, reason: str, kind: Kind) -> None:
    (finding,) = model.parse_event(report(type, subtype), SENDER, clock.now()).findings
    assert isinstance(finding, Bounced)
    assert (finding.reason, model.parse_kind(finding.reason)) == (reason, kind)


@pytest.mark.parametrize(
    ("subtype", "recipient"),
    [
        ("MailboxFull", {}),
        ("CustomTimeoutExceeded", {}),
        ("General", {"action": "failed", "status": "4.4.7", "diagnosticCode": "smtp; 450 4.2.1 try later"}),
        ("General", {"status": "5.2.0"}),
    ],
)
def test_a_mailbox_that_does_not_accept_mail_for_now_is_a_soft_bounce(
    subtype: str, recipient: dict[str, str]
) -> None:
    assert findings(report("Transient", subtype, **recipient)) == [(SoftBounced, READER)]


@pytest.mark.parametrize(
    ("type", "subtype"),
    [
        ("Transient", "General"),  # with no status: most often an automatic reply
        ("Transient", None),
        ("Transient", "MessageTooLarge"),
        ("Transient", "ContentRejected"),
        ("Transient", "AttachmentRejected"),
        ("Undetermined", "Undetermined"),
        ("Undetermined", None),
        (None, None),
        ("SomethingNew", "General"),
    ],
)
def test_what_says_nothing_about_the_mailbox_is_no_finding(type: str | None, subtype: str | None) -> None:
    assert findings(report(type, subtype)) == []


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("rejected", Kind.REJECTED),
        (model.refusal(UNSENDABLE), Kind.HARD),
        (model.refusal("SES rejected the message"), Kind.REFUSED),
        (model.refusal("The SES account is in the sandbox and the recipient is not verified"), Kind.REFUSED),
    ],
)
def test_a_refusal_counts_as_hard_only_if_the_address_is_why(reason: str, kind: Kind) -> None:
    assert model.parse_kind(reason) is kind


@pytest.mark.parametrize("text", ["2018-10-08T14:05:45 +0000", "2018-10-08T14:05:45.000Z", "2018-10-08T14:05:45"])
def test_the_time_of_a_report_is_read_in_every_form_ses_writes(text: str) -> None:
    event = report("Permanent", "General")
    event["bounce"]["timestamp"] = text
    assert clock.text(model.parse_event(event, SENDER, clock.now()).at) == "2018-10-08T14:05:45.000Z"
