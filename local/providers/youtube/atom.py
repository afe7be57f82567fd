"""Atom: the feed of a channel, and what the hub pushes about one video."""

from xml.sax.saxutils import escape, quoteattr

from local.providers.model import Channel, Video, instant

# What a subscription is about. The real hub pushes for this address only, not for that of the feed.
TOPIC = "https://www.youtube.com/xml/feeds/videos.xml?channel_id="
_HUB = "https://pubsubhubbub.appspot.com"
_NAMES = 'xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns="http://www.w3.org/2005/Atom"'
_MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/"'
_TOMBSTONES = 'xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns="http://www.w3.org/2005/Atom"'
_MOST = 15


def feed(channel: Channel, videos: list[Video], base: str) -> str:
    """The newest fifteen by date. It names no hub, as the real one does not."""
    shown = sorted((video for video in videos if video.is_public), key=lambda video: -video.public_since)
    entries = "".join(_entry(video, channel, _media(video, base)) for video in shown[:_MOST])
    place = f"https://www.youtube.com/channel/{channel.id}"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<feed {_NAMES} {_MEDIA}>'
        f'<link rel="self" href="http://www.youtube.com/feeds/videos.xml?channel_id={channel.id}"/>'
        f"<id>yt:channel:{channel.id[2:]}</id><yt:channelId>{channel.id[2:]}</yt:channelId>"
        f'<title>{escape(channel.title)}</title><link rel="alternate" href="{place}"/>'
        f"<author><name>{escape(channel.title)}</name><uri>{place}</uri></author>"
        f"<published>{_moment(channel.created)}</published>{entries}</feed>\n"
    )


def push(channel: Channel, video: Video) -> str:
    """New, renamed or public again: the same document for all."""
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<feed {_NAMES}>"
        f'<link rel="hub" href="{_HUB}"/><link rel="self" href="{TOPIC}{channel.id}"/>'
        f"<title>YouTube video feed</title><updated>{_moment(video.updated)}</updated>"
        f"{_entry(video, channel)}</feed>\n"
    )


def tombstone(channel: Channel, video: Video) -> str:
    """Deleted, or made private."""
    return (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<feed {_TOMBSTONES}>"
        f'<at:deleted-entry ref="yt:video:{video.id}" when="{_moment(video.updated)}">'
        f'<link href="https://www.youtube.com/watch?v={video.id}"/><at:by><name>{escape(channel.title)}</name>'
        f"<uri>https://www.youtube.com/channel/{channel.id}</uri></at:by></at:deleted-entry></feed>\n"
    )


def _entry(video: Video, channel: Channel, more: str = "") -> str:
    return (
        f"<entry><id>yt:video:{video.id}</id><yt:videoId>{video.id}</yt:videoId>"
        f"<yt:channelId>{channel.id}</yt:channelId><title>{escape(video.title)}</title>"
        f'<link rel="alternate" href="https://www.youtube.com/watch?v={video.id}"/>'
        f"<author><name>{escape(channel.title)}</name>"
        f"<uri>https://www.youtube.com/channel/{channel.id}</uri></author>"
        f"<published>{_moment(video.public_since)}</published><updated>{_moment(video.updated)}</updated>{more}</entry>"
    )


def _media(video: Video, base: str) -> str:
    picture = quoteattr(f"{base}/vi/{video.id}/480x360.png")
    return (
        f"<media:group><media:title>{escape(video.title)}</media:title>"
        f'<media:content url="https://www.youtube.com/v/{video.id}?version=3" type="application/x-shockwave-flash" '
        f'width="640" height="390"/><media:thumbnail url={picture} width="480" height="360"/>'
        f"<media:description>{escape(video.description)}</media:description></media:group>"
    )


def _moment(at: float) -> str:
    return instant(at).replace("Z", "+00:00")
