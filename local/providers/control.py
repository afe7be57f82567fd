"""What tests and scripts set and ask over HTTP, as JSON under `/control`."""

import json
from collections import Counter
from typing import Any

from local.gateway.gateway import Answer
from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.library import Library, Unknown
from local.providers.state import NAMES, State
from local.providers.wire import Call, json_answer
from local.providers.youtube.hub import Hub


class Control:
    def __init__(self, state: State, library: Library, hub: Hub) -> None:
        self._state, self._library, self._hub = state, library, hub

    def handle(self, call: Call) -> Answer:
        try:
            orders = json.loads(call.body or b"{}")
            if not isinstance(orders, dict):
                raise ValueError("not a JSON object")
            return json_answer(self._do(call.method, call.path.removeprefix("/control/"), orders))
        except Unknown as failure:
            return json_answer({"error": str(failure)}, 404)
        except (ValueError, TypeError, KeyError) as failure:
            return json_answer({"error": f"{type(failure).__name__}: {failure}"}, 400)

    def _do(self, method: str, what: str, orders: dict[str, Any]) -> Any:
        match method, what:
            case "GET", "calls":
                return count_calls(self._state)
            case "GET", "faults":
                return {name: faults.state() for name, faults in self._state.faults.items()}
            case "GET", "catalogue":
                return self._catalogue()
            case "GET", "hub":
                return {"subscriptions": len(self._state.leases), "pushes": list(self._hub.pushes)}
            case "POST", "publish":
                return {"id": publish(self._library, **orders)}
            case "POST", "change":
                return {"id": self._library.change_video(**orders).id}
            case "POST", "delete":
                return delete(self._library, **orders)
            case "POST", "faults":
                return set_fault(self._state, **orders)
            case "POST", "advance":
                self._state.shift += float(orders["seconds"])
                return {}
            case "POST", "reset":
                self._hub.forget()
                return self._state.reset()
        raise Unknown("nothing here")

    def _catalogue(self) -> Any:
        channels = [
            {"id": each.id, "title": each.title, "videos": [video.id for video in self._library.uploads(each.id)]}
            for each in CHANNELS
        ]
        shows = [
            {"id": each.id, "name": each.name, "episodes": [found.id for found in self._library.episodes(each.id)]}
            for each in SHOWS
        ]
        return {"channels": channels, "shows": shows}


def publish(library: Library, where: str, title: str, kind: str = "normal", **more: Any) -> str:
    """A video on a channel, by its id or handle, or an episode of a show."""
    if where in {show.id for show in SHOWS}:
        return library.publish_episode(where, title, kind, **more).id
    return library.publish_video(where, title, kind, **more).id


def delete(library: Library, id: str, leave_entry: bool = False) -> None:
    try:
        library.delete_video(id, leave_entry)
    except Unknown:
        library.delete_episode(id)


def set_fault(state: State, provider: str, **orders: Any) -> dict[str, Any]:
    if provider not in NAMES:
        raise Unknown("no such provider")
    with state.change():
        state.faults[provider].tell(orders)
    return state.faults[provider].state()


def count_calls(state: State) -> dict[str, Any]:
    """How often each path was called, and what that took of YouTube's quota: units, and searches apart from them."""
    with state.lock:
        calls = Counter(state.calls)
    paths: dict[str, dict[str, int]] = {name: {} for name in NAMES}
    for (provider, path), count in sorted(calls.items()):
        paths[provider][path] = count
    data = {path: count for path, count in paths["youtube"].items() if "/youtube/v3/" in path}
    searches = data.pop("GET /youtube/v3/search", 0)
    return {**paths, "units": sum(data.values()), "searches": searches}
