"""The options of `make run`: what the environment sets, and the defaults."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PREFIX = "gna-local"


class BadOption(Exception):
    """Its message names the option, and says what it must be."""


@dataclass(frozen=True)
class Options:
    port: int
    mail_port: int
    folder: Path
    tick: float | None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mail_url(self) -> str:
        return f"http://127.0.0.1:{self.mail_port}"


def read(environ: Mapping[str, str]) -> Options:
    options = Options(
        port=_port(environ, "PORT", 8000),
        mail_port=_port(environ, "MAIL_PORT", 8025),
        folder=Path(environ.get("LOCAL_DIR") or ".local").resolve(),
        tick=_tick(environ.get("LOCAL_TICK", "")),
    )
    if options.port == options.mail_port:
        raise BadOption(f"PORT and MAIL_PORT are both {options.port}: choose another number for one of them")
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
    }
    given = {name: value for name, value in environ.items() if not name.startswith("AWS_") and value}
    ports = {"PORT": str(options.port), "MAIL_PORT": str(options.mail_port)}
    return ours | given | ports | {"LOCAL_DIR": str(options.folder)}


def _secrets(folder: Path) -> dict[str, str]:
    """Made once and stored, so that links mailed before a restart work after it."""
    file = folder / "secrets.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = {name: secrets.token_urlsafe(32) for name in ("SECRET_KEY", "WEBHOOK_SECRET")}
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(made, stream)
    return {str(name): str(value) for name, value in json.loads(file.read_text()).items()}


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
