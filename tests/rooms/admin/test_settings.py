import pytest
from msgspec.structs import replace

from chalicelib.admin import configuration
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail.account import Account, Identity
from tests.rooms.admin.conftest import text

GOOD = Account(50_000, 14, 0, False, True, "HEALTHY")
SENDER = Identity("example.org", True, True, "SUCCESS", None)


@pytest.mark.parametrize(
    ("account", "identity", "said"),
    [
        ({"sending_enabled": False}, SENDER, "SES sending is paused"),
        ({"in_sandbox": True}, SENDER, "SES is in the sandbox"),
        ({"standing": "PROBATION"}, SENDER, "The SES account status is probation"),
        ({}, None, "The sender identity was not found in SES"),
        ({}, replace(SENDER, verified=False), "example.org is not verified"),
        ({}, replace(SENDER, dkim=False), "DKIM is not set up for example.org"),
    ],
)
def test_problems_of_the_ses_account_are_reported(dashboard, configure, monkeypatch, account, identity, said):
    configure(POSTAL_ADDRESS="1 Orchard Lane", CF_ACCESS_TEAM_NAME="team", CF_ACCESS_AUD="a" * 64)
    monkeypatch.setattr(configuration.mail_account, "account", lambda: replace(GOOD, **account))
    monkeypatch.setattr(configuration.mail_account, "identity", lambda: identity)
    seen = dashboard.see("/admin/settings")
    assert said in seen
    assert "No problems found" not in seen


def test_a_sender_that_could_not_be_looked_up_is_not_said_to_be_missing(dashboard, monkeypatch):
    def unavailable():
        raise Unavailable

    monkeypatch.setattr(configuration.mail_account, "identity", unavailable)
    seen = dashboard.see("/admin/settings")
    assert "The SES account could not be checked" in seen
    assert "not found in SES" not in seen.replace("Not found", "not found")


def test_settings_are_shown_without_their_secrets(dashboard, configure):
    configure(POSTAL_ADDRESS="", WEBHOOK_SECRET="short")
    page = dashboard.get("/admin/settings")
    seen = text(page)
    assert "POSTAL_ADDRESS is not set" in seen
    assert "WEBHOOK_SECRET is missing or too short" in seen
    assert "news@example.org" in seen
    assert "Signing key SECRET_KEY set" in seen
    assert "a secret of thirty-two characters" not in page.text
    assert "short</dd>" not in page.text
    assert "per second" in seen


def test_the_suppression_list_of_ses_is_shown(dashboard):
    seen = dashboard.see("/admin/settings")
    assert "Suppression list SES adds an address after a bounce or a complaint, and no longer sends to it" in seen
