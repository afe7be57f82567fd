"""Problems that the settings alone show. `make doctor` and the settings page report the same ones."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from chalicelib.kernel import zones
from chalicelib.kernel.findings import Finding, error, note
from chalicelib.kernel.publication import OFF, Publication, from_settings
from chalicelib.kernel.settings import Settings
from chalicelib.mail import account_findings

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_AUDIENCE = re.compile(r"[0-9a-f]{64}\Z")
# Their domains (by DMARC) tell receivers to reject mail that does not come from their own servers.
_FREE_MAIL = {
    "gmail.com",
    "googlemail.com",
    "yahoo.com",
    "outlook.com",
    "hotmail.com",
    "icloud.com",
    "gmx.de",
    "aol.com",
}


def check(settings: Settings, shown: Publication | None = None) -> list[Finding]:
    """`shown` is the publication with what editors have changed; without it, as the settings describe it."""
    shown = shown or from_settings(settings)
    return [
        *_check_site(settings),
        *_check_zone(shown),
        *_check_mail(settings, shown),
        *_check_authentication(settings),
        *_check_form(settings),
        *_check_feed(settings, shown),
        *_check_welcome(shown),
    ]


def domain(address: str) -> str:
    """The domain of `Name <me@example.org>` or `me@example.org`."""
    return address.rpartition("@")[2].rstrip("> ").lower()


def _check_site(settings: Settings) -> Iterator[Finding]:
    parts = urlsplit(settings.site_url)
    if settings.local:
        return
    if parts.hostname in _LOOPBACK:
        yield error("SITE_URL is not set", "links in emails would point to the reader's own machine", "Set SITE_URL")
    elif parts.scheme != "https":
        yield error("SITE_URL is not https", "tokens in links could be intercepted", "Set an https address")
    if parts.path or parts.query:
        yield error("SITE_URL has a path", "links are built by appending a path to it", "Set only the origin")


def _check_zone(shown: Publication) -> Iterator[Finding]:
    if not zones.is_known(shown.time_zone):
        why = "digests, dates and days of joining follow UTC"
        yield error("SITE_ZONE is no time zone", why, "Set a name such as Europe/Berlin")


def _check_mail(settings: Settings, shown: Publication) -> Iterator[Finding]:
    if not settings.from_email:
        yield error("FROM_EMAIL is not set", "no email can be sent", "Set the sender address")
    elif domain(settings.from_email) in _FREE_MAIL:
        why = "its domain tells receivers to reject email sent by SES"
        yield error("FROM_EMAIL is at a public email provider", why, "Use an address at your own domain")
    if not settings.admin_email:
        yield error("ADMIN_EMAIL is not set", "nobody is notified of a failing feed or of alarms", "Set ADMIN_EMAIL")
    yield from account_findings.check_postal_address(shown.postal_address)
    if not (settings.configuration_set or settings.local):
        why = "SES will not report bounces and complaints"
        yield error("CONFIGURATION_SET is not set", why, "Deploy the template, or set its name")


def _check_authentication(settings: Settings) -> Iterator[Finding]:
    if settings.disable_auth:
        yield note(
            "DISABLE_AUTH is on", "anyone who can reach /admin has full control", "Use it on your own machine only"
        )
        return
    missing = [
        name
        for name, value in (("CF_ACCESS_TEAM_NAME", settings.access_team), ("CF_ACCESS_AUD", settings.access_aud))
        if not value
    ]
    if missing:
        fix = "Copy it from the Access application in Cloudflare"
        yield error(f"{' and '.join(missing)} not set", "/admin returns 500 to everyone", fix)
    elif not _AUDIENCE.match(settings.access_aud):
        yield error(
            "CF_ACCESS_AUD is not 64 hex digits", "no token will match it", "Copy the Application Audience tag"
        )
    if settings.access_team and not settings.behind_cloudflare:
        why = "the sign-up limit then counts Cloudflare's IP addresses instead of readers'"
        yield note("BEHIND_CLOUDFLARE is off", why, "Set it if readers come through Cloudflare too")


def _check_form(settings: Settings) -> Iterator[Finding]:
    if not settings.allowed_origins:
        yield note("ALLOWED_ORIGINS is empty", "no other site can embed the form", "List the origins of your site")
    for origin in settings.allowed_origins:
        parts = urlsplit(origin)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            yield note(f"{origin} is not https", "what readers type there could be intercepted", "Use https")


def _check_feed(settings: Settings, shown: Publication) -> Iterator[Finding]:
    if not settings.feed_url:
        yield note(
            "FEED_URL is empty", "no campaigns are created automatically", "Set it to turn new posts into campaigns"
        )
    elif urlsplit(settings.feed_url).scheme == "http" and not settings.local:
        yield note("FEED_URL is not https", "campaigns could be altered in transit", "Use https if you can")
    feed = shown.feed
    if settings.feed_url and feed.hold and (feed.digest != OFF or feed.mode != "auto"):
        why = "posts of a digest wait for it anyway" if feed.digest != OFF else "a draft is not sent by itself"
        yield note("FEED_HOLD has no effect", why, "Set it to 0, or change FEED_DIGEST or FEED_MODE")


def _check_welcome(shown: Publication) -> Iterator[Finding]:
    if not shown.welcome.on:
        return
    from chalicelib.campaigns.content import welcome

    for tag in welcome.find_unknown(shown.welcome)[:1]:
        message = f"The welcome email has an unknown placeholder, {tag.typed}"
        yield error(message, "readers see it as typed", f"{tag.advice}, on the settings page")
    if shown.welcome.link_last and not shown.archive:
        why = "the archive is off, so nobody could read it there"
        yield note("The welcome email links no campaign", why, "Turn the archive on, or the link off")
