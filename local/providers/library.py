"""What is published on the small providers, and what changes about it. Each change of a video is announced."""

from collections.abc import Callable
from dataclasses import replace

from local.providers import catalogue
from local.providers.catalogue import ACCOUNT, CHANNELS, SHOWS
from local.providers.model import EPISODE_KINDS, VIDEO_KINDS, Channel, Episode, Show, Video, day
from local.providers.state import State

_STATES = {
    "normal": "public",
    "short": "public",
    "upcoming": "premiere",
    "scheduled": "scheduled",
    "private": "private",
}
_LATER = 600.0
_DAY = 86_400


class Unknown(Exception):
    """There is no such channel, video, show, episode, or kind of them."""


class Library:
    def __init__(self, state: State, announce: Callable[[Video], None]) -> None:
        self._state, self._announce = state, announce

    # Videos

    def channel(self, name: str) -> Channel:
        """By its id or its handle."""
        for channel in (*CHANNELS, ACCOUNT):
            if name == channel.id or name.lower().lstrip("@") == channel.handle[1:]:
                return channel
        raise Unknown("no such channel")

    def uploads(self, channel_id: str) -> list[Video]:
        """The newest upload first, whatever their dates."""
        found = [video for video in self._state.videos.values() if video.channel_id == channel_id]
        return sorted(found, key=lambda video: -video.place)

    def video(self, video_id: str) -> Video:
        try:
            return self._state.videos[video_id]
        except KeyError:
            raise Unknown("no such video") from None

    def publish_video(
        self,
        channel: str,
        title: str,
        kind: str = "normal",
        *,
        description: str = "",
        at: float | None = None,
        seconds: int = 0,
    ) -> Video:
        """`at` is when it is public or starts; without it, that is now, or ten minutes from now where it is later."""
        if kind not in VIDEO_KINDS:
            raise Unknown("no such kind of video")
        owner, now = self.channel(channel), self._state.now()
        later = _LATER if kind in ("upcoming", "scheduled") else 0.0
        published = now + later if at is None else at
        with self._state.change():
            place = self._state.next_serial()
            video = Video(
                id=catalogue.video_id(f"{owner.id} {place} {title}"),
                channel_id=owner.id,
                title=title,
                description=description,
                seconds=seconds or (45 if kind == "short" else 613),
                short=kind == "short",
                state=_STATES[kind],
                place=place,
                uploaded=min(now, published),
                published=published,
                updated=now,
            )
            self._state.videos[video.id] = video
        self._announce(video)
        return video

    def change_video(self, video_id: str, *, title: str | None = None, public: bool | None = None) -> Video:
        """Rename it, show it, or make it private."""
        with self._state.change():
            video, now = self.video(video_id), self._state.now()
            if title is not None:
                video = replace(video, title=title)
            if public is not None and public != video.is_public:
                video = replace(video, state="public", published=now) if public else replace(video, state="private")
            video = self._state.videos[video_id] = replace(video, updated=now)
        self._announce(video)
        return video

    def delete_video(self, video_id: str, leave_entry: bool = False) -> None:
        """With `leave_entry` its playlist goes on naming it, as a deleted video."""
        with self._state.change():
            gone = replace(self.video(video_id), state="deleted", updated=self._state.now())
            if leave_entry:
                self._state.videos[video_id] = gone
            else:
                del self._state.videos[video_id]
        self._announce(gone)

    def settle(self) -> None:
        """Videos whose time has come become public."""
        with self._state.lock:
            now = self._state.now()
            waiting = [video for video in self._state.videos.values() if video.state in ("scheduled", "premiere")]
            due = [replace(video, state="public", updated=now) for video in waiting if video.published <= now]
            if not due:
                return
            with self._state.change():
                self._state.videos |= {video.id: video for video in due}
        for video in due:
            self._announce(video)

    # Episodes

    def show(self, show_id: str) -> Show:
        for show in SHOWS:
            if show.id == show_id:
                return show
        raise Unknown("no such show")

    def episodes(self, show_id: str) -> list[Episode]:
        """In the order of the show: most list the newest first."""
        found = [episode for episode in self._state.episodes.values() if episode.show_id == show_id]
        return sorted(found, key=lambda episode: episode.place, reverse=not self.show(show_id).oldest_first)

    def episode(self, episode_id: str) -> Episode:
        try:
            return self._state.episodes[episode_id]
        except KeyError:
            raise Unknown("no such episode") from None

    def publish_episode(
        self,
        show: str,
        name: str,
        kind: str = "normal",
        *,
        description: str = "",
        released: str = "",
        seconds: int = 0,
    ) -> Episode:
        """`released` is a day, a month or a year, for example 2026-11-20, 2026-11 or 2026."""
        if kind not in EPISODE_KINDS:
            raise Unknown("no such kind of episode")
        with self._state.change():
            place = self._state.next_serial()
            later = _DAY if kind == "upcoming" else 0
            episode = Episode(
                id=catalogue.spotify_id(f"{show} {place} {name}"),
                show_id=self.show(show).id,
                name=name,
                description=description,
                seconds=seconds or 1_805,
                released=released or day(self._state.now() + later),
                hidden=kind == "hidden",
                place=place,
            )
            self._state.episodes[episode.id] = episode
        return episode

    def delete_episode(self, episode_id: str) -> None:
        with self._state.change():
            self.episode(episode_id)
            del self._state.episodes[episode_id]
