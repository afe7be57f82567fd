"""What there is to follow: what somebody follows at the provider already, and what a search finds there."""

from msgspec import Struct, to_builtins

from chalicelib.following import access, service
from chalicelib.following.model import CONNECTED
from chalicelib.following.providers.contract import Channel
from chalicelib.following.providers.registry import SOURCES
from chalicelib.following.stores import counters
from chalicelib.inbox.model import Provider
from chalicelib.kernel import limits
from chalicelib.kernel.errors import NotFound

_HOUR = 3600
# Each may take a page of the provider's for every fifty channels.
_LISTS_PER_HOUR = 20
_SEARCHES_PER_HOUR = 60


class Candidate(Struct, frozen=True):
    channel: Channel
    is_followed: bool


def list_mine(owner: str, provider: Provider) -> list[Candidate]:
    """What the owner follows there, by name. `Conflict` without a connection."""
    _require(provider)
    limits.spend("discover", owner, _LISTS_PER_HOUR, _HOUR)
    source = SOURCES[provider]
    found = access.call_as(provider, owner, source.mine, needs_token=True)
    return _candidates(owner, provider, sorted(found, key=lambda channel: channel.name.casefold()))


def search(owner: str, provider: Provider, words: str, limit: int) -> list[Candidate]:
    """As the provider orders them. The same search is answered from memory for a day."""
    _require(provider)
    access.require(owner, provider)
    known = counters.find_search(provider, words, limit)
    if known is not None:
        return _candidates(owner, provider, [Channel(**channel) for channel in known])
    limits.spend("search", owner, _SEARCHES_PER_HOUR, _HOUR)
    source = SOURCES[provider]
    found = access.call_as(provider, owner, lambda access: source.search(words, limit, access))
    counters.keep_search(provider, words, limit, [to_builtins(channel) for channel in found])
    return _candidates(owner, provider, found)


def _candidates(owner: str, provider: Provider, found: list[Channel]) -> list[Candidate]:
    followed = service.list_channel_ids(owner, provider)
    return [Candidate(channel, channel.channel_id in followed) for channel in found]


def _require(provider: Provider) -> None:
    if provider not in CONNECTED:
        raise NotFound("There is no directory of feeds: follow one by its link")
