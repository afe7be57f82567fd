"""Whoever writes: makes campaigns, sends, schedules, cancels and retries them, publishes posts, and remembers what
was answered."""

import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from local.trial.client import Caller, Log

_CAMPAIGNS = "/admin/api/campaigns"


@dataclass
class Letter:
    """`told` is what the last answer promised: draft, sent, scheduled, cancelled, deleted; empty if one got lost."""

    subject: str
    id: str = ""
    told: str = ""


class Editor:
    def __init__(self, port: int, log: Log, seed: int) -> None:
        self._admins = [Caller(port, log), Caller(port, log)]
        self._chance = random.Random(seed)
        self.letters: list[Letter] = []
        self.posts: list[str] = []

    def work(self, ended: threading.Event) -> None:
        plans = (self._send, self._send_twice, self._schedule, self._schedule_and_cancel, self._publish, self._retry)
        deck: list[Any] = []
        while not ended.is_set():
            if not deck:
                deck = self._chance.sample(plans, len(plans))
            deck.pop()()
            ended.wait(self._chance.uniform(0.5, 3))

    def retry_all(self) -> int:
        """Whatever may be tried again; how many that were."""
        listed = self._ask("GET", f"{_CAMPAIGNS}?state=published&per_page=100")[1].get("items", [])
        failed = [one["id"] for one in listed if one["delivery"]["state"] == "failed"]
        for id in failed:
            for delivery in self._ask("GET", f"{_CAMPAIGNS}/{id}")[1].get("deliveries", []):
                self._ask("POST", f"{_CAMPAIGNS}/{id}/deliveries/{delivery['id']}/retry")
        return len(failed)

    def _send(self) -> None:
        letter = self._compose()
        self._tell(letter, "send", "sent")

    def _send_twice(self) -> None:
        """Two admins press the button at the same moment."""
        letter = self._compose()
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda _: self._tell(letter, "send", "sent"), range(2)))

    def _schedule(self) -> None:
        letter = self._compose()
        at = datetime.now(UTC) + timedelta(seconds=self._chance.uniform(2, 6))
        self._tell(letter, "schedule", "scheduled", {"scheduled_at": at.isoformat()})

    def _schedule_and_cancel(self) -> None:
        letter = self._compose()
        at = datetime.now(UTC) + timedelta(seconds=self._chance.uniform(2, 6))
        if self._tell(letter, "schedule", "scheduled", {"scheduled_at": at.isoformat()}):
            time.sleep(self._chance.uniform(0, 5))
            self._tell(letter, "cancel", "cancelled")

    def _publish(self) -> None:
        title = f"Post {len(self.posts)} zqpost"
        form = urlencode({"title": title, "text": "Words."})
        status, place, _ = self._admins[0].ask("publish", "POST", "/demo/publish", form)
        if status == 303 and "published" in place:
            self.posts.append(title)

    def _retry(self) -> None:
        self.retry_all()

    def _compose(self) -> Letter:
        letter = Letter(f"Trial {len(self.letters)}")
        self.letters.append(letter)
        status, made = self._ask(
            "POST", _CAMPAIGNS, {"subject": letter.subject, "body": "<p>Hello {{nickname|you}}.</p>"}
        )
        if status == 201:
            letter.id, letter.told = made["id"], "draft"
        return letter

    def _tell(self, letter: Letter, deed: str, told: str, body: Any = None) -> bool:
        if not letter.id:
            return False
        status, _ = self._ask("POST", f"{_CAMPAIGNS}/{letter.id}/{deed}", body)
        if status == 200:
            letter.told = told
        elif status != 409:
            letter.told = ""
        return status == 200

    def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        status, _, text = self._chance.choice(self._admins).ask("campaign", method, path, body)
        try:
            return status, dict(json.loads(text or "{}"))
        except ValueError:
            return status, {}
