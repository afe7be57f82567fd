"""An editor who composes, sends, schedules, cancels and retries campaigns, publishes posts, and remembers the
answers."""

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
class TrialCampaign:
    """`promise` is what the last answer promised: draft, sent, scheduled, cancelled; empty if an answer was lost."""

    subject: str
    id: str = ""
    promise: str = ""


class Editor:
    def __init__(self, port: int, log: Log, seed: int) -> None:
        self._admins = [Caller(port, log), Caller(port, log)]
        self._chance = random.Random(seed)
        self.campaigns: list[TrialCampaign] = []
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
        """Retry every failed delivery; return how many campaigns that were."""
        listed = self._ask("GET", f"{_CAMPAIGNS}?state=published&per_page=100")[1].get("items", [])
        failed = [campaign["id"] for campaign in listed if campaign["delivery"]["state"] == "failed"]
        for id in failed:
            for delivery in self._ask("GET", f"{_CAMPAIGNS}/{id}")[1].get("deliveries", []):
                self._ask("POST", f"{_CAMPAIGNS}/{id}/deliveries/{delivery['id']}/retry")
        return len(failed)

    def _send(self) -> None:
        campaign = self._compose()
        self._act(campaign, "send", "sent")

    def _send_twice(self) -> None:
        """Two editors press the button at the same moment."""
        campaign = self._compose()
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda _: self._act(campaign, "send", "sent"), range(2)))

    def _schedule(self) -> None:
        campaign = self._compose()
        at = datetime.now(UTC) + timedelta(seconds=self._chance.uniform(2, 6))
        self._act(campaign, "schedule", "scheduled", {"scheduled_at": at.isoformat()})

    def _schedule_and_cancel(self) -> None:
        campaign = self._compose()
        at = datetime.now(UTC) + timedelta(seconds=self._chance.uniform(2, 6))
        if self._act(campaign, "schedule", "scheduled", {"scheduled_at": at.isoformat()}):
            time.sleep(self._chance.uniform(0, 5))
            self._act(campaign, "cancel", "cancelled")

    def _publish(self) -> None:
        title = f"Post {len(self.posts)} zqpost"
        form = urlencode({"title": title, "text": "Words."})
        status, place, _ = self._admins[0].ask("publish", "POST", "/demo/publish", form)
        if status == 303 and "published" in place:
            self.posts.append(title)

    def _retry(self) -> None:
        self.retry_all()

    def _compose(self) -> TrialCampaign:
        campaign = TrialCampaign(f"Trial {len(self.campaigns)}")
        self.campaigns.append(campaign)
        status, made = self._ask(
            "POST", _CAMPAIGNS, {"subject": campaign.subject, "body": "<p>Hello {{nickname|you}}.</p>"}
        )
        if status == 201:
            campaign.id, campaign.promise = made["id"], "draft"
        return campaign

    def _act(self, campaign: TrialCampaign, action: str, promise: str, body: Any = None) -> bool:
        if not campaign.id:
            return False
        status, _ = self._ask("POST", f"{_CAMPAIGNS}/{campaign.id}/{action}", body)
        if status == 200:
            campaign.promise = promise
        elif status != 409:
            campaign.promise = ""
        return status == 200

    def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        status, _, text = self._chance.choice(self._admins).ask("campaign", method, path, body)
        try:
            return status, dict(json.loads(text or "{}"))
        except ValueError:
            return status, {}
