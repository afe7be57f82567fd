"""The only module that reads the environment. Every setting is a field here, with its rule."""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.kernel.errors import Misconfigured

_SECRETS = ("SECRET_KEY", "WEBHOOK_SECRET")
# Apart from the others, because most functions may not read them.
_PROVIDER_SECRETS = ("TOKEN_KEYS", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY")
_TEAM = re.compile(r"[A-Za-z0-9_-]{0,63}\Z")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
# An origin is repeated in headers, where a space or a semicolon would have a meaning.
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+\Z")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\Z")
_DIGEST_AT = re.compile(r"(?:(?:(?:mon|tue|wed|thu|fri|sat|sun) )?(?:[01][0-9]|2[0-3]):[0-5][0-9])?\Z")
# Only its form: knowing all zones would cost every cold start; `make doctor` says if there is none of this name.
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}\Z")
_MARKET = re.compile(r"[A-Z]{2}\Z")


class Settings(Struct, frozen=True):
    prefix: str
    site_name: str
    site_url: str
    site_color: str
    site_lang: str
    site_zone: str
    allowed_origins: tuple[str, ...]
    from_email: str
    contact_email: str
    admin_email: str
    postal_address: str
    feed_url: str
    feed_mode: str
    feed_flood: int
    feed_every: int
    feed_digest: str
    feed_digest_at: str
    feed_hold: int
    feed_images: str
    safe_links: bool
    behind_cloudflare: bool
    keep_ip_hash: bool
    remember_leavers: bool
    archive: bool
    mails_per_hour: int
    wave_wait: int
    bounces: str
    members: str
    inbox_days: int
    youtube_client_id: str
    youtube_origin: str
    spotify_client_id: str
    spotify_market: str
    spotify_origin: str
    configuration_set: str
    validating_configuration_set: str
    event_bus: str
    downloads_bucket: str
    media_bucket: str
    access_team: str
    access_aud: str
    access_certs_url: str
    access_service_tokens: bool
    disable_auth: bool
    deployed: bool
    local: bool

    def url(self, path: str) -> str:
        return self.site_url + path


@lru_cache(maxsize=1)
def current() -> Settings:
    return load(os.environ)


def load(environ: Mapping[str, str]) -> Settings:
    """Read and check every setting."""
    read = _Reader(environ)
    site_url = read.url("SITE_URL", "http://127.0.0.1:8000")
    team = read.matching("CF_ACCESS_TEAM_NAME", "", _TEAM, "the team name alone, such as myteam")
    settings = Settings(
        prefix=read.text("GNA_PREFIX", "gna-dev"),
        site_name=read.text("SITE_NAME", urlsplit(site_url).hostname or "Gna", most=255),
        site_url=site_url,
        site_color=read.matching("SITE_COLOR", "#0f766e", _COLOUR, "a colour such as #0f766e"),
        site_lang=read.text("SITE_LANG", "en"),
        site_zone=read.matching("SITE_ZONE", "UTC", _ZONE, "a time zone such as Europe/Berlin"),
        allowed_origins=read.origins("ALLOWED_ORIGINS"),
        from_email=read.text("FROM_EMAIL"),
        contact_email=read.text("CONTACT_EMAIL") or read.text("FROM_EMAIL"),
        admin_email=read.text("ADMIN_EMAIL"),
        postal_address=read.text("POSTAL_ADDRESS"),
        feed_url=read.url("FEED_URL", ""),
        feed_mode=read.choice("FEED_MODE", ("auto", "review")),
        feed_flood=read.number("FEED_FLOOD", 10, 1, 1000),
        feed_every=read.number("FEED_EVERY", 60, 5, 1440),
        feed_digest=read.choice("FEED_DIGEST", ("off", "daily", "weekly")),
        feed_digest_at=read.matching("FEED_DIGEST_AT", "", _DIGEST_AT, "a time such as 09:00 or mon 09:00"),
        feed_hold=read.number("FEED_HOLD", 0, 0, 1440),
        feed_images=read.choice("FEED_IMAGES", ("copy", "link", "none")),
        safe_links=read.flag("SAFE_LINKS"),
        behind_cloudflare=read.flag("BEHIND_CLOUDFLARE"),
        keep_ip_hash=read.flag("KEEP_IP_HASH"),
        remember_leavers=read.flag("REMEMBER_LEAVERS"),
        archive=read.flag("ARCHIVE", default=True),
        mails_per_hour=read.number("MAILS_PER_HOUR", 500, 1, 1_000_000),
        wave_wait=read.number("WAVE_WAIT", 60, 1, 10_080),
        bounces=read.choice("BOUNCES", ("keep", "pause", "remove")),
        members=read.choice("MEMBERS", ("off", "invite", "open")),
        inbox_days=read.number("INBOX_DAYS", 60, 1, 3650),
        youtube_client_id=read.text("YOUTUBE_CLIENT_ID", most=255),
        youtube_origin=read.private_url("YOUTUBE_ORIGIN", "").rstrip("/"),
        spotify_client_id=read.text("SPOTIFY_CLIENT_ID", most=255),
        spotify_market=read.matching("SPOTIFY_MARKET", "US", _MARKET, "a country code such as DE"),
        spotify_origin=read.private_url("SPOTIFY_ORIGIN", "").rstrip("/"),
        configuration_set=read.text("CONFIGURATION_SET"),
        validating_configuration_set=read.text("VALIDATING_CONFIGURATION_SET"),
        event_bus=read.text("EVENT_BUS"),
        downloads_bucket=read.text("DOWNLOADS_BUCKET"),
        media_bucket=read.text("MEDIA_BUCKET"),
        access_team=team,
        access_aud=read.text("CF_ACCESS_AUD"),
        access_certs_url=read.private_url("CF_ACCESS_CERTS_URL", _certs_url(team)),
        access_service_tokens=read.flag("CF_ACCESS_SERVICE_TOKENS"),
        disable_auth=read.flag("DISABLE_AUTH"),
        deployed="AWS_LAMBDA_FUNCTION_NAME" in environ,
        local=read.flag("GNA_LOCAL"),
    )
    if settings.disable_auth and settings.deployed:
        raise Misconfigured("DISABLE_AUTH is set on a deployed function: remove it, or anyone could use /admin")
    return settings


