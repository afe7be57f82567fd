"""What there is before anybody publishes: five channels and three shows around "The Slow Garden"."""

import base64
import hashlib
from datetime import UTC, datetime

from local.providers.model import Channel, Episode, Show, Video, day

_DAY = 86_400
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FOUNDED = datetime(2019, 3, 2, 8, tzinfo=UTC).timestamp()


def channel_id(name: str) -> str:
    return "UC" + _base64(name, 16)


def video_id(name: str) -> str:
    return _base64(name, 8)


def spotify_id(name: str) -> str:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])
    digits = []
    for _ in range(22):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))


def _base64(name: str, size: int) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()[:size]).decode().rstrip("=")


def _channel(title: str, handle: str, subscribers: int, description: str, listed: bool = True) -> Channel:
    return Channel(channel_id(handle), title, handle, description, _FOUNDED, subscribers, listed)


CHANNELS = (
    _channel("Allotment No. 9", "@allotmentno9", 48_200, "Ten metres by thirty, clay, and a shed that leans."),
    _channel("The Hedge Birds", "@hedgebirds", 12_650, "One hedge, one feeder, one microphone."),
    _channel("Mend & Keep", "@mendandkeep", 231_000, "Tools, chairs & kettles that were not thrown away."),
    _channel("Compost Hour", "@composthour", 3_480, "Rot, explained."),
    _channel("Moss & Stone", "@mossandstone", 97, "Nothing has been uploaded yet. Moss takes its time."),
)
ACCOUNT = _channel("Juno Marsh", "@junomarsh", 3, "", listed=False)
SUBSCRIBED = tuple(channel.id for channel in CHANNELS[:3])

SHOWS = (
    Show(spotify_id("slow soil"), "Slow Soil", "Two gardeners, one spade, and no hurry. Every other Sunday."),
    Show(spotify_id("dawn chorus"), "Dawn Chorus", "A minute of birdsong for each day of spring.", oldest_first=True),
    Show(spotify_id("the tool shed"), "The Tool Shed", "What is on the bench this month, and how it came apart."),
)
SAVED = tuple(show.id for show in SHOWS[:2])
USER_ID, USER_NAME = "junomarsh", "Juno Marsh"

# Oldest first: title, days ago, seconds, and whether it is a short.
_VIDEOS: dict[str, tuple[tuple[str, int, int, bool], ...]] = {
    "@allotmentno9": (
        ("Double digging, and why I stopped", 64, 912, False),
        ("Leeks in February", 43, 655, False),
        ("One minute of rain on the shed", 30, 58, True),
        ("What the frost left standing", 22, 780, False),
        ("A bench from two planks", 9, 1_204, False),
        ("Sowing broad beans too early", 2, 538, False),
    ),
    "@hedgebirds": (
        ("A wren that does not know it is small", 51, 402, False),
        ("The sparrows are back", 16, 366, False),
        ("Goldfinch, close", 12, 31, True),
        ("Who is eating the buds?", 5, 721, False),
    ),
    "@mendandkeep": (
        ("A new handle for an old spade", 80, 1_530, False),
        ("The kettle that tripped the fuse", 37, 1_145, False),
        ("Glue & patience: a kitchen chair", 19, 1_810, False),
        ("Sharpening a hoe in four minutes", 3, 247, False),
    ),
    "@composthour": (
        ("Hot heap, cold heap", 100, 2_400, False),
        ("Leaf mould <and other gold>", 33, 1_275, False),
    ),
}
_EPISODES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "Slow Soil": (
        ("The worm count", 57, 2_580),
        ("No dig, some dig", 43, 2_911),
        ("A letter from a clay garden", 29, 2_204),
        ("Green manure", 15, 2_733),
        ("What we would not plant again", 1, 3_012),
    ),
    "The Tool Shed": (
        ("Secateurs", 95, 1_480),
        ("The wheelbarrow", 66, 1_655),
        ("Linseed oil", 36, 1_390),
        ("A lathe in the rain", 6, 1_720),
    ),
}
_BIRDS = ("Robin", "Blackbird", "Wren", "Dunnock", "Great tit", "Song thrush", "Chaffinch", "Blackcap", "Chiffchaff")
_SPRING = 62  # more than one page of the API


def first_videos(now: float) -> list[Video]:
    videos = [
        _video(len(_VIDEOS[channel.handle]), place, channel, words, now)
        for channel in CHANNELS
        for place, words in enumerate(_VIDEOS.get(channel.handle, ()))
    ]
    return [*videos, _unfinished(now)]


def _video(count: int, place: int, channel: Channel, words: tuple[str, int, int, bool], now: float) -> Video:
    title, days, seconds, short = words
    at = now - days * _DAY - 3_600 * (count - place)
    about = f"{title}. Filmed slowly.\n\nMore from {channel.title}: {channel.description}"
    return Video(video_id(title), channel.id, title, about, seconds, short, "public", place, at, at, at)


def _unfinished(now: float) -> Video:
    """Real playlists have private entries; one that has none would let a caller forget them."""
    channel, at = CHANNELS[0], now - _DAY
    title = "Rough cut: do not publish"
    return Video(video_id(title), channel.id, title, "", 601, False, "private", 90, at, at, at)


def first_episodes(now: float) -> list[Episode]:
    found = []
    for show in SHOWS:
        for place, (name, days, seconds) in enumerate(_EPISODES.get(show.name, _spring())):
            about = f"{name}. {show.description}"
            released = day(now - days * _DAY)
            found.append(
                Episode(spotify_id(f"{show.name} {name}"), show.id, name, about, seconds, released, False, place)
            )
    return found


def _spring() -> list[tuple[str, int, int]]:
    return [
        (f"Day {number}: {_BIRDS[number % len(_BIRDS)]}", _SPRING + 2 - number, 60 + number % 7)
        for number in range(1, _SPRING + 1)
    ]
