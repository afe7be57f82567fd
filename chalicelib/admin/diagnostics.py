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
        yield error("SITE_URL is not set", "every mailed link would lead to the reader's own machine", "Set SITE_URL")
    elif parts.scheme != "https":
        yield error("SITE_URL is not https", "tokens in links could be read on the way", "Set an https address")
    if parts.path or parts.query:
        yield error("SITE_URL has a path", "links are made by adding theirs to it", "Leave only the origin")


def _mail(settings: Settings) -> Iterator[Finding]:
    if not settings.from_email:
        yield error("FROM_EMAIL is not set", "no mail can leave", "Set the address that writes to readers")
    elif domain(settings.from_email) in _FREE_MAIL:
        why = "that domain tells receivers to refuse mail sent by SES"
        yield error("FROM_EMAIL is at a mail provider", why, "Use an address at a domain of your own")
    if not settings.admin_email:
        yield error("ADMIN_EMAIL is not set", "nobody hears of a failing feed or of alarms", "Set ADMIN_EMAIL")
    if not settings.postal_address:
        why = "many countries ask for a postal address in every newsletter"
        yield note("POSTAL_ADDRESS is not set", why, "Set it, or know why you need none")
    if not (settings.configuration_set or settings.local):
        why = "SES then reports no bounces and complaints"
        yield error("CONFIGURATION_SET is not set", why, "Deploy the template, or set its name")


def _door(settings: Settings) -> Iterator[Finding]:
    if settings.disable_auth:
        yield note(
            "DISABLE_AUTH is on", "anybody who reaches /admin is its master", "Use it on your own machine only"
        )
        return
    missing = [
        name
        for name, value in (("CF_ACCESS_TEAM_NAME", settings.access_team), ("CF_ACCESS_AUD", settings.access_aud))
        if not value
    ]
    if missing:
        fix = "Take it from the Access application in Cloudflare"
        yield error(f"{' and '.join(missing)} not set", "/admin answers 500 to everybody", fix)
    elif not _AUDIENCE.match(settings.access_aud):
        yield error(
            "CF_ACCESS_AUD is not 64 hex digits", "no token will match it", "Copy the Application Audience tag"
        )
    if settings.access_team and not settings.behind_cloudflare:
        why = "the limit on sign-ups then counts Cloudflare's addresses instead of readers'"
        yield note("BEHIND_CLOUDFLARE is off", why, "Set it if readers come through Cloudflare too")


def _form(settings: Settings) -> Iterator[Finding]:
    if not settings.allowed_origins:
        yield note("ALLOWED_ORIGINS is empty", "no other site can embed the form", "List the origins of your site")
    for origin in settings.allowed_origins:
        parts = urlsplit(origin)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            yield note(f"{origin} is not https", "what readers type there can be read on the way", "Use https")


def _feed(settings: Settings) -> Iterator[Finding]:
    if not settings.feed_url:
        yield note(
            "FEED_URL is empty", "campaigns come from you alone", "Set it to make campaigns of what you publish"
        )
    elif urlsplit(settings.feed_url).scheme == "http" and not settings.local:
        yield note("FEED_URL is not https", "on the way, others could write your campaigns", "Use https if you can")


def check_sending(in_sandbox: bool, enabled: bool, standing: str) -> Iterator[Finding]:
    """What SES itself holds against sending, whoever asked it."""
    if in_sandbox:
        why = "mail reaches verified addresses only, 200 a day"
        yield error("SES is in the sandbox", why, "Request production access in the SES console")
    if not enabled:
        yield error("SES sending is paused", "no mail leaves", "Read the account's notices in the SES console")
    if standing not in ("", "HEALTHY"):
        what = f"SES calls the account {standing.lower()}"
        yield error(what, "sending may be stopped", "Answer the case in the SES console")
