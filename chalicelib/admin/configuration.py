"""What is set up and what is not, as the settings page shows it. Of a secret only whether there is one."""

from collections.abc import Iterator

from msgspec import Struct

from chalicelib.admin import diagnostics, fallbacks
from chalicelib.admin.diagnostics import Finding
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.settings import Settings
from chalicelib.mail import account as mail_account
from chalicelib.mail.account import Account, Identity

_NONE = "not set"


class Group(Struct, frozen=True):
    title: str
    facts: tuple[tuple[str, str, str], ...]


class Configuration(Struct, frozen=True):
    findings: tuple[Finding, ...]
    groups: tuple[Group, ...]
    account: Account | None
    identity: Identity | None


def gather() -> Configuration:
    current = settings.current()
    account, identity = fallbacks.or_none(mail_account.account), fallbacks.or_none(mail_account.identity)
    findings = [
        *_secrets_missing(),
        *diagnostics.check(current),
        *(_of_sending(account, identity) if account else ()),
    ]
    findings.sort(key=lambda finding: not finding.serious)
    return Configuration(tuple(findings), _groups(current), account, identity)


def _of_sending(account: Account, identity: Identity | None) -> Iterator[Finding]:
    """In the words of `make doctor`, as far as the app itself may ask SES."""
    yield from diagnostics.check_sending(account.in_sandbox, account.sending_enabled, account.standing)
    if not identity or not identity.verified:
        what = f"{identity.name} is not verified" if identity else "The sender identity was not found in SES"
        yield diagnostics.error(what, "no email can be sent", "Create the identity in SES and add its records to DNS")
    elif not identity.dkim:
        what = f"DKIM is not set up for {identity.name}"
        yield diagnostics.error(what, "large providers reject unsigned email", "Add the three CNAMEs from SES to DNS")


def _secrets_missing() -> list[Finding]:
    fix = "Set it with `make secrets`, or in the environment when running locally"
    return [
        diagnostics.error(f"{name} is missing or too short", why, fix)
        for name, why in (
            ("SECRET_KEY", "nothing can be signed or verified without it"),
            ("WEBHOOK_SECRET", "the feed webhook does not work"),
        )
        if not _has_secret(name)
    ]


def _has_secret(name: str) -> bool:
    try:
        return bool(settings.secret(name))
    except Misconfigured:
        return False


def _groups(current: Settings) -> tuple[Group, ...]:
    """Title, then name of the setting, what it is for, and its value."""
    return (
        Group(
            "Site",
            (
                ("SITE_NAME", "Name", current.site_name),
                ("SITE_URL", "Address", current.site_url),
                ("SITE_COLOR", "Colour", current.site_color),
                ("SITE_LANG", "Language", current.site_lang),
                ("ARCHIVE", "Public archive", _flag(current.archive)),
            ),
        ),
        Group(
            "Mail",
            (
                ("FROM_EMAIL", "Sender", current.from_email or _NONE),
                ("CONTACT_EMAIL", "Reply-to address", current.contact_email or _NONE),
                ("ADMIN_EMAIL", "Admin notices go to", current.admin_email or _NONE),
                ("POSTAL_ADDRESS", "Postal address", current.postal_address or _NONE),
                ("CONFIGURATION_SET", "Configuration set", current.configuration_set or _NONE),
                ("MAILS_PER_HOUR", "Confirmation emails per hour, at most", f"{current.mails_per_hour:,}"),
            ),
        ),
        Group(
            "Feed",
            (
                ("FEED_URL", "Address", current.feed_url or _NONE),
                ("FEED_MODE", "When new posts appear", _MODES[current.feed_mode]),
                ("FEED_EVERY", "Checked", f"every {current.feed_every} minutes"),
                ("FEED_FLOOD", "More new entries than this become a draft", str(current.feed_flood)),
            ),
        ),
        Group(
            "Authentication",
            (
                ("CF_ACCESS_TEAM_NAME", "Cloudflare team", current.access_team or _NONE),
                ("CF_ACCESS_AUD", "Application audience", "set" if current.access_aud else _NONE),
                ("CF_ACCESS_SERVICE_TOKENS", "Service tokens allowed", _flag(current.access_service_tokens)),
                ("DISABLE_AUTH", "Authentication is off", _flag(current.disable_auth)),
            ),
        ),
        Group(
            "Readers",
            (
                ("ALLOWED_ORIGINS", "Sites that may embed the form", ", ".join(current.allowed_origins) or _NONE),
                ("SAFE_LINKS", "Confirm before acting on links", _flag(current.safe_links)),
                ("KEEP_IP_HASH", "Keep a hash of the IP address", _flag(current.keep_ip_hash)),
                ("BEHIND_CLOUDFLARE", "Readers come through Cloudflare", _flag(current.behind_cloudflare)),
            ),
        ),
        Group(
            "Infrastructure",
            (
                ("DOWNLOADS_BUCKET", "Bucket for large exports", current.downloads_bucket or _NONE),
                ("EVENT_BUS", "EventBridge bus", current.event_bus or _NONE),
                ("SECRET_KEY", "Signing key", "set" if _has_secret("SECRET_KEY") else _NONE),
                ("WEBHOOK_SECRET", "Feed webhook secret", "set" if _has_secret("WEBHOOK_SECRET") else _NONE),
            ),
        ),
    )


_MODES = {"auto": "send a campaign immediately", "review": "create a draft to review"}


def _flag(value: bool) -> str:
    return "yes" if value else "no"
