"""What a provider does for us. YouTube, Spotify and feeds are one module each, with one instance of a class that has
these functions; `registry` lists them, and one test tries them all.

A provider talks HTTP through `kernel/http/client` and knows nothing of owners, follows or tables. Nothing it was
answered is trusted: texts are plain and bounded, links are http(s), and a field of the wrong type counts as missing.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from chalicelib.feeds.reading.reader import Validators
from chalicelib.inbox.model import ContentType, Provider

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 1_000

# What a call takes from the day's quota. `searches` are counted apart from `units`.
UNITS, SEARCHES = "units", "searches"


def _spend_nothing(bucket: str, cost: int) -> None:
    return


class Access(Struct, frozen=True):
    """What calls are made with: the token of somebody's connection, or the deployment's own key. `spend` is called
    before every request that costs quota, and raises `QuotaExceeded` when none is left."""

    token: str = ""
    key: str = ""
    spend: Callable[[str, int], None] = _spend_nothing


class Channel(Struct, frozen=True):
    """What a provider tells about a channel, a show or a feed. `channel_id` of a feed is its URL."""

    channel_id: str
    name: str
    description: str = ""
    image_url: str = ""
    external_url: str = ""
    handle: str = ""
    total_items: int | None = None
    subscriber_count: int | None = None


class Reference(Struct, frozen=True):
    """What a URL names: `kind` is `id`, or a word of the provider's own for what it has to look up first."""

    provider: Provider
    kind: str
    value: str


class Found(Struct, frozen=True):
    """One item, public and published. `id` is the provider's own; a feed's is unique within that feed. It has its own
    page unless the URL is that of others, too. `told_at` is where a feed was read, which may tell of pages of any
    site."""

    id: str
    title: str
    url: str
    content_type: ContentType
    published_at: datetime | None = None
    excerpt: str = ""
    image: str = ""
    duration_seconds: int | None = None
    is_short: bool = False
    has_own_page: bool = True
    told_at: str = ""


def unique(found: Iterable[Found]) -> tuple[Found, ...]:
    """Each item once; of two with one id, the first."""
    items: dict[str, Found] = {}
    for one in found:
        items.setdefault(one.id, one)
    return tuple(items.values())


class Known(Struct, frozen=True):
    """What is known of a channel from before. `url` is where a feed has moved to for good, if it has."""

    channel_id: str
    url: str = ""
    validators: Validators = Validators()


class Page(Struct, frozen=True):
    """The latest items, in any order, without those that are private, upcoming or deleted. `has_older`: there are
    older ones than these. `channel` is there if the same answer told about the channel too. `hub` and `topic` are
    what push is subscribed with. An `unchanged` page has no items: they are the same as before."""

    items: tuple[Found, ...] = ()
    has_older: bool = False
    total_items: int | None = None
    channel: Channel | None = None
    url: str = ""
    validators: Validators = Validators()
    hub: str = ""
    topic: str = ""
    unchanged: bool = False


class Tokens(Struct, frozen=True):
    """`refresh_token` is empty where the provider sent none: then the one before is still the one to use."""

    access_token: str
    expires_in: int
    refresh_token: str = ""
    scopes: tuple[str, ...] = ()
    # Seconds until the consent itself ends, if the provider says so or is known to end it.
    consent_ends_in: int | None = None


class ProviderFailed(Exception):
    """`reason` is a sentence of ours for a person; it quotes nothing the provider sent.

    ProviderFailed
    ├── Down            no answer, a broken one, or an error of the provider's own: it may work later
    ├── Throttled       too many requests; `retry_after` seconds
    ├── QuotaExceeded   nothing is left of today's quota
    ├── Unauthorised    the token is not accepted (401)
    ├── Forbidden       refused for another reason: a key that may not, an API that is not switched on, a private list
    ├── GrantRefused    the provider's token endpoint refused a code or a refresh token (`invalid_grant` and others)
    └── Unknown         no such channel, show or feed
    """

    def __init__(self, reason: str, retry_after: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class Down(ProviderFailed):
    pass


class Throttled(ProviderFailed):
    pass


class QuotaExceeded(ProviderFailed):
    def __init__(self, reason: str, bucket: str = UNITS, retry_after: int = 0) -> None:
        super().__init__(reason, retry_after)
        self.bucket = bucket


class Unauthorised(ProviderFailed):
    pass


class Forbidden(ProviderFailed):
    pass


class GrantRefused(ProviderFailed):
    """`code` is the `error` of RFC 6749, one of its few words, or `other`."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.code = code


class Unknown(ProviderFailed):
    pass


class Source(Protocol):
    """A provider. Every call that reaches out may raise `ProviderFailed`."""

    provider: Provider
    # How many creators are polled a second, at most.
    polls_per_second: int
    # Whether every creator has a server and a hub of its own, which anybody may run: pushes and news are limited.
    is_anybodys: bool

    def check_id(self, text: str) -> str:
        """The id of a channel, in its one form; `Invalid` if it cannot be one."""

    def recognise(self, url: str) -> Reference | None:
        """What the URL names, if it is one of this provider's. Without a request."""

    def resolve(self, reference: Reference, access: Access) -> Channel:
        """The channel; `Unknown` if there is none."""

    def latest(self, known: Known, access: Access) -> Page:
        """The newest page of items."""

    def complete(
        self, known: Known, found: Sequence[Found], access: Access, tell_shorts: bool = False
    ) -> tuple[Found, ...]:
        """New ones, with what a page of the provider does not tell: how long they are, and whether they are shorts if
        `tell_shorts`. Those that turn out not to be published yet are left out."""

    def refresh(self, item_ids: Sequence[str], access: Access) -> dict[str, Found]:
        """At most 50 items as they are now. What is missing has been deleted or made private."""

    def mine(self, access: Access) -> list[Channel]:
        """What the person of this token follows there."""

    def search(self, words: str, limit: int, access: Access) -> list[Channel]:
        """Channels by name."""


class Grants(Protocol):
    """A provider that people connect their account with (OAuth 2 with PKCE)."""

    provider: Provider
    scopes: tuple[str, ...]

    def is_configured(self) -> bool:
        """Whether accounts can be connected at all."""

    def authorize_url(self) -> str:
        """Where the browser is sent; the page's script adds its own parameters."""

    def authorize_parameters(self) -> dict[str, str]:
        """Those that are always the same: client id, scope, and what this provider wants besides."""

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """`GrantRefused` if the provider does not accept the code."""

    def renew(self, refresh_token: str) -> Tokens:
        """`GrantRefused` with `invalid_grant` if the person has withdrawn their consent, or it has ended."""

    def revoke(self, token: str) -> None:
        """Tell the provider that the token is no longer wanted, where it can be told."""

    def account_id(self, access: Access) -> str:
        """The provider's id of whoever gave consent; empty if it does not tell."""
