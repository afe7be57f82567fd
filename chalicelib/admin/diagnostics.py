"""What can be said of the settings by looking at them alone. `make doctor` and the Settings page show the same."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.kernel.settings import Settings

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_AUDIENCE = re.compile(r"[0-9a-f]{64}\Z")
# Their domains tell receivers to refuse mail that does not come from their own servers.
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


class Finding(Struct, frozen=True):
    """`serious` means that something does not work, or is not safe, until it is put right."""

    serious: bool
    what: str
    why: str
    fix: str

    def __str__(self) -> str:
        return f"{'ERROR' if self.serious else 'note '} {self.what}: {self.why}. {self.fix}."


def error(what: str, why: str, fix: str) -> Finding:
    return Finding(True, what, why, fix)


def note(what: str, why: str, fix: str) -> Finding:
    return Finding(False, what, why, fix)


def check(settings: Settings) -> list[Finding]:
    return [*_site(settings), *_mail(settings), *_door(settings), *_form(settings), *_feed(settings)]


def domain(address: str) -> str:
    """Of `Name <me@example.org>` or `me@example.org`."""
    return address.rpartition("@")[2].rstrip("> ").lower()


def _site(settings: Settings) -> Iterator[Finding]:
    parts = urlsplit(settings.site_url)
    if settings.local:
        return
    if parts.hostname in _LOOPBACK:
        yield error("SITE_URL is not set", "links in emails would point to the reader's own machine", "Set SITE_URL")
    elif parts.scheme != "https":
        yield error("SITE_URL is not https", "tokens in links could be intercepted", "Set an https address")
    if parts.path or parts.query:
        yield error("SITE_URL has a path", "links are built by appending a path to it", "Set only the origin")


def _mail(settings: Settings) -> Iterator[Finding]:
    if not settings.from_email:
        yield error("FROM_EMAIL is not set", "no email can be sent", "Set the sender address")
    elif domain(settings.from_email) in _FREE_MAIL:
        why = "its domain tells receivers to reject email sent by SES"
        yield error("FROM_EMAIL is at a public email provider", why, "Use an address at your own domain")
    if not settings.admin_email:
        yield error("ADMIN_EMAIL is not set", "nobody is notified of a failing feed or of alarms", "Set ADMIN_EMAIL")
    if not settings.postal_address:
        why = "many countries require a postal address in every newsletter"
        yield note("POSTAL_ADDRESS is not set", why, "Set it, unless you know that you need none")
    if not (settings.configuration_set or settings.local):
        why = "SES will not report bounces and complaints"
        yield error("CONFIGURATION_SET is not set", why, "Deploy the template, or set its name")


def _door(settings: Settings) -> Iterator[Finding]:
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


def _form(settings: Settings) -> Iterator[Finding]:
    if not settings.allowed_origins:
        yield note("ALLOWED_ORIGINS is empty", "no other site can embed the form", "List the origins of your site")
    for origin in settings.allowed_origins:
        parts = urlsplit(origin)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            yield note(f"{origin} is not https", "what readers type there could be intercepted", "Use https")


def _feed(settings: Settings) -> Iterator[Finding]:
    if not settings.feed_url:
        yield note(
            "FEED_URL is empty", "no campaigns are created automatically", "Set it to turn new posts into campaigns"
        )
    elif urlsplit(settings.feed_url).scheme == "http" and not settings.local:
        yield note("FEED_URL is not https", "campaigns could be altered in transit", "Use https if you can")


def check_sending(in_sandbox: bool, enabled: bool, standing: str) -> Iterator[Finding]:
    """What SES itself holds against sending, whoever asked it."""
    if in_sandbox:
        why = "email reaches verified addresses only, 200 a day"
        yield error("SES is in the sandbox", why, "Request production access in the SES console")
    if not enabled:
        yield error("SES sending is paused", "no email is sent", "Read the account's notices in the SES console")
    if standing not in ("", "HEALTHY"):
        what = f"The SES account status is {standing.lower()}"
        yield error(what, "sending may be paused", "Reply to the case in the SES console")
