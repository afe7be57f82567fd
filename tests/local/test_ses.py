"""The local SES, called with botocore."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from local.ses import main as local_ses
from local.ses.main import Client

SIMPLE = {
    "Subject": {"Data": "Hello"},
    "Body": {"Html": {"Data": "<p>Hi</p>"}, "Text": {"Data": "Hi"}},
    "Headers": [{"Name": "List-Id", "Value": "<news.example.org>"}],
}
TEMPLATE = {"Subject": "To {{name}}", "Html": "<p>{{ name_html }}</p>", "Text": "{{name}} {{link}}"}


@pytest.fixture
def sesv2(ses: Client) -> Any:
    return _boto(ses)


def _boto(ses: Client) -> Any:
    return boto3.client("sesv2", endpoint_url=ses.url, config=Config(retries={"total_max_attempts": 1}))


def _send(sesv2: Any, to: str = "ada@example.org", **content: Any) -> Any:
    return sesv2.send_email(
        FromEmailAddress="News <news@example.org>",
        Destination={"ToAddresses": [to]},
        Content={"Simple": SIMPLE | content},
    )


def _entry(to: str, headers: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    return {
        "Destination": {"ToAddresses": [to]},
        "ReplacementEmailContent": {"ReplacementTemplate": {"ReplacementTemplateData": json.dumps(data)}},
        "ReplacementHeaders": [{"Name": name, "Value": value} for name, value in (headers or {}).items()],
    }


def _bulk(sesv2: Any, *entries: dict[str, Any], **template: Any) -> list[dict[str, Any]]:
    template = {"TemplateContent": TEMPLATE, "TemplateData": "{}"} | template
    answer = sesv2.send_bulk_email(
        FromEmailAddress="news@example.org", DefaultContent={"Template": template}, BulkEmailEntries=list(entries)
    )
    return list(answer["BulkEmailEntryResults"])


def test_one_mail_is_in_the_mailbox_with_everything_it_had(ses: Client, sesv2: Any) -> None:
    answer = _send(sesv2)
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
    results = _bulk(
        sesv2,
        _entry("ada@example.org", {"x-kind": "own"}, name="A & B", name_html="A &amp; B", link="https://a"),
        _entry("bob@example.org", name="Bob {{link}}", name_html="<i>", link="https://b"),
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
    [result] = _bulk(sesv2, _entry("ada@example.org", name="Ada", name_html="Ada"))
    assert result["Status"] == "SUCCESS"
    assert ses.mails() == []
    [event] = ses.events()
    assert event["eventType"] == "Rendering Failure"
    assert "'link'" in event["failure"]["errorMessage"]


def test_each_entry_has_its_own_result(ses: Client, sesv2: Any) -> None:
    ses.tell(entries={"bob@example.org": "TRANSIENT_FAILURE"})
    full = {"name": "x", "name_html": "x", "link": "x"}
    results = _bulk(
        sesv2,
        _entry("ada@example.org", **full),
        _entry("bob@example.org", **full),
        _entry("eve@exämple.org", **full),
        _entry("zoe@example.org", {"X-A": "ä"}, **full),
    )
    expected = ["SUCCESS", "TRANSIENT_FAILURE", "INVALID_PARAMETER", "INVALID_PARAMETER"]
    assert [result["Status"] for result in results] == expected
    assert [mail["to"] for mail in ses.mails()] == [["ada@example.org"]]


@pytest.mark.parametrize("broken", ["{{#if name}}x{{/if}}", "{{{name}}}", "{{> part}}", "open {{"])
def test_inline_templates_support_substitution_only(sesv2: Any, broken: str) -> None:
    with pytest.raises(ClientError, match="BadRequestException"):
        _bulk(sesv2, _entry("a@b.org"), TemplateContent=TEMPLATE | {"Html": broken})


def test_the_limits_of_ses_hold(sesv2: Any) -> None:
    entry = _entry("ada@example.org", name="x", name_html="x", link="x")
    assert len(_bulk(sesv2, *[entry] * 50)) == 50
    with pytest.raises(ClientError, match="50"):
        _bulk(sesv2, *[entry] * 51)
    with pytest.raises(ClientError, match="1 MB"):
        _bulk(sesv2, entry, TemplateContent=TEMPLATE | {"Html": "x" * 1_000_000})
    for headers in ([{"Name": "To", "Value": "x"}], [{"Name": f"X-{n}", "Value": "x"} for n in range(16)]):
        with pytest.raises(ClientError):
            _raw_call(sesv2, headers)


def _raw_call(sesv2: Any, headers: list[dict[str, str]]) -> None:
    """Past botocore's own check of lengths, as a bare client goes."""
    unchecked = boto3.client("sesv2", endpoint_url=sesv2.meta.endpoint_url, config=Config(parameter_validation=False))
    _send(unchecked, Headers=headers)


def test_calls_can_be_throttled_by_share_and_seed(ses: Client, sesv2: Any) -> None:
    def outcomes() -> list[bool]:
        ses.tell(throttle=0.5, seed=7)
        return [_passes(sesv2) for _ in range(20)]

    first = outcomes()
    assert first == outcomes()
    assert 3 < sum(first) < 17


def _passes(sesv2: Any) -> bool:
    try:
        _send(sesv2)
    except sesv2.exceptions.TooManyRequestsException:
        return False
    return True


