"""This room's things in the form in which they are answered."""

from datetime import datetime

from chalicelib.following import bodies, model
from chalicelib.following.discovery import Candidate
from chalicelib.following.model import Followed
from chalicelib.following.stores.connections import Connection
from chalicelib.following.stores.notifications import Notification
from chalicelib.kernel import clock


def connection_body(connection: Connection | None) -> bodies.ConnectionInfo | None:
    if connection is None:
        return None
    return bodies.ConnectionInfo(
        provider=connection.provider.value,  # type: ignore[arg-type]
        status=connection.status.value,
        connected_at=clock.milliseconds(connection.connected_at),
        last_refreshed_at=_optional(connection.last_refreshed_at),
        expires_at=clock.milliseconds(connection.token_expires_at),
        consent_ends_at=_optional(connection.consent_ends_at),
    )


def candidate_body(candidate: Candidate) -> bodies.Candidate:
    channel = candidate.channel
    return bodies.Candidate(
        provider_channel_id=channel.channel_id,
        name=channel.name,
        description=channel.description or None,
        image_url=channel.image_url or None,
        subscriber_count=channel.subscriber_count,
        is_subscribed=candidate.is_followed,
    )


def follow_body(followed: Followed) -> bodies.Follow:
    follow, creator = followed.follow, followed.creator
    options = follow.options
    return bodies.Follow(
        id=follow.id,
        provider=follow.provider.value,  # type: ignore[arg-type]
        provider_channel_id=follow.channel_id,
        creator_id=follow.creator_id,
        name=followed.name,
        description=(creator and creator.description) or None,
        image_url=(creator and creator.image_url) or None,
        external_url=(creator and creator.external_url) or None,
        total_items=creator.total_items if creator else None,
        last_published_at=_optional(creator.last_published_at) if creator else None,
        last_polled_at=_optional(creator.last_polled_at) if creator else None,
        poll_interval_seconds=creator.interval_seconds if creator else model.UNKNOWN_INTERVAL,
        status=follow.status.value,
        disconnected_at=_optional(follow.disconnected_at),
        disconnected_reason=follow.disconnected_reason,
        created_at=clock.milliseconds(follow.created_at),
        updated_at=clock.milliseconds(follow.updated_at),
        options=bodies.FollowOptions(options.action.value, options.newest_only, options.hide_shorts),
    )


def notification_body(told: Notification) -> bodies.Notification:
    return bodies.Notification(
        id=told.id,
        type=told.type,  # type: ignore[arg-type]
        provider=told.provider,  # type: ignore[arg-type]
        title=told.title,
        message=told.message,
        data=told.data,
        read_at=_optional(told.read_at),
        resolved_at=_optional(told.resolved_at),
        created_at=clock.milliseconds(told.created_at),
    )


def _optional(moment: datetime | None) -> int | None:
    return None if moment is None else clock.milliseconds(moment)
