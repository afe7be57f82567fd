"""An owner's inbox through its JSON."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from chalicelib.inbox.model import Item, State
from tests.fixtures.client import Answer
from tests.rooms.inbox.things import FOLLOW, NOON, receive

Ask = Callable[..., Answer]


class Box:
    def __init__(self, owner: str, prefix: str, ask: Ask) -> None:
        self.owner, self.prefix, self.ask = owner, f"{prefix}/inbox", ask

    def receive(
        self, *items: Item, follow_id: str = FOLLOW, state: State = State.INBOX, at: datetime = NOON
    ) -> list[str]:
        return receive(self.owner, *items, follow_id=follow_id, state=state, at=at)

    def get(self, query: str = "") -> Answer:
        return self.ask("GET", f"{self.prefix}{query}")

    def entries(self, query: str = "") -> list[dict[str, Any]]:
        answer = self.get(query)
        assert answer.status == 200, answer.text
        found: list[dict[str, Any]] = answer.json["items"]
        return found

    def ids(self, query: str = "") -> list[str]:
        return [entry["id"] for entry in self.entries(query)]

    def pages(self, query: str) -> list[list[str]]:
        """The ids on every page of a list."""
        found: list[list[str]] = []
        cursor = ""
        while True:
            answer = self.get(f"?{query}{cursor}")
            assert answer.status == 200, answer.text
            assert answer.json["has_more"] is (answer.json["next_cursor"] is not None)
            found.append([entry["id"] for entry in answer.json["items"]])
            if not answer.json["has_more"]:
                return found
            cursor = f"&cursor={answer.json['next_cursor']}"

    def act(self, id: str, act: str) -> Answer:
        return self.ask("POST", f"{self.prefix}/{id}/{act}")

    def write(self, id: str, body: Any) -> Answer:
        return self.ask("PATCH", f"{self.prefix}/{id}", json=body)

    def dismiss(self, id: str) -> Answer:
        return self.ask("DELETE", f"{self.prefix}/{id}")

    def clip(self, url: Any, **fields: Any) -> Answer:
        return self.ask("POST", self.prefix, json={"url": url, **fields})

    def paste(self, text: Any) -> Answer:
        return self.ask("POST", f"{self.prefix}/lines", json={"text": text})

    def suggest(self, id: str, **fields: Any) -> Answer:
        return self.ask("POST", f"{self.prefix}/{id}/suggest", json=fields)

    def bulk(self, body: Any) -> Answer:
        return self.ask("POST", f"{self.prefix}/bulk", json=body)
