"""The local SES, called with botocore."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from local.ses import main as local_ses
from local.ses.main import Client
from tests.local.ses_calls import TEMPLATE, bulk, connect, entry_to, send


def test_one_mail_is_in_the_mailbox_with_everything_it_had(ses: Client, sesv2: Any) -> None:
    answer = send(sesv2)
    [mail] = ses.mails()
    assert mail.pop("at").endswith("Z")
    assert mail == {
        "id": answer["MessageId"],
        "to": ["ada@example.org"],
        "from": "News <news@example.org>",
        "subject": "Hello",
        "html": "<p>Hi</p>",
        "text": "Hi",
        "headers": {
            "From": "News <news@example.org>",
            "To": "ada@example.org",
            "Subject": "Hello",
            "List-Id": "<news.example.org>",
        },
    }


def test_a_raw_mail_is_read_too(ses: Client, sesv2: Any) -> None:
    raw = b"From: n@example.org\r\nTo: ada@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello\r\n"
    sesv2.send_email(Destination={"ToAddresses": ["ada@example.org"]}, FromEmailAddress="n@example.org",
                     Content={"Raw": {"Data": raw}})  # fmt: skip
    [mail] = ses.mails()
    assert (mail["subject"], mail["text"].strip(), mail["headers"]["To"]) == ("Grüße", "Hello", "ada@example.org")


def test_a_bulk_fills_each_mail_with_its_own_values_unescaped(ses: Client, sesv2: Any) -> None:
    headers = [{"Name": "List-Id", "Value": "<l>"}, {"Name": "X-Kind", "Value": "default"}]
    results = bulk(
        sesv2,
        entry_to("ada@example.org", {"x-kind": "own"}, name="A & B", name_html="A &amp; B", link="https://a"),
        entry_to("bob@example.org", name="Bob {{link}}", name_html="<i>", link="https://b"),
        Headers=headers,
    )
    assert [result["Status"] for result in results] == ["SUCCESS", "SUCCESS"]
    bob, ada = ses.mails()
    assert [ada["id"], bob["id"]] == [result["MessageId"] for result in results]
    assert (ada["subject"], ada["html"], ada["text"]) == ("To A & B", "<p>A &amp; B</p>", "A & B https://a")
    assert (bob["subject"], bob["html"]) == ("To Bob {{link}}", "<p><i></p>")
    assert (ada["headers"]["List-Id"], ada["headers"]["x-kind"], bob["headers"]["X-Kind"]) == (
        "<l>",
        "own",
        "default",
    )


def test_a_missing_value_is_a_success_that_never_arrives(ses: Client, sesv2: Any) -> None:
    [result] = bulk(sesv2, entry_to("ada@example.org", name="Ada", name_html="Ada"))
    assert result["Status"] == "SUCCESS"
    assert ses.mails() == []
    [event] = ses.events()
    assert event["eventType"] == "Rendering Failure"
    assert "'link'" in event["failure"]["errorMessage"]


def test_each_entry_has_its_own_result(ses: Client, sesv2: Any) -> None:
    ses.tell(entries={"bob@example.org": "TRANSIENT_FAILURE"})
    full = {"name": "x", "name_html": "x", "link": "x"}
    results = bulk(
        sesv2,
        entry_to("ada@example.org", **full),
        entry_to("bob@example.org", **full),
        entry_to("eve@exämple.org", **full),
        entry_to("zoe@example.org", {"X-A": "ä"}, **full),
    )
    expected = ["SUCCESS", "TRANSIENT_FAILURE", "INVALID_PARAMETER", "INVALID_PARAMETER"]
    assert [result["Status"] for result in results] == expected
    assert [mail["to"] for mail in ses.mails()] == [["ada@example.org"]]


@pytest.mark.parametrize("broken", ["{{#if name}}x{{/if}}", "{{{name}}}", "{{> part}}", "open {{"])
def test_inline_templates_support_substitution_only(sesv2: Any, broken: str) -> None:
    with pytest.raises(ClientError, match="BadRequestException"):
        bulk(sesv2, entry_to("a@b.org"), TemplateContent=TEMPLATE | {"Html": broken})


def test_the_limits_of_ses_hold(sesv2: Any) -> None:
    entry = entry_to("ada@example.org", name="x", name_html="x", link="x")
    assert len(bulk(sesv2, *[entry] * 50)) == 50
    with pytest.raises(ClientError, match="50"):
        bulk(sesv2, *[entry] * 51)
    with pytest.raises(ClientError, match="1 MB"):
        bulk(sesv2, entry, TemplateContent=TEMPLATE | {"Html": "x" * 1_000_000})
    for headers in ([{"Name": "To", "Value": "x"}], [{"Name": f"X-{n}", "Value": "x"} for n in range(16)]):
        with pytest.raises(ClientError):
            _raw_call(sesv2, headers)


def _raw_call(sesv2: Any, headers: list[dict[str, str]]) -> None:
    """Past botocore's own check of lengths, as a bare client goes."""
    unchecked = boto3.client("sesv2", endpoint_url=sesv2.meta.endpoint_url, config=Config(parameter_validation=False))
    send(unchecked, Headers=headers)


