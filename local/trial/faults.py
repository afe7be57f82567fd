"""`make faults`: everything that can break is broken at random under load, the same way for the same FAULT_SEED; then
it is left alone to recover, and the result is checked."""

import os
import random
import shutil
import sys
import threading
from collections.abc import Callable

from local.options import PREFIX
from local.trial import arrivals, outcome, truth
from local.trial.breaking import Breaker, hurry
from local.trial.client import Caller, Log
from local.trial.editor import Editor
from local.trial.followers import BUSY, Followers
from local.trial.people import Act, People, Person
from local.trial.receiver import Receiver
from local.trial.recovery import on_queues, recover
from local.trial.stack import Stack, folder

SECONDS = float(os.environ.get("FAULT_SECONDS", "180"))
SEED = int(os.environ.get("FAULT_SEED", "7"))
AT_ONCE = 30
CROWD = 600
_PATIENCE = float(os.environ.get("FAULT_RECOVERY", "420"))
_SIMULATED = "simulator.amazonses.com"
BOUNCING = [f"bounce+{number}@{_SIMULATED}" for number in range(5)]
COMPLAINING = [f"complaint+{number}@{_SIMULATED}" for number in range(5)]


def main() -> int:
    place, receiver = folder(), Receiver()
    broken = ["the trial itself failed"]
    try:
        with Stack(place, through_proxy=True, MAILS_PER_HOUR="1000000", LOCAL_TICK="3", FEED_FLOOD="1000") as stack:
            os.environ.update(stack.env)
            broken = _trial(stack, receiver)
    finally:
        receiver.stop()
        if not broken:
            shutil.rmtree(place, ignore_errors=True)
    for line in broken[:30]:
        print(f"BROKEN: {line}")
    print(f"{len(broken)} broken: the logs are in {place}" if broken else "everything holds")
    return bool(broken)


def _trial(stack: Stack, receiver: Receiver) -> list[str]:
    log = Log()
    crowd = truth.crowd(stack, CROWD, *BOUNCING, *COMPLAINING)
    hurry(stack)
    Caller(stack.options.port, log).ask("webhook", "POST", "/admin/api/webhooks", {"url": receiver.url})
    people = People(stack.options.port, stack.mailbox, log, SEED, patience=25)
    editor = Editor(stack.options.port, log, SEED)
    followers = Followers(stack, log, SEED, BUSY)
    followers.begin()
    lives = [Life(people, stack, log, number).go_on for number in range(AT_ONCE)]
    load = [*lives, editor.work, followers.go_on, followers.pass_time]
    _break_under_load(Breaker(stack, receiver, SEED), load)
    print(log.table())
    queued = on_queues(stack)
    broken = recover(stack, receiver, editor, followers, _PATIENCE)
    found = truth.Truth(stack)
    broken += _answers(log) + [f"{name} ended by itself" for name in stack.ended] + found.broken(people.everybody)
    broken += [f"{person.email} is on a queue" for person in people.everybody if person.email in queued]
    broken += [f"{address} complained and is still here" for address in COMPLAINING if address in found.activated()]
    broken += arrivals.broken(stack, found, followers)
    return broken + outcome.broken(stack, found, editor, receiver, crowd)


def _break_under_load(breaker: Breaker, load: list[Callable[[threading.Event], None]]) -> None:
    ended = threading.Event()
    threads = [threading.Thread(target=work, args=(ended,)) for work in load]
    for thread in threads:
        thread.start()
    breaker.go_on(SECONDS)
    ended.set()
    for thread in threads:
        thread.join()
    print("broken on purpose: " + ", ".join(f"{name} {count}×" for name, count in sorted(breaker.done.items())))


def _answers(log: Log) -> list[str]:
    """A 503 says that something does not answer, and that is true; a 500 would be a defect of ours."""
    return [f"{n} answers {status} to {kind}" for (kind, status), n in log.statuses.items() if status in (500, 502)]


class Life:
    """Acts for one person after another, each act with its own weight; now and then two acts at once."""

    def __init__(self, people: People, stack: Stack, log: Log, number: int) -> None:
        self._people, self._stack = people, stack
        self._admin = Caller(stack.options.port, log)
        self._chance = random.Random(SEED * 1000 + number)

    def go_on(self, ended: threading.Event) -> None:
        while not ended.is_set():
            if self._chance.random() < 0.06:
                self._do(self._people.newcomer(), self._people.sign_up)
            else:
                promises = self._chance.choices(
                    ("confirmed", "accepted", "left", "never", "lifted", ""), (50, 30, 5, 8, 3, 4)
                )
                if person := self._people.somebody(promises[0]):
                    self._live(person)
            ended.wait(self._chance.random())

    def _live(self, person: Person) -> None:
        acts = self._acts(person.promise)
        if len(acts) > 2 and self._chance.random() < 0.2:
            first, second = self._chance.sample(list(acts), 2)
            self._do(person, lambda person: self._people.at_once(person, first, second))
        else:
            [act] = self._chance.choices(list(acts), list(acts.values()))
            self._do(person, act)

    def _acts(self, promise: str) -> dict[Act, int]:
        people = self._people
        match promise:
            case "confirmed":
                return {
                    people.sign_up: 3,
                    people.confirm: 2,
                    people.rename: 3,
                    people.ask_change: 4,
                    people.confirm_change: 5,
                    self._leave: 1,
                    self._click: 1,
                    people.never_again: 1,
                    self._be_removed: 1,
                }
            case "accepted":
                return {people.confirm: 5, people.sign_up: 1, self._click: 1}
            case "never":
                return {people.lift: 1}
            case _:
                return {people.sign_up: 1}

    def _do(self, person: Person, act: Callable[[Person], None]) -> None:
        act(person)
        self._people.release(person)

    def _leave(self, person: Person) -> None:
        self._people.leave(person, self._token(person), one_click=False)

    def _click(self, person: Person) -> None:
        self._people.leave(person, self._token(person), one_click=True)

    def _be_removed(self, person: Person) -> None:
        self._people.remove(person, self._admin, self._token(person).partition(".")[0])

    def _token(self, person: Person) -> str:
        """What stands in the footer of their mails, read past the app; none while the tables do not answer."""
        try:
            dynamodb = self._stack.aws("dynamodb")
            key = dynamodb.get_item(TableName=f"{PREFIX}-emails", Key={"address": {"S": person.email}})["Item"]
            id = key["subscriber_id"]["S"]
            row = dynamodb.get_item(TableName=f"{PREFIX}-subscribers", Key={"id": {"S": id}})["Item"]
            return f"{id}.{row['unsubscribe_secret']['S']}"
        except Exception:
            return ""


if __name__ == "__main__":
    sys.exit(main())
