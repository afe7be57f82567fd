import pytest
from msgspec.structs import replace

from chalicelib.admin import diagnostics
from chalicelib.kernel import publication, settings
from chalicelib.kernel.findings import Finding, Level

WELL = {
    "SITE_URL": "https://news.example.org",
    "FROM_EMAIL": "The News <news@example.org>",
    "ADMIN_EMAIL": "me@example.org",
    "POSTAL_ADDRESS": "Example Street 1",
    "ALLOWED_ORIGINS": "https://example.org",
    "FEED_URL": "https://example.org/feed.xml",
    "CF_ACCESS_TEAM_NAME": "example",
    "CF_ACCESS_AUD": "0123456789abcdef" * 4,
    "BEHIND_CLOUDFLARE": "true",
    "CONFIGURATION_SET": "gna-prod",
}


def _found(**changes: str) -> list[Finding]:
    return diagnostics.check(settings.load(WELL | changes))


def test_a_complete_configuration_has_no_findings():
    assert _found() == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SITE_URL": ""}, "SITE_URL is not set"),
        ({"SITE_URL": "http://news.example.org"}, "SITE_URL is not https"),
        ({"SITE_URL": "https://example.org/news"}, "SITE_URL has a path"),
        ({"SITE_ZONE": "Europe/Berlim"}, "SITE_ZONE is no time zone"),
        ({"FROM_EMAIL": ""}, "FROM_EMAIL is not set"),
        ({"FROM_EMAIL": "Me <me@gmail.com>"}, "FROM_EMAIL is at a public email provider"),
        ({"ADMIN_EMAIL": ""}, "ADMIN_EMAIL is not set"),
        ({"CONFIGURATION_SET": ""}, "CONFIGURATION_SET is not set"),
        ({"CF_ACCESS_AUD": ""}, "CF_ACCESS_AUD not set"),
        ({"CF_ACCESS_TEAM_NAME": "", "CF_ACCESS_AUD": ""}, "CF_ACCESS_TEAM_NAME and CF_ACCESS_AUD not set"),
        ({"CF_ACCESS_AUD": "example"}, "CF_ACCESS_AUD is not 64 hex digits"),
    ],
)
def test_what_does_not_work_is_an_error(changes, message):
    [finding] = _found(**changes)
    assert (finding.level, finding.message) == (Level.ERROR, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"POSTAL_ADDRESS": ""}, "POSTAL_ADDRESS is not set"),
        ({"ALLOWED_ORIGINS": ""}, "ALLOWED_ORIGINS is empty"),
        ({"ALLOWED_ORIGINS": "http://example.org"}, "http://example.org is not https"),
        ({"FEED_URL": ""}, "FEED_URL is empty"),
        ({"FEED_URL": "http://example.org/feed.xml"}, "FEED_URL is not https"),
        ({"FEED_HOLD": "30", "FEED_MODE": "review"}, "FEED_HOLD has no effect"),
        ({"FEED_HOLD": "30", "FEED_DIGEST": "weekly"}, "FEED_HOLD has no effect"),
        ({"BEHIND_CLOUDFLARE": "false"}, "BEHIND_CLOUDFLARE is off"),
        ({"DISABLE_AUTH": "true"}, "DISABLE_AUTH is on"),
    ],
)
def test_what_is_good_to_know_is_a_note(changes, message):
    [finding] = _found(**changes)
    assert (finding.level, finding.message) == (Level.NOTE, message)


def test_settings_of_the_feed_that_work_have_no_finding():
    assert _found(FEED_HOLD="30", FEED_MODE="auto") == []
    assert _found(FEED_DIGEST="weekly", FEED_DIGEST_AT="fri 18:00", FEED_MODE="review", SITE_ZONE="Asia/Tokyo") == []


def test_a_welcome_email_that_can_link_nothing_is_noted():
    values = settings.load(WELL)
    shown = publication.from_settings(values)
    welcome = publication.Welcome(on=True, link_last=True)
    assert diagnostics.check(values, replace(shown, welcome=welcome)) == []
    [finding] = diagnostics.check(values, replace(shown, welcome=welcome, archive=False))
    assert finding.message == "The welcome email links no campaign"


def test_a_welcome_email_with_an_unknown_placeholder_is_an_error():
    values = settings.load(WELL)
    shown = replace(publication.from_settings(values), welcome=publication.Welcome(on=True, body="Hi {{name}}"))
    [finding] = diagnostics.check(values, shown)
    assert (finding.level, finding.message) == (
        Level.ERROR,
        "The welcome email has an unknown placeholder, {{name}}",
    )
    assert diagnostics.check(values, replace(shown, welcome=publication.Welcome(body="Hi {{name}}"))) == []


def test_the_local_runner_is_not_warned_of_what_only_a_deployment_needs():
    assert _found(GNA_LOCAL="true", SITE_URL="http://127.0.0.1:8000", CONFIGURATION_SET="") == []
