"""People who sign up, confirm, change, leave and come back, and remember what they were promised."""

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from local.ses.main import Client as Mailbox
from local.trial.client import Caller, Log

_LINK = re.compile(r"https?://127\.0\.0\.1:\d+(/(?:confirm|profile|resume|api/unsubscribe)\?\S+)")
_SOURCES = ("blog", "Shop Window", "fair-2026", "podcast")


@dataclass
class Person:
    """`promise` is the last answer that was one: accepted, confirmed, left, never (written to again), lifted.
    `unsure`: an answer was lost since, or two things were done at once. `gone`: what must no longer be stored.
    `awaits_lift`: they asked for a link to undo *never email me*, and have not used it. `asked`: names they gave with
    sign-ups. One that waits to be confirmed keeps its own, whatever they are called meanwhile."""

    email: str
    nickname: str
    caller: Caller
    promise: str = ""
    unsure: bool = False
    busy: bool = False
    awaits_lift: bool = False
    wanted: str = ""
    id: str = ""
    given: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def note_promise(self, promise: str) -> None:
        if promise in LEFT:
            self.gone += [text for text in (self.nickname, self.wanted, *self.given) if len(text) > 1]
            self.nickname = self.wanted = ""
            self.given.clear()
        self.promise, self.unsure = promise, False

    def forget_name(self, *perhaps: str) -> None:
        """It may be one of these, or still what it was."""
        self.given += [name for name in (self.nickname, *perhaps) if len(name) > 1]
        self.nickname = "?"


LEFT = ("left", "never", "lifted")
Act = Callable[[Person], None]


