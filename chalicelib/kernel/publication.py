"""The publication as its readers see it: its name, colours, language and words, and what becomes of its feed.

The settings of the environment are the defaults, and what editors have changed wins. The room that keeps the changes
is registered by name, because the kernel knows no room. Infrastructure (keys, domains, origins) is in `settings`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from importlib import import_module
from typing import Literal, Protocol, get_args

from msgspec import Struct, field

from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Unavailable

OFF = "off"
# How campaigns look. The first is the default, and how they looked when there was no other.
Design = Literal["plain", "letter", "magazine"]
DESIGNS: tuple[str, ...] = get_args(Design)
# Readers see a change within a minute: half of it here, the rest in browsers and caches.
_LIFE = timedelta(seconds=30)
# A database that does not answer is not asked again by every line of a page.
_REST = timedelta(seconds=5)


class Colours(Struct, frozen=True):
    accent: str


class Confirmation(Struct, frozen=True):
    """The publication's own words around a confirmation; an empty one means the usual words."""

    sentence: str = ""
    button: str = ""
    afterwards: str = ""


class Welcome(Struct, frozen=True):
    """The mail that is sent once, after somebody has confirmed."""

    on: bool = False
    subject: str = ""
    body: str = ""
    link_last: bool = False


class Feed(Struct, frozen=True):
    """What becomes of new posts. `digest_at` is a time such as 09:00 or mon 09:00, or empty for the usual one; `hold`
    is in minutes."""

    mode: str
    digest: str = OFF
    digest_at: str = ""
    hold: int = 0
    images: str = "copy"


class Publication(Struct, frozen=True):
    """`logo` is the URL of a picture, or empty; it is shown as wide and high as `logo_width` and `logo_height` say.
    `version` grows with every change, the last of which was at `changed_at`; 0 is the environment as it is."""

    name: str
    tagline: str
    logo: str
    colours: Colours
    language: str
    time_zone: str
    postal_address: str
    contact_email: str
    archive: bool
    footer: str
    design: str
    feed: Feed
    confirmation: Confirmation = field(default_factory=Confirmation)
    welcome: Welcome = field(default_factory=Welcome)
    version: int = 0
    changed_at: datetime | None = None
    logo_width: int = 0
    logo_height: int = 0


class Store(Protocol):
    def overlay(self, defaults: Publication) -> Publication:
        """The publication with what editors have changed. One read."""


class _Kept(Struct, frozen=True):
    """What was read under these settings; None if that failed and nothing was known."""

    publication: Publication | None
    under: settings.Settings
    until: datetime


_store: str = ""
_kept: _Kept | None = None
_as_if: ContextVar[Publication | None] = ContextVar("as_if", default=None)


def register(module: str) -> None:
    """`module` is a name below `chalicelib`, of a `Store`. It is imported when the publication is first asked for."""
    global _store
    _store = module


def current() -> Publication:
    """As it was at most half a minute ago. While it cannot be read, as it was last known. `Unavailable` if this
    process never read it: a mail must not go out under another name."""
    if (shown := _as_if.get()) is not None:
        return shown
    if not _store:
        return from_settings(settings.current())
    kept = _known()
    if kept is None or kept.until <= clock.now():
        kept = _keep(kept)
    if kept.publication is None:
        raise Unavailable
    return kept.publication


def at_hand() -> Publication:
    """For pages, which are better shown with the default name than not at all: never raises `Unavailable`."""
    try:
        return current()
    except Unavailable:
        return from_settings(settings.current())


@contextmanager
def as_if(shown: Publication) -> Iterator[None]:
    """What is made within it is made for this publication: a preview of changes, or a campaign whose sending began
    before the last one."""
    token = _as_if.set(shown)
    try:
        yield
    finally:
        _as_if.reset(token)


def forget() -> None:
    """After a change: this process reads it again."""
    global _kept
    _kept = None


def _known() -> _Kept | None:
    return _kept if _kept and _kept.under is settings.current() else None


def _keep(before: _Kept | None) -> _Kept:
    global _kept
    under = settings.current()
    try:
        store: Store = import_module(f"chalicelib.{_store}")
        _kept = kept = _Kept(store.overlay(from_settings(under)), under, clock.now() + _LIFE)
    except Unavailable:
        last = before.publication if before else None
        _kept = kept = _Kept(last, under, clock.now() + _REST)
    return kept


def from_settings(values: settings.Settings) -> Publication:
    """As the environment describes it."""
    return Publication(
        name=values.site_name,
        tagline="",
        logo="",
        colours=Colours(values.site_color),
        language=values.site_lang,
        time_zone=values.site_zone,
        postal_address=values.postal_address,
        contact_email=values.contact_email,
        archive=values.archive,
        footer="",
        design=DESIGNS[0],
        feed=Feed(
            mode=values.feed_mode,
            digest=values.feed_digest,
            digest_at=values.feed_digest_at,
            hold=values.feed_hold,
            images=values.feed_images,
        ),
    )
