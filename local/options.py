"""The options of `make run`: what the environment sets, and the defaults."""

import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chalicelib.kernel import ciphers
from local.providers import credentials

PREFIX = "gna-local"

_SECRETS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(32),
    "WEBHOOK_SECRET": lambda: secrets.token_urlsafe(32),
    "TOKEN_KEYS": lambda: ciphers.make_key(1),
}
# Where a provider is, and what it knows the app by.
_PROVIDERS = {"YOUTUBE_ORIGIN": credentials.YOUTUBE, "SPOTIFY_ORIGIN": credentials.SPOTIFY}
# Set to nothing, these say that something is not configured; elsewhere, that the default is wanted.
_MAY_BE_EMPTY = {"TOKEN_KEYS", *_PROVIDERS, *credentials.YOUTUBE, *credentials.SPOTIFY}


class BadOption(Exception):
    """Its message names the option, and says what it must be."""


@dataclass(frozen=True)
class Options:
    """Without a port for the small YouTube and Spotify there are none."""

    port: int
    mail_port: int
    folder: Path
    tick: float | None
    providers_port: int | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mail_url(self) -> str:
        return f"http://127.0.0.1:{self.mail_port}"

    @property
    def providers_url(self) -> str:
        return f"http://127.0.0.1:{self.providers_port}"


def read(environ: Mapping[str, str]) -> Options:
    options = Options(
        port=_port(environ, "PORT", 8000),
        mail_port=_port(environ, "MAIL_PORT", 8025),
        folder=Path(environ.get("LOCAL_DIR") or ".local").resolve(),
        tick=_tick(environ.get("LOCAL_TICK", "")),
        providers_port=_port(environ, "PROVIDERS_PORT", 8026),
    )
    ports = {"PORT": options.port, "MAIL_PORT": options.mail_port, "PROVIDERS_PORT": options.providers_port}
    for number, count in Counter(ports.values()).items():
        if count > 1:
            names = " and ".join(name for name, port in ports.items() if port == number)
            raise BadOption(f"{names} are both {number}: choose another number for one of them")
    return options


def environment(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the app: our defaults, then the caller's values, without anything of a real AWS account."""
    ours = {
        "SITE_NAME": "The Slow Garden",
        "SITE_URL": options.url,
        "ALLOWED_ORIGINS": f"{options.url},http://localhost:{options.port}",
        "FEED_URL": f"{options.url}/demo/feed.xml",
        "FROM_EMAIL": "letters@garden.example.org",
        "CONTACT_EMAIL": "hello@garden.example.org",
        "ADMIN_EMAIL": "gardener@garden.example.org",
        "POSTAL_ADDRESS": "The Slow Garden, 1 Orchard Lane, Example",
        "DISABLE_AUTH": "true",
        "GNA_LOCAL": "true",
        "GNA_PREFIX": PREFIX,
        "DOWNLOADS_BUCKET": f"{PREFIX}-downloads-000000000000",
        "MEDIA_BUCKET": f"{PREFIX}-media-000000000000",
        "MEMBERS": "open",
        **_secrets(options.folder),
        **_providers(options, environ),
    }
    given = {name: value for name, value in environ.items() if not name.startswith("AWS_") and value}
    given |= {name: "" for name in _MAY_BE_EMPTY if environ.get(name) == ""}
    ports = {"PORT": str(options.port), "MAIL_PORT": str(options.mail_port)}
    if options.providers_port:
        ports["PROVIDERS_PORT"] = str(options.providers_port)
    return ours | given | ports | {"LOCAL_DIR": str(options.folder)}


def has_providers(options: Options, env: Mapping[str, str]) -> bool:
    """Whether the app is led to the small YouTube or the small Spotify."""
    return any(env.get(name, "").startswith(f"{options.providers_url}/") for name in _PROVIDERS)


def _providers(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The small YouTube and Spotify, each unless its origin or anything real of it is set: a real client id must not
    be sent to a small provider, nor the other way round."""
    if not options.providers_port:
        return {}
    found: dict[str, str] = {}
    for origin, known_by in _PROVIDERS.items():
        if origin not in environ and not any(environ.get(name) for name in known_by):
            found |= {origin: f"{options.providers_url}/{origin.partition('_')[0].lower()}", **known_by}
    return found


def _secrets(folder: Path) -> dict[str, str]:
    """Made once and stored, so that links mailed before a restart work after it."""
    file = folder / "secrets.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    missing = {name: make() for name, make in _SECRETS.items() if name not in kept}
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(kept | missing, stream)
        os.replace(part, file)
    return {str(name): str(value) for name, value in (kept | missing).items()}


def _port(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise BadOption(f"{name} must be a port number, for example {name}={default}")
    return int(text)


def _tick(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0.05 <= seconds <= 86_400:
        raise BadOption("LOCAL_TICK must be a number of seconds, for example LOCAL_TICK=5")
    return seconds