def secret(name: str) -> bytes:
    """From the environment (local) or from SSM under SECRETS_PATH (deployed), read once per process."""
    value = _secrets()[name]
    if len(value) < 16:
        raise Misconfigured(f"{name} is missing or shorter than 16 characters: set it with `make secrets`")
    try:
        return value.encode()
    except UnicodeEncodeError:  # bytes in the environment that are not UTF-8
        raise Misconfigured(f"{name} is not valid UTF-8") from None


def provider_secret(name: str) -> str:
    """A secret that following YouTube or Spotify needs, from the same places; empty if it is not set."""
    return _provider_secrets()[name]


def forget_provider_secrets() -> None:
    """They are read once per process; a key that was added since is found by reading them again."""
    _provider_secrets.cache_clear()


@lru_cache(maxsize=1)
def _secrets() -> dict[str, str]:
    return _read_secrets(_SECRETS)


@lru_cache(maxsize=1)
def _provider_secrets() -> dict[str, str]:
    return _read_secrets(_PROVIDER_SECRETS)


def _read_secrets(names: tuple[str, ...]) -> dict[str, str]:
    found = {name: os.environ.get(name, "").strip() for name in names}
    path = os.environ.get("SECRETS_PATH", "")
    if not path or all(found.values()):
        return found
    from chalicelib.kernel.aws import session

    missing = [f"{path}/{name}" for name, value in found.items() if not value]
    answer = session.call("ssm", "get_parameters", Names=missing, WithDecryption=True)
    return found | {item["Name"].rsplit("/", 1)[1]: item["Value"].strip() for item in answer["Parameters"]}


def _certs_url(team: str) -> str:
    return f"https://{team}.cloudflareaccess.com/cdn-cgi/access/certs" if team else ""


class _Reader:
    """Turns text into values; an error names the variable that is not valid."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def text(self, name: str, default: str = "", most: int = 4000) -> str:
        value = self._environ.get(name, "").strip() or default
        if not value.isprintable():
            raise Misconfigured(f"{name} contains a control character")
        if len(value) > most:
            raise Misconfigured(f"{name} is longer than {most} characters")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.text(name).lower()
        if value not in ("", "true", "false"):
            raise Misconfigured(f"{name} must be true or false")
        return value == "true" if value else default

    def number(self, name: str, default: int, least: int, most: int) -> int:
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdigit() and len(value) < 19 and least <= int(value) <= most):
            raise Misconfigured(f"{name} must be a whole number from {least} to {most}")
        return int(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, choices[0])
        if value not in choices:
            raise Misconfigured(f"{name} must be one of: {', '.join(choices)}")
        return value

    def matching(self, name: str, default: str, pattern: re.Pattern[str], described: str) -> str:
        value = self.text(name, default)
        if not pattern.match(value):
            raise Misconfigured(f"{name} must be {described}")
        return value

    def url(self, name: str, default: str) -> str:
        value = self.text(name, default).rstrip("/") if name == "SITE_URL" else self.text(name, default)
        if value and not _is_http_url(value):
            raise Misconfigured(f"{name} must be an http(s) URL")
        return value

    def private_url(self, name: str, default: str) -> str:
        """Nobody in between may change the answer: https, except on this machine."""
        value = self.url(name, default)
        if value and urlsplit(value).scheme != "https" and urlsplit(value).hostname not in _LOOPBACK:
            raise Misconfigured(f"{name} must be an https URL")
        return value

    def origins(self, name: str) -> tuple[str, ...]:
        origins = tuple(part.strip().rstrip("/") for part in self.text(name).split(",") if part.strip())
        for origin in origins:
            if not _ORIGIN.match(origin) or not _is_http_url(origin):
                raise Misconfigured(f"{name} must list origins such as https://example.org, comma-separated")
        return origins


def _is_http_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
