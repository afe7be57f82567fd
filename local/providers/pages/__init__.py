"""The pages for people: what there is, forms to publish and to break things, and the style they share."""

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from local.gateway.gateway import Answer
from local.providers.catalogue import CHANNELS, SAVED, SHOWS, SUBSCRIBED
from local.providers.control import count_calls
from local.providers.faults import Faults
from local.providers.grants import Grants
from local.providers.library import Library, Unknown
from local.providers.model import EPISODE_KINDS, VIDEO_KINDS
from local.providers.state import State
from local.providers.wire import Call, redirect, text_answer
from local.providers.youtube.hub import Hub

_FOLDER = Path(__file__).parent
_LONGEST_TITLE = 100
# No form-action: a consent form ends on another address, and browsers count that as its action.
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
_OWN_PAGE = re.compile(r"/(?:youtube|spotify)(?:/@?\w+)*\Z")
_SWITCHES = ("outage", "revoked", "quota", "search_quota", "hub_down")


def html(template: str, status: int = 200, **values: Any) -> Answer:
    page = _environment().get_template(template).render(**values)
    return text_answer(page, "text/html; charset=utf-8", status, ("Content-Security-Policy", _POLICY))


class Pages:
    def __init__(self, state: State, library: Library, hub: Hub, grants: dict[str, Grants], app_url: str) -> None:
        self._state, self._library, self._hub, self._grants, self._app_url = state, library, hub, grants, app_url

    def handle(self, call: Call) -> Answer:
        try:
            if call.method == "POST":
                return self._act(call)
            return self._show(call)
        except (Unknown, ValueError):
            return text_answer("There is no such page.\n", "text/plain", 404)

    def _show(self, call: Call) -> Answer:
        match call.path.strip("/").split("/"):
            case [""]:
                return self._page(call, "index.html", "")
            case ["style.css"]:
                return text_answer((_FOLDER / "style.css").read_text(), "text/css; charset=utf-8")
            case ["youtube"]:
                return self._page(call, "youtube.html", "youtube", kinds=VIDEO_KINDS, mine=SUBSCRIBED)
            case ["youtube", "channel", name]:
                return self._channel(call, name)
            case ["youtube", "c", name]:
                return self._channel(call, f"@{name}")
            case ["youtube", name] if name.startswith("@"):
                return self._channel(call, name)
            case ["youtube", "watch"]:
                return self._channel(call, self._library.video(call.one("v")).channel_id)
            case ["spotify"]:
                return self._page(call, "spotify.html", "spotify", kinds=EPISODE_KINDS, mine=SAVED)
            case ["spotify", "show", name]:
                return self._show_of(call, name)
            case ["spotify", "episode", name]:
                return self._show_of(call, self._library.episode(name).show_id)
        raise Unknown("no such page")

    def _channel(self, call: Call, name: str) -> Answer:
        return self._page(call, "channel.html", "youtube", channel=self._library.channel(name), kinds=VIDEO_KINDS)

    def _show_of(self, call: Call, show_id: str) -> Answer:
        return self._page(call, "show.html", "spotify", show=self._library.show(show_id), kinds=EPISODE_KINDS)

    def _page(self, call: Call, name: str, provider: str, **values: Any) -> Answer:
        return html(
            name,
            provider=provider,
            channels=CHANNELS,
            shows=SHOWS,
            uploads=self._library.uploads,
            episodes=self._library.episodes,
            faults=self._state.faults,
            calls=count_calls(self._state),
            leases=self._state.leases,
            pushes=self._hub.pushes,
            connected={name: self._connected(name) for name in self._grants},
            app_url=self._app_url,
            done=call.one("done"),
            **values,
        )

    def _connected(self, provider: str) -> int:
        return sum(1 for grant in self._state.grants if grant.provider == provider and not grant.revoked)

    # What the forms do

    def _act(self, call: Call) -> Answer:
        acts: dict[str, Callable[[dict[str, str]], str]] = {
            "/youtube/manage/publish": self._publish_video,
            "/youtube/manage/visibility": self._change_visibility,
            "/youtube/manage/delete": self._delete_video,
            "/spotify/manage/publish": self._publish_episode,
            "/spotify/manage/delete": self._delete_episode,
        }
        provider, form = call.path[1:8], call.form
        if call.path == f"/{provider}/manage/faults" and provider in self._grants:
            done, back = self._set_faults(provider, form), f"/{provider}"
        elif call.path == f"/{provider}/manage/disconnect" and provider in self._grants:
            self._grants[provider].revoke_all()
            done, back = "Access has been withdrawn: every token is refused from now on.", f"/{provider}"
        elif call.path in acts:
            done, back = acts[call.path](form), _own_page(form.get("back", ""), provider)
        else:
            raise Unknown("no such form")
        return redirect(f"{back}?done={quote(done)}#done")

    def _publish_video(self, form: dict[str, str]) -> str:
        title = form.get("title", "").strip()[:_LONGEST_TITLE]
        if not title:
            return "Nothing was published: a video needs a title."
        at = _local_time(form.get("at", "")) if form.get("kind") in ("upcoming", "scheduled") else None
        self._library.publish_video(form.get("channel", ""), title, form.get("kind", ""), at=at)
        return f"Published: {title}"

    def _change_visibility(self, form: dict[str, str]) -> str:
        public = form.get("public") == "yes"
        video = self._library.change_video(form.get("id", ""), public=public)
        return f"Now {'public' if public else 'private'}: {video.title}"

    def _delete_video(self, form: dict[str, str]) -> str:
        self._library.delete_video(form.get("id", ""))
        return "The video has been deleted."

    def _publish_episode(self, form: dict[str, str]) -> str:
        name = form.get("title", "").strip()[:_LONGEST_TITLE]
        if not name:
            return "Nothing was published: an episode needs a title."
        released = form.get("released", "") if form.get("kind") == "upcoming" else ""
        if released:
            datetime.fromisoformat(released)
        self._library.publish_episode(form.get("show", ""), name, form.get("kind", ""), released=released)
        return f"Published: {name}"

    def _delete_episode(self, form: dict[str, str]) -> str:
        self._library.delete_episode(form.get("id", ""))
        return "The episode has been deleted."

    def _set_faults(self, provider: str, form: dict[str, str]) -> str:
        """The whole form: what is not ticked works again."""
        faults = {name: name in form for name in _SWITCHES}
        numbers = {name: int(form.get(name) or 0) for name in ("rate_limit", "slow")}
        with self._state.change():
            self._state.faults[provider].tell({"reset": True} if "reset" in form else faults | numbers)
        return "Everything works." if self._state.faults[provider] == Faults() else "The faults are set."


def _own_page(path: str, provider: str) -> str:
    """Back to where the form was, but nowhere else."""
    return path if _OWN_PAGE.match(path) else f"/{provider}"


def _local_time(text: str) -> float | None:
    """The minute on the clock of this machine."""
    return datetime.fromisoformat(text).astimezone().timestamp() if text else None


@lru_cache(maxsize=1)
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["date"] = lambda moment: datetime.fromtimestamp(moment).astimezone().strftime("%-d %B %Y")
    environment.filters["minute"] = lambda moment: (
        datetime.fromtimestamp(moment).astimezone().strftime("%-d %B, %H:%M")
    )
    environment.filters["duration"] = _duration
    environment.filters["count_of"] = lambda count, one: f"{count:,} {one}{'' if count == 1 else 's'}"
    return environment


def _duration(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"
