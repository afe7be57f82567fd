"""The local SES when it is told to fail, to be slow or to have a quota."""

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from local.ses.main import Client
from tests.local.ses_calls import bulk, entry_to, send


def test_calls_can_be_throttled_by_share_and_seed(ses: Client, sesv2: Any) -> None:
    def outcomes() -> list[bool]:
        ses.tell(throttle=0.5, seed=7)
        return [_passes(sesv2) for _ in range(20)]

    first = outcomes()
    assert first == outcomes()
    assert 3 < sum(first) < 17


def _passes(sesv2: Any) -> bool:
    try:
        send(sesv2)
    except sesv2.exceptions.TooManyRequestsException:
        return False
    return True


def test_it_can_fail_so_many_times_and_then_work(ses: Client, sesv2: Any) -> None:
    ses.tell(fail={"code": "AccountSuspendedException", "times": 2})
    for _ in range(2):
        with pytest.raises(ClientError, match="AccountSuspendedException"):
            send(sesv2)
    send(sesv2)
    assert ses.stats()["answers"] == {"400": 2, "200": 1}


def test_it_can_be_down_and_come_back(ses: Client, sesv2: Any) -> None:
    ses.tell(down=True)
    with pytest.raises(ConnectionClosedError):
        send(sesv2)
    ses.tell(down=False)
    send(sesv2)
    assert len(ses.mails()) == 1


def test_what_goes_faster_than_the_rate_is_throttled(ses: Client, sesv2: Any) -> None:
    ses.tell(quota={"MaxSendRate": 20}, enforce_rate=True)
    entry = entry_to("ada@example.org", name="x", name_html="x", link="x")
    assert len(bulk(sesv2, *[entry] * 22)) == 22
    assert not _passes(sesv2)
    time.sleep(0.2)
    assert _passes(sesv2)
    assert ses.stats()["peak_per_second"] >= 11


def test_it_can_be_slow(ses: Client, sesv2: Any) -> None:
    ses.tell(delay_ms=80)
    began = time.monotonic()
    send(sesv2)
    assert time.monotonic() - began >= 0.08


def test_an_unknown_fault_is_refused(ses: Client) -> None:
    with pytest.raises(ValueError, match="explode"):
        ses.tell(explode=True)


def test_the_daily_quota_counts_recipients_and_ends_in_the_middle_of_a_batch(ses: Client, sesv2: Any) -> None:
    ses.tell(quota={"Max24HourSend": 3, "MaxSendRate": 14})
    entry = entry_to("ada@example.org", name="x", name_html="x", link="x")
    statuses = [result["Status"] for result in bulk(sesv2, *[entry] * 5)]
    assert statuses == ["SUCCESS"] * 3 + ["ACCOUNT_DAILY_QUOTA_EXCEEDED"] * 2
    with pytest.raises(ClientError, match="Daily message quota"):
        send(sesv2)
    assert sesv2.get_account()["SendQuota"] == {"Max24HourSend": 3, "MaxSendRate": 14, "SentLast24Hours": 3}
