"""What the settings page shows: the settings, the SES account, and what is wrong with them.

Of a secret it shows only whether there is one.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from chalicelib.admin import diagnostics, fallbacks
from chalicelib.kernel import publication, settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.findings import Finding, error
from chalicelib.kernel.settings import Settings
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings
from chalicelib.mail.account import Account, Identity

NOT_SET = "not set"


class Group(Struct, frozen=True):
    """`rows` have the variable, its label, and its value as shown."""

    title: str
    rows: tuple[tuple[str, str, str], ...]


class Configuration(Struct, frozen=True):
    findings: tuple[Finding, ...]
    groups: tuple[Group, ...]
    account: Account | None
    identity: Identity | None
    knows_identity: bool


def gather() -> Configuration:
    current = settings.current()
    account = fallbacks.or_none(mail_account.account)
    identity = fallbacks.or_none(lambda: (mail_account.identity(),))  # no answer is not the answer that there is none
    findings = [*_check_secrets(), *diagnostics.check(current, publication.at_hand())]
    if account:
        findings += [
            *account_findings.check_account(account),
            *account_findings.check_status(account),
            *account_findings.check_suppression(account),
        ]
    if identity:
        findings += account_findings.check_identity(*identity)
    if not (account and identity):
        findings.append(account_findings.no_response())
    return Configuration(
        tuple(findings), _groups(current), account, identity[0] if identity else None, bool(identity)
    )


def _check_secrets() -> Iterator[Finding]:
    fix = "Set it with `make secrets`, or in the environment when running locally"
    if not _has_secret("SECRET_KEY"):
        why = "nothing can be signed or verified without it"
        yield error("SECRET_KEY is missing or too short", why, fix)
    if not _has_secret("WEBHOOK_SECRET"):
        yield error("WEBHOOK_SECRET is missing or too short", "the feed webhook does not work", fix)


def _has_secret(name: str) -> bool:
    try:
        return bool(settings.secret(name))
    except Misconfigured:
        return False


def _is_set(name: str) -> str:
    return "set" if settings.provider_secret(name) else ""


# Groups of settings: the variable, its label, and where its value comes from.
_BOUNCES = {
    "keep": "stay subscribed until an editor acts",
    "pause": "are paused after a permanent bounce, or five temporary ones in a row",
    "remove": "are removed after a permanent bounce, or five temporary ones in a row",
}
_MEMBERS = {"off": "nobody", "invite": "people an editor invites", "open": "everybody"}
_GROUPS: dict[str, tuple[tuple[str, str, Callable[[Settings], object]], ...]] = {
    "Site": (("SITE_URL", "Address", lambda current: current.site_url),),
    "Mail": (
        ("FROM_EMAIL", "Sender", lambda current: current.from_email),
        ("ADMIN_EMAIL", "Admin notices go to", lambda current: current.admin_email),
        ("CONFIGURATION_SET", "Configuration set", lambda current: current.configuration_set),
        ("BOUNCES", "People whose email bounces", lambda current: _BOUNCES[current.bounces]),
        ("WAVE_WAIT", "Between waves of imported people", lambda current: f"{current.wave_wait} minutes"),
        ("MAILS_PER_HOUR", "Confirmation emails per hour, at most", lambda current: current.mails_per_hour),
    ),
    "Feed": (
        ("FEED_URL", "Address", lambda current: current.feed_url),
        ("FEED_EVERY", "Checked", lambda current: f"every {current.feed_every} minutes"),
        ("FEED_FLOOD", "More new entries than this become a draft", lambda current: current.feed_flood),
    ),
    "Authentication": (
        ("CF_ACCESS_TEAM_NAME", "Cloudflare team", lambda current: current.access_team),
        ("CF_ACCESS_AUD", "Application audience", lambda current: "set" if current.access_aud else ""),
        ("CF_ACCESS_SERVICE_TOKENS", "Service tokens allowed", lambda current: current.access_service_tokens),
        ("DISABLE_AUTH", "Authentication is off", lambda current: current.disable_auth),
    ),
    "Readers": (
        ("ALLOWED_ORIGINS", "Sites that may embed the form", lambda current: ", ".join(current.allowed_origins)),
        ("SAFE_LINKS", "Confirm before acting on links", lambda current: current.safe_links),
        ("KEEP_IP_HASH", "Keep a hash of the IP address", lambda current: current.keep_ip_hash),
        ("REMEMBER_LEAVERS", "Keep imports from bringing leavers back", lambda current: current.remember_leavers),
        ("BEHIND_CLOUDFLARE", "Readers come through Cloudflare", lambda current: current.behind_cloudflare),
    ),
    "Members": (("MEMBERS", "Who may have an account", lambda current: _MEMBERS[current.members]),),
    "Following": (
        ("YOUTUBE_API_KEY", "YouTube key", lambda _: _is_set("YOUTUBE_API_KEY")),
        ("YOUTUBE_CLIENT_ID", "YouTube app for connections", lambda current: current.youtube_client_id),
        ("YOUTUBE_CLIENT_SECRET", "Secret of that app", lambda _: _is_set("YOUTUBE_CLIENT_SECRET")),
        ("SPOTIFY_CLIENT_ID", "Spotify app for connections", lambda current: current.spotify_client_id),
        ("SPOTIFY_MARKET", "Country for Spotify", lambda current: current.spotify_market),
        ("TOKEN_KEYS", "Keys for tokens", lambda _: _is_set("TOKEN_KEYS")),
        ("INBOX_DAYS", "Entries leave the inbox after", lambda current: f"{current.inbox_days} days"),
    ),
    "Infrastructure": (
        ("MEDIA_BUCKET", "Bucket for pictures", lambda current: current.media_bucket),
        ("DOWNLOADS_BUCKET", "Bucket for large exports", lambda current: current.downloads_bucket),
        ("EVENT_BUS", "EventBridge bus", lambda current: current.event_bus),
        ("SECRET_KEY", "Signing key", lambda _: "set" if _has_secret("SECRET_KEY") else ""),
        ("WEBHOOK_SECRET", "Feed webhook secret", lambda _: "set" if _has_secret("WEBHOOK_SECRET") else ""),
    ),
}


def _groups(current: Settings) -> tuple[Group, ...]:
    return tuple(
        Group(title, tuple((variable, label, _show(read(current))) for variable, label, read in rows))
        for title, rows in _GROUPS.items()
    )


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value) or NOT_SET
