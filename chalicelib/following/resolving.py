"""From what somebody gives (an id, a link) to the channel, show or feed it names."""

from chalicelib.following import access, model
from chalicelib.following.model import Creator
from chalicelib.following.providers.contract import Channel, Reference
from chalicelib.following.providers.registry import SOURCES, recognise
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock


def check_id(provider: Provider, channel_id: str) -> str:
    """In its one form; `Invalid` if it cannot be an id of that provider's."""
    return SOURCES[provider].check_id(channel_id)


def resolve_channel(owner: str, provider: Provider, channel_id: str) -> Channel:
    return _resolve(owner, Reference(provider, "id", channel_id))


def resolve_url(owner: str, url: str) -> tuple[Provider, Channel]:
    """`Invalid` for what is no web address, `NotFound` for one that names nothing to follow."""
    reference = recognise(url)
    return reference.provider, _resolve(owner, reference)


def new_creator(provider: Provider, channel: Channel) -> Creator:
    now = clock.now()
    return Creator(
        id=model.creator_id(provider, channel.channel_id),
        provider=provider,
        channel_id=channel.channel_id,
        name=channel.name or channel.channel_id[:200],
        description=channel.description,
        image_url=channel.image_url,
        external_url=channel.external_url,
        handle=channel.handle,
        total_items=channel.total_items,
        created_at=now,
        refreshed_at=now,
        updated_at=now,
        next_poll_at=now,
    )


def _resolve(owner: str, reference: Reference) -> Channel:
    source = SOURCES[reference.provider]
    return access.call_as(reference.provider, owner, lambda access: source.resolve(reference, access))
