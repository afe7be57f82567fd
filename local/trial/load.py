"""`make load`: many people at once while a campaign goes out. Loopback only, and over after LOAD_SECONDS."""

import json
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from local.options import PREFIX
from local.trial import arrivals, truth
from local.trial.client import Caller, Log
from local.trial.followers import CALM, Followers
from local.trial.people import People
from local.trial.stack import Stack, folder

SECONDS = float(os.environ.get("LOAD_SECONDS", "60"))
AT_ONCE = int(os.environ.get("LOAD_CONCURRENCY", "64"))
ADMIN_EVERY = int(os.environ.get("LOAD_ADMIN_EVERY", "16"))
CROWD = int(os.environ.get("LOAD_CROWD", "20000"))
_PATIENCE = float(os.environ.get("LOAD_PATIENCE", "300"))
_ADMIN = (
    "/admin/api/subscribers",
    "/admin/api/campaigns",
    "/admin",
    "/admin/api/bounces",
    "/admin/api/subscribers?q=9",
)


def main() -> int:
    place, failed = folder(), True
    try:
        with (
            _database() as dynamodb,
            Stack(place, through_proxy=False, dynamodb=dynamodb, MAILS_PER_HOUR="1000000") as stack,
        ):
            os.environ.update(stack.env)
            failed = _report(*_load(stack))
    finally:
        if failed:
            print(f"the logs are in {place}")
        else:
            shutil.rmtree(place, ignore_errors=True)
    return failed


@contextmanager
def _database() -> Iterator[str | None]:
    """LOAD_EXACT=1: a DynamoDB that answers lists from an index. The embedded AWS sorts everybody for every page:
    0.4 s of CPU time for the first of 20,000 people, 1.5 s for a search. With many admins it does nothing else."""
    if not os.environ.get("LOAD_EXACT"):
        yield None
        return
    from bench import exact

    with exact.running(PREFIX) as url:
        if not url:
            raise SystemExit("LOAD_EXACT needs npm, and a registry that has dynoxide")
        yield url


def _load(stack: Stack) -> tuple[Log, list[str]]:
    log = Log()
    crowd = truth.crowd(stack, CROWD)
    people = People(stack.options.port, stack.mailbox, log, seed=1)
    admin = Caller(stack.options.port, log)
    followers = Followers(stack, log, 1, CALM)
    followers.begin()
    campaign = start_campaign(admin, "Load")
    ended = threading.Event()
    threads = [threading.Thread(target=_visit, args=(people, stack, log, ended, number)) for number in range(AT_ONCE)]
    threads.append(threading.Thread(target=followers.go_on, args=(ended,)))
    for thread in threads:
        thread.start()
    limited = _limits(stack, log)
    ended.wait(SECONDS)
    during = len(people.everybody)
    ended.set()
    for thread in threads:
        thread.join()
    print(f"{during} people signed up beside the campaign within {SECONDS:.0f} s")
    broken = [*limited, *finish_campaign(stack, admin, campaign, crowd)]
    followers.sync_all()
    for queue in ("audience", "feed"):
        _drain(stack, queue)
    broken += [
        f"{n} answers {status} to {kind}" for (kind, status), n in log.statuses.items() if status >= 500 or not status
    ]
    found = truth.Truth(stack)
    return log, broken + found.broken(people.everybody) + arrivals.broken(stack, found, followers)


def _visit(people: People, stack: Stack, log: Log, ended: threading.Event, number: int) -> None:
    """Some visitors look at the dashboard, the others sign up."""
    chance = random.Random(number)
    admin = Caller(stack.options.port, log)
    while not ended.is_set():
        if number % ADMIN_EVERY == 0:
            admin.ask("admin", "GET", chance.choice(_ADMIN))
            ended.wait(chance.random())
        elif chance.random() < 0.5 or not (person := people.somebody("accepted")):
            person = people.newcomer()
            people.sign_up(person)
            people.release(person)
        else:
            people.confirm(person)
            people.release(person)


def _limits(stack: Stack, log: Log) -> list[str]:
    """Eight sign-ups of one client within a minute: five are accepted, three are not, however they race."""
    quiet = Log()
    if time.time() % 60 > 40:
        time.sleep(61 - time.time() % 60)
    begun = time.time() // 60
    callers = [Caller(stack.options.port, quiet) for _ in range(4)]

    def sign_up(job: tuple[int, Caller]) -> tuple[Caller, int]:
        email = f"limit{job[0]}@limits.example.net"
        return job[1], job[1].ask("limited", "POST", "/api/subscribe", {"email": email})[0]

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(sign_up, list(enumerate(callers * 8))))
    if time.time() // 60 != begun:
        return ["the rate limits could not be looked at: it took more than the minute"]
    by_caller = [sorted(status for who, status in answers if who is caller) for caller in callers]
    print(f"rate limits: {[found.count(201) for found in by_caller]} of 8 each were taken")
    return [
        f"a client's eight sign-ups were answered {found}" for found in by_caller if found != [201] * 5 + [429] * 3
    ]


def start_campaign(admin: Caller, subject: str) -> str:
    status, _, text = admin.ask(
        "campaign", "POST", "/admin/api/campaigns", {"subject": subject, "body": "<p>Hello {{nickname|you}}.</p>"}
    )
    if status != 201:
        return ""
    made = str(json.loads(text)["id"])
    admin.ask("campaign", "POST", f"/admin/api/campaigns/{made}/send")
    return made


def finish_campaign(stack: Stack, admin: Caller, campaign: str, crowd: list[str]) -> list[str]:
    """Wait for it to finish; everybody who was there all the time must have got it once."""
    begun = time.monotonic()
    while True:
        _, _, text = admin.ask("progress", "GET", f"/admin/api/campaigns/{campaign}")
        shown: dict[str, Any] = json.loads(text or "{}")
        if shown.get("deliveries") and shown["deliveries"][0]["finished_at"]:
            break
        if time.monotonic() - begun > _PATIENCE:
            return [f"the campaign did not finish: {shown.get('deliveries')}"]
        time.sleep(1)
    [delivery] = shown["deliveries"]
    counts = {name: delivery[name] for name in delivery if isinstance(delivery[name], int)}
    print(f"the campaign: {delivery['state']}, {counts}")
    mails = stack.mailbox.stats()["addresses"]
    wrong = [f"{mails.get(address, 0)} mails to one of the crowd" for address in crowd if mails.get(address, 0) != 1]
    return [f"{len(wrong)} of {len(crowd)} of the crowd: {wrong[0]}"] if wrong else []


def _drain(stack: Stack, queue: str) -> None:
    sqs = stack.aws("sqs")
    url = sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}")["QueueUrl"]
    until = time.monotonic() + _PATIENCE
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    while time.monotonic() < until:
        if not any(map(int, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"].values())):
            return
        time.sleep(0.5)


def _report(log: Log, broken: list[str]) -> bool:
    print(log.table())
    for line in broken[:20]:
        print(f"BROKEN: {line}")
    print(f"{len(broken)} broken" if broken else "everything holds")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
