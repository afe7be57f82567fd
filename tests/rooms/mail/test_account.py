from typing import Any

import pytest

from chalicelib.mail import account
from chalicelib.mail.failures import Transient
from local.ses.main import Client


def test_the_quota_is_read(ses: Client) -> None:
    ses.tell(quota={"Max24HourSend": 200, "MaxSendRate": 1, "SentLast24Hours": 150}, production=False)
    now = account.account()
    assert (now.per_day, now.per_second, now.sent_today, now.left_today) == (200, 1, 150, 50)
    assert now.in_sandbox
    assert now.sending_enabled


def test_no_limit_is_no_limit(ses: Client) -> None:
    ses.tell(quota={"Max24HourSend": -1})
    assert account.account().left_today == float("inf")


def test_the_identity_of_the_sender_is_read(ses: Client) -> None:
    ses.tell(dkim="PENDING")
    found = account.identity()
    assert found
    assert (found.name, found.verified, found.dkim, found.dkim_status) == ("news@example.org", True, False, "PENDING")


@pytest.mark.parametrize("known", ["news@a.b.example.org", "a.b.example.org", "example.org"])
def test_a_domain_speaks_for_what_is_below_it(ses: Client, configure: Any, known: str) -> None:
    configure(FROM_EMAIL="news@a.b.example.org")
    ses.tell(identities=[known])
    found = account.identity()
    assert found
    assert found.name == known


def test_an_unknown_sender_has_no_identity(ses: Client) -> None:
    ses.tell(identities=[])
    assert account.identity() is None


def test_an_endpoint_that_is_down_is_transient(ses: Client) -> None:
    ses.tell(down=True)
    with pytest.raises(Transient):
        account.account()
