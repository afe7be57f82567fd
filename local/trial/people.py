"""People who sign up, confirm, change their name and leave, and remember what they were told."""

import random
import re
import threading
from dataclasses import dataclass

from local.ses import Client as Mailbox
from local.trial.client import Caller, Log

_LINK = re.compile(r"https?://127\.0\.0\.1:\d+(/(?:confirm|profile|api/unsubscribe)\?\S+)")


@dataclass
class Person:
    """`told` is the last answer that was a promise: accepted, confirmed, left. `unsure`: an answer got lost."""

    email: str
    nickname: str
    caller: Caller
    told: str = ""
    unsure: bool = False
    busy: bool = False


class People:
    def __init__(self, port: int, mailbox: Mailbox, log: Log, seed: int) -> None:
        self._port, self._mailbox, self._log = port, mailbox, log
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self.everybody: list[Person] = []

    def newcomer(self) -> Person:
        with self._lock:
            number = len(self.everybody)
            person = Person(f"person{number}@trial.example.net", f"Nick{number}zq", Caller(self._port, self._log))
            person.busy = True
            self.everybody.append(person)
        return person

    def somebody(self, told: str) -> Person | None:
        """Taken until `release`: one person does one thing at a time."""
        with self._lock:
            found = [person for person in self.everybody if person.told == told and not person.busy]
            if not found:
                return None
            person = self._chance.choice(found[:50])
            person.busy = True
            return person

    def release(self, person: Person) -> None:
        person.busy = False

    def sign_up(self, person: Person) -> None:
        status, _, _ = person.caller.ask(
            "subscribe", "POST", "/api/subscribe", {"email": person.email, "nickname": person.nickname}
        )
        if status == 201:
            person.told = person.told or "accepted"
        else:
            person.unsure = True

    def confirm(self, person: Person) -> None:
        link = self._link(person, "/confirm")
        if not link:
            return
        status, place, _ = person.caller.ask("confirm", "GET", link)
        if status == 303 and place.endswith("/confirmed"):
            person.told = "confirmed"
        elif status not in (400,):
            person.unsure = True

    def ask_link(self, person: Person) -> None:
        person.caller.ask("request-link", "POST", "/api/profile/request-link", {"email": person.email})

    def leave(self, person: Person, token: str) -> None:
        """With the one click of a mail program. Who is told so has left for good, also if it took a second try."""
        if not token:
            return
        status, _, _ = person.caller.ask("unsubscribe", "POST", f"/api/unsubscribe?token={token}")
        if status == 200:
            person.told = "left"
        else:
            person.unsure = True

    def _link(self, person: Person, wanted: str) -> str:
        """The newest mailed link of this kind."""
        for mail in self._mailbox.mails(to=person.email, limit=10):
            for found in _LINK.findall(mail["text"]):
                if found.startswith(wanted):
                    return str(found)
        return ""
