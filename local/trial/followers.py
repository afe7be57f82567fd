"""The desk and some members who follow channels of the small providers while things are published there. They pause,
resume, sync, sort and dismiss; what was published on the steady channels has to arrive all the same."""

import base64
import contextlib
import hashlib
import json
import random
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from local.options import PREFIX
from local.providers import credentials
from local.trial import truth
from local.trial.client import Caller, Log
from local.trial.sources import RESTLESS, STEADY, Sources
from local.trial.stack import Stack

Row = dict[str, Any]

DESK = "desk"
_MEMBERS = 3
_PASSWORD = "Analytical-1"
_VERIFIER = "v" * 43
CALM = {"publish": 3, "sort": 1}
BUSY = {"publish": 6, "sort": 3, "pause": 1, "sync": 1, "waver": 1, "delete": 1}
# A worker that was killed is waited for no longer than that.
_LEASE_SECONDS = 15


@dataclass
class Owner:
    """`follows` are the ids of their follows by channel."""

    id: str
    prefix: str
    caller: Caller
    headers: dict[str, str] = field(default_factory=dict)
    follows: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, _, text = self.caller.ask("following", method, f"{self.prefix}/{path}", body, **self.headers)
        try:
            return status, json.loads(text or "{}")
        except ValueError:
            return status, {}


class Followers:
    """`acts` are what they do, and how often each beside the others."""

    def __init__(self, stack: Stack, log: Log, seed: int, acts: dict[str, int]) -> None:
        self._stack, self._log, self._chance, self._acts = stack, log, random.Random(seed), acts
        self.sources = Sources(stack.options.providers_url)
        self.owners: list[Owner] = []
        self.published: dict[str, str] = {}  # where, by id
        self._wavering: list[str] = []

    def begin(self) -> None:
        """Before anything breaks."""
        self.owners = [Owner(DESK, "/admin/api", Caller(self._stack.options.port, self._log))]
        self.owners += [self._join(number) for number in range(_MEMBERS)]
        _connect(self.owners[0], self.sources, self._stack.options.url)
        for owner in self.owners:
            for where in (*STEADY, RESTLESS):
                if where.startswith("UC") or owner.id == DESK:
                    self._follow(owner, where)

    def go_on(self, ended: threading.Event) -> None:
        while not ended.is_set():
            [act] = self._chance.choices(list(self._acts), list(self._acts.values()))
            getattr(self, f"_{act}")()
            ended.wait(self._chance.uniform(0.2, 1.5))

    def pass_time(self, ended: threading.Event) -> None:
        """Hours pass for whatever is polled, again and again."""
        from botocore.exceptions import BotoCoreError

        while not ended.wait(2):
            with contextlib.suppress(BotoCoreError):  # the emulator is frozen or being restarted
                self.hasten()

    def hasten(self) -> None:
        """As if it was time to poll every creator, and the time of those was over who died with one."""
        dynamodb, now = self._stack.aws("dynamodb"), datetime.now(UTC)
        young = _text(now + timedelta(minutes=4) - timedelta(seconds=_LEASE_SECONDS))
        for row in truth.rows(dynamodb, "creators"):
            if row["part"] == "creator" and row.get("due") != "UNFOLLOWED" and row.get("leased_until", "") < young:
                dynamodb.update_item(
                    TableName=f"{PREFIX}-creators",
                    Key={"id": {"S": row["id"]}, "part": {"S": "creator"}},
                    UpdateExpression="SET next_poll_at = :now REMOVE leased_until",
                    ConditionExpression="attribute_exists(id)",
                    ExpressionAttributeValues={":now": {"S": _text(now)}},
                )

    def sync_all(self) -> None:
        """The desk asks for everything at once: what it follows, everybody follows."""
        for id in self.owners[0].follows.values():
            self.owners[0].ask("POST", f"follows/{id}/sync")

    def settle(self) -> None:
        """What was paused goes on, as it was meant to."""
        paused = [row for row in truth.rows(self._stack.aws("dynamodb"), "follows") if row.get("status") == "PAUSED"]
        owners = {owner.id: owner for owner in self.owners}
        for row in paused:
            owners[row["owner"]].ask("POST", f"follows/{row['part'].removeprefix('follow ')}/resume")

    def missing(self) -> list[str]:
        """What was published and has not arrived yet."""
        dynamodb = self._stack.aws("dynamodb")
        items, entries = (list(truth.rows(dynamodb, table)) for table in ("items", "inbox"))
        return find_missing(items, entries, self.published, self.owners)

    # Acts

    def _publish(self) -> None:
        where = self._chance.choice((*STEADY, RESTLESS))
        id = self.sources.publish(where, f"Number {len(self.published)}")
        if id and where == RESTLESS:
            self._wavering.append(id)
        elif id:
            self.published[id] = where

    def _sort(self) -> None:
        """Whatever is done with an entry, it was received."""
        owner = self._chance.choice(self.owners)
        entries = owner.ask("GET", "inbox")[1].get("items", [])
        for entry in entries[: self._chance.randint(0, 3)]:
            method, end = self._chance.choice((("POST", "/bookmark"), ("POST", "/archive"), ("DELETE", "")))
            owner.ask(method, f"inbox/{entry['id']}{end}")

    def _pause(self) -> None:
        owner = self._chance.choice(self.owners)
        id = owner.follows[self._chance.choice(STEADY[:2])]
        owner.ask("POST", f"follows/{id}/pause")
        time.sleep(self._chance.uniform(0, 2))
        owner.ask("POST", f"follows/{id}/resume")

    def _sync(self) -> None:
        owner = self._chance.choice(self.owners)
        owner.ask("POST", f"follows/{self._chance.choice(list(owner.follows.values()))}/sync")

    def _waver(self) -> None:
        """Cease to follow, and begin again."""
        owner = self._chance.choice(self.owners)
        owner.ask("DELETE", f"follows/{owner.follows[RESTLESS]}")
        owner.ask("POST", "follows", _channel(RESTLESS))

    def _delete(self) -> None:
        if self._wavering:
            self.sources.delete(self._wavering.pop(0))

    def _join(self, number: int) -> Owner:
        caller = Caller(self._stack.options.port, self._log)
        body = {
            "email": f"follower{number}@members.example.net",
            "password": _PASSWORD,
            "password_confirm": _PASSWORD,
        }
        status, _, text = caller.ask("sign-up", "POST", "/api/auth/signup", body, Origin=self._stack.options.url)
        if status != 201:
            raise RuntimeError(f"a member could not join: {status} {text}")
        member_id = str(json.loads(text)["id"])
        headers = {"Cookie": caller.cookie, "Origin": self._stack.options.url}
        return Owner(str(uuid.UUID(member_id)), "/api", caller, headers)

    def _follow(self, owner: Owner, where: str) -> None:
        status, follow = owner.ask("POST", "follows", _channel(where))
        if status != 201:
            raise RuntimeError(f"{where} could not be followed: {status} {follow}")
        owner.follows[where] = follow["id"]