class People:
    def __init__(self, port: int, mailbox: Mailbox, log: Log, seed: int, patience: float = 0) -> None:
        self._port, self._mailbox, self._log, self._patience = port, mailbox, log, patience
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self._names = 0
        self.everybody: list[Person] = []

    def newcomer(self) -> Person:
        with self._lock:
            number = len(self.everybody)
            person = Person(f"person{number}@trial.example.net", "", Caller(self._port, self._log), busy=True)
            self.everybody.append(person)
        return person

    def somebody(self, promise: str) -> Person | None:
        """Taken until `release`."""
        with self._lock:
            found = [person for person in self.everybody if person.promise == promise and not person.busy]
            if not found:
                return None
            person = self._chance.choice(found[:50])
            person.busy = True
            return person

    def release(self, person: Person) -> None:
        person.busy = False

    def at_once(self, person: Person, *acts: Act) -> None:
        """Two acts at the same time: nothing is promised, and everything must still be consistent."""
        gone = list(person.gone)
        threads = [threading.Thread(target=act, args=(person,)) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        person.given.append(person.wanted)
        person.promise, person.unsure, person.wanted, person.gone = "", True, "", gone
        person.forget_name()

    def sign_up(self, person: Person) -> None:
        """For the first time or again; sometimes with a source, tags and metadata."""
        asked: dict[str, object] = {"email": person.email}
        if not person.nickname:
            person.nickname = asked["nickname"] = self._name()
            person.asked.add(person.nickname)
        if self._chance.random() < 0.6:
            person.given.append(f"Given{self._number()}zq")
            asked |= {"source": self._chance.choice(_SOURCES), "tags": ["trial"], "metadata": {"a": person.given[-1]}}
        status, _, _ = person.caller.ask("subscribe", "POST", "/api/subscribe", asked)
        if status != 201:
            person.unsure = True
            person.forget_name()
            person.promise = "" if person.promise in LEFT else person.promise  # they may have come back, or not
        elif person.promise not in ("accepted", "confirmed"):
            person.note_promise("accepted")

    def confirm(self, person: Person) -> None:
        link = self._link(person.email, "/confirm")
        if not link:
            return
        status, place, _ = person.caller.ask("confirm", "GET", link)
        if status == 303 and "/confirmed" in place:
            person.note_promise("confirmed")
        elif status not in (400, 409):
            person.unsure = True

    def rename(self, person: Person) -> None:
        new = self._name()
        if self._update(person, nickname=new):
            person.gone += [name for name in (person.nickname,) if len(name) > 1 and name not in person.asked]
            person.nickname = new
        elif person.unsure:
            person.forget_name(new)

    def ask_change(self, person: Person) -> None:
        """Ask to change the address; now and then to one that others want as well."""
        number, shared = self._number(), self._chance.random() < 0.3
        new = f"shared{number % 5}@trial.example.net" if shared else f"changed{number}@trial.example.net"
        person.given.append(new)
        if self._update(person, email=new):
            person.wanted = new

    def confirm_change(self, person: Person) -> None:
        """With this person's own link: somebody else may want the same address."""
        link = self._newest(person.wanted, f"/confirm?token={person.id}.") if person.wanted else ""
        if not link:
            return
        status, place, _ = person.caller.ask("change", "GET", link)
        if status == 303 and "email_changed" in place:
            if not person.unsure:  # it may have changed before, and they signed up with the old one since
                person.gone.append(person.email)
            person.email, person.wanted = person.wanted, ""
            person.note_promise("confirmed")
        elif status not in (400, 409):
            person.unsure = True

    def leave(self, person: Person, token: str, *, one_click: bool) -> None:
        """A person who gets this answer has left for good, even if it took a second try."""
        if not token:
            return
        link = f"/api/unsubscribe?token={token}"
        if one_click:
            status, _, _ = person.caller.ask("one-click", "POST", link, "List-Unsubscribe=One-Click")
        else:
            status, _, _ = person.caller.ask("unsubscribe", "GET", link)
        self._note_departure(person, status == 200, "left")

    def never_again(self, person: Person) -> None:
        token = self._magic(person)
        if token:
            status, _, _ = person.caller.ask("never", "POST", "/profile/never", urlencode({"token": token}))
            if status not in (401, 303):
                self._note_departure(person, status == 200, "never")

    def lift(self, person: Person) -> None:
        form = urlencode({"email": person.email})
        person.awaits_lift = True
        person.caller.ask("request-lift", "POST", "/profile/request-resume", form)
        token = _token(self._link(person.email, "/resume"))
        if token:
            status, _, _ = person.caller.ask("lift", "POST", "/resume", urlencode({"token": token}))
            if status == 200:
                person.awaits_lift = False
                person.note_promise("lifted")

    def remove(self, person: Person, admin: Caller, subscriber_id: str) -> None:
        if subscriber_id:
            status, _, _ = admin.ask("remove", "DELETE", f"/admin/api/subscribers/{subscriber_id}")
            self._note_departure(person, status in (204, 202, 404), "left")

    def _note_departure(self, person: Person, gone: bool, promise: str) -> None:
        if gone:
            person.note_promise(promise)
        else:
            person.unsure = True

    def _update(self, person: Person, **fields: str) -> bool:
        token = self._magic(person)
        if not token:
            return False
        person.id = token.partition(".")[0]
        status, _, _ = person.caller.ask("profile", "POST", "/api/profile/update", {"token": token, **fields})
        if status not in (200, 400, 401, 409, 429):
            person.unsure = True
        return status == 200

    def _magic(self, person: Person) -> str:
        """The token of a link requested just now; an older one may be used up."""
        before = self._newest(person.email, "/profile?token=")
        person.caller.ask("request-link", "POST", "/api/profile/request-link", {"email": person.email})
        return _token(self._link(person.email, "/profile", before))

    def _link(self, email: str, wanted: str, before: str = "") -> str:
        """The newest mailed link of this kind, after waiting for it."""
        until = time.monotonic() + self._patience
        while (link := self._newest(email, f"{wanted}?token=")) in ("", before):
            if time.monotonic() >= until:
                return ""
            time.sleep(2)
        return link

    def _newest(self, email: str, wanted: str) -> str:
        try:
            mails = self._mailbox.mails(to=email, limit=6)
        except (OSError, ValueError):
            return ""  # the mailbox is frozen
        found = (str(link) for mail in mails for link in _LINK.findall(mail["text"]))
        return next((link for link in found if link.startswith(wanted)), "")

    def _name(self) -> str:
        return f"Nick{self._number()}zq"

    def _number(self) -> int:
        with self._lock:
            self._names += 1
            return self._names


def _token(link: str) -> str:
    return parse_qs(urlsplit(link).query).get("token", [""])[0]
