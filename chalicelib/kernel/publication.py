"""The publication as its readers see it: its name, colours, language and words, and what becomes of its feed.

The settings of the environment are the defaults. What is infrastructure (keys, domains, origins) is in `settings`.
"""

from msgspec import Struct, field

from chalicelib.kernel import settings

OFF = "off"


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
    """`logo` is the URL of a picture, or empty. `version` grows with every change; 0 is the environment as it is."""

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


def current() -> Publication:
    return from_settings(settings.current())


def from_settings(values: settings.Settings) -> Publication:
    """As the environment describes it."""
    return Publication(
        name=values.site_name,
        tagline="",
        logo="",
        colours=Colours(values.site_color),
        language=values.site_lang,
        time_zone="UTC",
        postal_address=values.postal_address,
        contact_email=values.contact_email,
        archive=values.archive,
        footer="",
        design="plain",
        feed=Feed(
            mode=values.feed_mode,
            digest=values.feed_digest,
            digest_at=values.feed_digest_at,
            hold=values.feed_hold,
            images=values.feed_images,
        ),
    )