def find_missing(items: list[Row], entries: list[Row], published: dict[str, str], owners: list[Owner]) -> list[str]:
    """An entry's row is there from the moment it was received, whatever became of it."""
    ids = {row["provider_item_id"]: row["id"] for row in items}
    received = {(row["owner"], row["item_id"]) for row in entries}
    return [
        f"{id} of {where} has not come to {owner.id}"
        for id, where in published.items()
        for owner in owners
        if where in owner.follows and (owner.id, ids.get(id)) not in received
    ]


def _connect(desk: Owner, sources: Sources, site: str) -> None:
    """The desk's account at the small Spotify."""
    state, given = str(uuid.uuid4()), {"provider": "SPOTIFY"}
    desk.ask("POST", "connections/state", given | {"state": state})
    challenge = base64.urlsafe_b64encode(hashlib.sha256(_VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {
        "client_id": credentials.SPOTIFY["SPOTIFY_CLIENT_ID"],
        "redirect_uri": f"{site}/admin/following/callback",
        "response_type": "code",
        "scope": "user-library-read",
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    code = sources.consent("/spotify/authorize", asked)
    body = given | {"state": state, "code": code, "code_verifier": _VERIFIER}
    status, answer = desk.ask("POST", "connections/callback", body)
    if status != 200:
        raise RuntimeError(f"Spotify could not be connected: {status} {answer}")


def _channel(where: str) -> dict[str, str]:
    return {"provider": "YOUTUBE" if where.startswith("UC") else "SPOTIFY", "provider_channel_id": where}


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
