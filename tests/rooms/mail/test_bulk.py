from typing import Any

import pytest

from chalicelib.kernel.errors import Invalid
from chalicelib.mail import bulk
from chalicelib.mail.bulk import BulkContent, BulkTemplate, Entry
from chalicelib.mail.failures import QuotaReached, Rejected, Stopped, Transient, Unanswered
from local.ses.main import Client

CONTENT = BulkContent(
    subject="News for {{p0}}",
    html='<p>{{n0}} <a href="https://x/u?token={{token}}">{{b0}}</a></p>',
    text="{{p0}}\nhttps://x/u?token={{token}} {{b0}}",
    headers={"List-Id": "<news.example.org>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    tags={"delivery": "0198f3c1"},
)


def _entry(to: str, name: str = "Ada", **headers: str) -> Entry:
    escaped = name.replace("&", "&amp;").replace("<", "&lt;")
    values = {"p0": name, "n0": escaped, "token": f"t-{to}", "b0": "{{#if}}"}
    return Entry(to, values, {"List-Unsubscribe": f"<https://x/u?token={to}>", **headers})


def test_everybody_gets_their_own_copy(ses: Client) -> None:
    template = BulkTemplate(CONTENT)
    assert template.post([_entry("ada@example.org", 'A & "B" \\ é {{p0}}'), _entry("bob@example.org", "Bob")]) == [
        None,
        None,
    ]
    bob, ada = ses.mails()
    assert ada["subject"] == 'News for A & "B" \\ é {{p0}}'
    assert ada["html"] == ('<p>A &amp; "B" \\ é {{p0}} <a href="https://x/u?token=t-ada@example.org">{{#if}}</a></p>')
    assert bob["text"] == "Bob\nhttps://x/u?token=t-bob@example.org {{#if}}"
    assert bob["from"] == "The Daily Test <news@example.org>"
    assert bob["headers"]["List-Unsubscribe"] == "<https://x/u?token=bob@example.org>"
    assert bob["headers"]["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert bob["headers"]["List-Id"] == "<news.example.org>"


def test_fifty_go_in_one_call(ses: Client, configure: Any) -> None:
    configure(CONFIGURATION_SET="gna-events")
    people = [_entry(f"a{n}@example.org") for n in range(50)]
    assert BulkTemplate(CONTENT).post(people) == [None] * 50
    assert ses.stats()["calls"] == {"SendBulkEmail": 1}
    assert ses.mails(limit=1)[0]["headers"]["X-SES-Configuration-Set"] == "gna-events"


def test_a_variable_without_a_value_is_a_defect_and_not_a_mail_that_never_leaves(ses: Client) -> None:
    with pytest.raises(ValueError, match="token"):
        BulkTemplate(CONTENT).post([Entry("ada@example.org", {"p0": "x", "n0": "x", "b0": "x"})])
    assert ses.stats()["calls"] == {}


def test_each_has_an_outcome_of_their_own_and_in_their_place(ses: Client) -> None:
    ses.tell(
        entries={
            "rejected@example.org": "MESSAGE_REJECTED",
            "later@example.org": "TRANSIENT_FAILURE",
            "tomorrow@example.org": "ACCOUNT_DAILY_QUOTA_EXCEEDED",
            "never@example.org": "ACCOUNT_SENDING_PAUSED",
        }
    )
    names = ["ada", "rejected", "later", "tomorrow", "never", "bob"]
    people = [_entry(f"{name}@example.org") for name in names]
    people.insert(1, _entry("header@example.org", Long="x" * 996))
    people.insert(2, _entry("idna@xn--.example\u2028"))
    kinds = [type(outcome) for outcome in BulkTemplate(CONTENT).post(people)]
    nobody = type(None)
    assert kinds == [nobody, Rejected, Rejected, Rejected, Transient, QuotaReached, Stopped, nobody]
    assert {mail["to"][0] for mail in ses.mails()} == {"ada@example.org", "bob@example.org"}


@pytest.mark.parametrize(
    ("orders", "kind"),
    [
        ({"throttle": 1.0}, Transient),
        ({"fail": {"code": "InternalServiceErrorException", "status": 500}}, Unanswered),
        ({"down": True}, Unanswered),
        ({"lose_answers": 1}, Unanswered),
        ({"sending_enabled": False}, Stopped),
        ({"verified": False}, Stopped),
        ({"fail": {"code": "MailFromDomainNotVerifiedException"}}, Stopped),
        ({"fail": {"code": "TooManyRequestsException", "message": "Daily message quota exceeded"}}, QuotaReached),
        ({"fail": {"code": "MessageRejected"}}, Rejected),
    ],
)
def test_a_call_that_fails_says_why(ses: Client, orders: dict[str, Any], kind: type[Exception]) -> None:
    ses.tell(**orders)
    with pytest.raises(kind) as caught:
        BulkTemplate(CONTENT).post([_entry("ada@example.org")])
    assert type(caught.value) is kind
    assert ses.stats()["calls"] == {"SendBulkEmail": 1}


def test_the_daily_quota_may_end_within_a_batch(ses: Client) -> None:
    ses.tell(quota={"Max24HourSend": 2})
    outcomes = BulkTemplate(CONTENT).post([_entry(f"a{n}@example.org") for n in range(4)])
    assert [type(outcome) for outcome in outcomes] == [type(None)] * 2 + [QuotaReached] * 2


def test_fewer_results_than_entries_are_no_answer() -> None:
    with pytest.raises(Unanswered):
        BulkTemplate(CONTENT).post([_entry("ada@example.org")], call=lambda *_: {"BulkEmailEntryResults": []})


def test_a_domain_beyond_ascii_goes_as_punycode(ses: Client) -> None:
    assert BulkTemplate(CONTENT).post([Entry("ada@bücher.example", _entry("ada").values)]) == [None]
    assert ses.mails()[0]["to"] == ["ada@xn--bcher-kva.example"]


def test_the_largest_batch_of_the_largest_mail_fits_into_a_call(ses: Client) -> None:
    roomy = bulk.LARGEST_TEMPLATE - 3_000
    template = BulkTemplate(BulkContent("S", "x" * (roomy - 2_000), "{{a}} {{b}} {{c}} {{token}}"))
    values = {"a": '"' * 300, "b": '"' * 300, "c": "&quot;" * 60, "token": "t" * 100}
    person = Entry(f"{'a' * 64}@{'b' * 180}.example", values, {"List-Unsubscribe": "x" * 980})
    assert template.post([person] * 50) == [None] * 50


def test_a_mail_too_large_is_refused_before_anybody_gets_it() -> None:
    with pytest.raises(Invalid, match="500 KB"):
        BulkTemplate(BulkContent("S", "x" * bulk.LARGEST_TEMPLATE, "x"))
