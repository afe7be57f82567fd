from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.kernel.findings import Level
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings
from chalicelib.mail.account import Account, Identity

GOOD = Account(50_000, 14, 0, False, True, "HEALTHY")


@pytest.mark.parametrize(
    ("changes", "people", "expected"),
    [
        ({}, 100, set()),
        ({"in_sandbox": True}, 100, {"sandbox"}),
        ({"sending_enabled": False}, 100, {"paused"}),
        ({"sent_today": 49_950}, 100, {"over_quota"}),
        ({"per_day": -1}, 1_000_000, set()),
    ],
)
def test_what_in_the_account_hinders_a_campaign(changes: dict[str, Any], people, expected):
    account = replace(GOOD, **changes)
    found = [*account_findings.check_account(account), *account_findings.check_quota(account, people)]
    assert {finding.code for finding in found} == expected


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        (None, {"unverified"}),
        (Identity("example.org", False, False, "PENDING", None), {"unverified"}),
        (Identity("example.org", True, False, "PENDING", None), {"no_dkim"}),
        (Identity("example.org", True, True, "SUCCESS", None), set()),
    ],
)
def test_what_in_the_sender_hinders_a_campaign(identity, expected):
    assert {finding.code for finding in account_findings.check_identity(identity)} == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({}, set()),
        ({"SuppressionAttributes": {"SuppressedReasons": ["BOUNCE", "COMPLAINT"]}}, set()),
        ({"SuppressionAttributes": {"SuppressedReasons": ["COMPLAINT"]}}, {"no_suppression"}),
        ({"SuppressionAttributes": {"SuppressedReasons": []}}, {"no_suppression"}),
        ({"SuppressionAttributes": {}}, {"no_suppression"}),
    ],
)
def test_whether_ses_itself_stops_at_a_bounce(answer, expected):
    account = mail_account.parse_account(answer)
    assert {finding.code for finding in account_findings.check_suppression(account)} == expected


def test_a_finding_reads_as_sentences():
    [finding] = account_findings.check_account(replace(GOOD, in_sandbox=True))
    assert finding.level is Level.WARNING
    assert finding.text == (
        "SES is in the sandbox: email reaches verified addresses only, 200 a day. "
        "Request production access in the SES console."
    )


@pytest.mark.parametrize(("standing", "codes"), [("", []), ("HEALTHY", []), ("PROBATION", ["account_status"])])
def test_the_standing_of_the_account_is_told(standing, codes):
    found = account_findings.check_status(replace(GOOD, standing=standing))
    assert [finding.code for finding in found] == codes


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"sent_today": 45_000}, ["quota_almost_used"]),
        ({"per_day": -1}, []),
        ({"per_day": 1_000}, ["small_quota"]),
        ({"per_day": 1_000, "sent_today": 900}, ["small_quota", "quota_almost_used"]),
    ],
)
def test_a_small_quota_and_one_almost_used_up_are_told(changes: dict[str, Any], codes):
    account = replace(GOOD, **changes)
    found = [*account_findings.check_daily_quota(account), *account_findings.check_used_quota(account)]
    assert [finding.code for finding in found] == codes