def test_it_can_fail_so_many_times_and_then_work(ses: Client, sesv2: Any) -> None:
    ses.tell(fail={"code": "AccountSuspendedException", "times": 2})
    for _ in range(2):
        with pytest.raises(ClientError, match="AccountSuspendedException"):
            _send(sesv2)
    _send(sesv2)
    assert ses.stats()["answers"] == {"400": 2, "200": 1}


def test_it_can_be_down_and_come_back(ses: Client, sesv2: Any) -> None:
    ses.tell(down=True)
    with pytest.raises(ConnectionClosedError):
        _send(sesv2)
    ses.tell(down=False)
    _send(sesv2)
    assert len(ses.mails()) == 1


def test_what_goes_faster_than_the_rate_is_throttled(ses: Client, sesv2: Any) -> None:
    ses.tell(quota={"MaxSendRate": 20}, enforce_rate=True)
    entry = _entry("ada@example.org", name="x", name_html="x", link="x")
    assert len(_bulk(sesv2, *[entry] * 22)) == 22
    assert not _passes(sesv2)
    time.sleep(0.2)
    assert _passes(sesv2)
    assert ses.stats()["peak_per_second"] >= 11


def test_it_can_be_slow(ses: Client, sesv2: Any) -> None:
    ses.tell(delay_ms=80)
    began = time.monotonic()
    _send(sesv2)
    assert time.monotonic() - began >= 0.08


def test_an_unknown_fault_is_refused(ses: Client) -> None:
    with pytest.raises(ValueError, match="explode"):
        ses.tell(explode=True)


def test_the_daily_quota_counts_recipients_and_ends_in_the_middle_of_a_batch(ses: Client, sesv2: Any) -> None:
    ses.tell(quota={"Max24HourSend": 3, "MaxSendRate": 14})
    entry = _entry("ada@example.org", name="x", name_html="x", link="x")
    statuses = [result["Status"] for result in _bulk(sesv2, *[entry] * 5)]
    assert statuses == ["SUCCESS"] * 3 + ["ACCOUNT_DAILY_QUOTA_EXCEEDED"] * 2
    with pytest.raises(ClientError, match="Daily message quota"):
        _send(sesv2)
    assert sesv2.get_account()["SendQuota"] == {"Max24HourSend": 3, "MaxSendRate": 14, "SentLast24Hours": 3}


def test_what_was_sent_to_whom_is_counted(ses: Client, sesv2: Any) -> None:
    _send(sesv2)
    _bulk(sesv2, *[_entry(to, name="x", name_html="x", link="x") for to in ("ada@example.org", "bob@example.org")])
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
    message_id = _send(sesv2, address)["MessageId"]
    [event] = ses.events()
    assert event["eventType"] == kind
    assert event["mail"]["messageId"] == message_id
    assert event["mail"]["destination"] == [address]
    if subtype:
        assert event["bounce"]["bounceSubType"] == subtype
        assert event["bounce"]["bouncedRecipients"][0]["emailAddress"] == address


def test_the_mailbox_lists_newest_first_by_recipient_and_limit(ses: Client, sesv2: Any) -> None:
    for to in ("ada@example.org", "xada@example.org", "ADA@example.org"):
        _send(sesv2, to)
    assert [mail["to"][0] for mail in ses.mails("Ada@example.org")] == ["ADA@example.org", "ada@example.org"]
    assert [mail["to"][0] for mail in ses.mails(limit=1)] == ["ADA@example.org"]
    ses.clear()
    assert ses.mails() == []


def test_links_of_a_mail_open_in_a_new_tab(ses: Client, sesv2: Any) -> None:
    _send(sesv2, Body={"Html": {"Data": "<!DOCTYPE html><html><head></head><body>Hi"}})
    assert ses.html(ses.mails()[0]["id"]).startswith('<!DOCTYPE html><html><head><base target="_blank">')


def test_another_host_name_is_refused(ses: Client) -> None:
    import http.client

    connection = http.client.HTTPConnection(ses.url.removeprefix("http://"))
    connection.request("GET", "/mailbox.json", headers={"Host": "evil.example:80"})
    assert connection.getresponse().status == 403
    connection.close()


def test_mails_survive_a_restart_and_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_ses.start(data=tmp_path) as first:
        _send(_boto(first))
    with local_ses.start(data=tmp_path) as second:
        assert len(second.mails()) == 1
    monkeypatch.setattr("local.ses.mailbox._TRIM_EVERY", 10)
    monkeypatch.setattr("local.ses.mailbox.Mailbox.__init__.__defaults__", (15,))
    with local_ses.start(data=tmp_path) as third:
        client = _boto(third)
        for n in range(30):
            _send(client, f"a{n}@example.org")
        mails = third.mails()
    assert [mails[0]["to"], mails[-1]["to"]] == [["a29@example.org"], ["a15@example.org"]]


def test_a_sink_only_counts(tmp_path: Path) -> None:
    with local_ses.start(sink=True) as sink:
        entries = [_entry(f"a{n}@example.org", name="x", name_html="x", link="x") for n in range(50)]
        assert len(_bulk(_boto(sink), *entries)) == 50
        assert sink.stats()["recipients"] == 50
        assert sink.mails() == []


def test_as_a_command_it_ends_cleanly_and_names_a_taken_port(tmp_path: Path) -> None:
    with local_ses.spawn("--data", str(tmp_path)) as client:
        _send(_boto(client))
        port = client.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "local.ses.main", "--port", port], capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert len(second.stderr.splitlines()) == 1
        assert port in second.stderr
    with local_ses.start(data=tmp_path) as again:
        assert len(again.mails()) == 1