def test_what_was_sent_to_whom_is_counted(ses: Client, sesv2: Any) -> None:
    send(sesv2)
    bulk(sesv2, *[entry_to(to, name="x", name_html="x", link="x") for to in ("ada@example.org", "bob@example.org")])
    stats = ses.stats()
    assert stats["calls"] == {"SendEmail": 1, "SendBulkEmail": 1}
    assert stats["recipients"] == 3
    assert stats["addresses"] == {"ada@example.org": 2, "bob@example.org": 1}


@pytest.mark.parametrize(
    ("to", "kind", "subtype"),
    [
        ("bounce", "Bounce", "General"),
        ("bounce+first", "Bounce", "General"),
        ("suppressionlist", "Bounce", "OnAccountSuppressionList"),
        ("complaint+x", "Complaint", None),
        ("success", "Delivery", None),
        ("ooto", "Delivery", None),
    ],
)
def test_the_mailbox_simulator_causes_events(
    ses: Client, sesv2: Any, to: str, kind: str, subtype: str | None
) -> None:
    address = f"{to}@simulator.amazonses.com"
    message_id = send(sesv2, address)["MessageId"]
    [event] = ses.events()
    assert event["eventType"] == kind
    assert event["mail"]["messageId"] == message_id
    assert event["mail"]["destination"] == [address]
    if subtype:
        assert event["bounce"]["bounceSubType"] == subtype
        assert event["bounce"]["bouncedRecipients"][0]["emailAddress"] == address


def test_an_event_carries_the_tags_the_mail_was_sent_with(ses: Client, sesv2: Any) -> None:
    bouncing = entry_to("bounce@simulator.amazonses.com", name="x", name_html="x", link="x")
    half = entry_to("ada@example.org", name="x", name_html="x")
    tags = [{"Name": "delivery", "Value": "d1"}, {"Name": "kind", "Value": "campaign"}]
    own = half | {"ReplacementTags": [{"Name": "kind", "Value": "own"}]}
    sesv2.send_bulk_email(
        FromEmailAddress="news@example.org",
        DefaultContent={"Template": {"TemplateContent": TEMPLATE, "TemplateData": "{}"}},
        DefaultEmailTags=tags,
        BulkEmailEntries=[bouncing, own],
        ConfigurationSetName="gna",
    )
    bounce, rendering = [event["mail"]["tags"] for event in ses.events()]
    assert (bounce["delivery"], bounce["kind"], bounce["ses:configuration-set"]) == (["d1"], ["campaign"], ["gna"])
    assert (rendering["delivery"], rendering["kind"]) == (["d1"], ["own"])


def test_as_a_command_it_ends_cleanly_and_names_a_taken_port(tmp_path: Path) -> None:
    with local_ses.spawn("--data", str(tmp_path)) as client:
        send(connect(client))
        port = client.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "local.ses.main", "--port", port], capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert len(second.stderr.splitlines()) == 1
        assert port in second.stderr
    with local_ses.start(data=tmp_path) as again:
        assert len(again.mails()) == 1
