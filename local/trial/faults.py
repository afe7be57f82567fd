"""`make faults`: everything that can break is broken at random under load, the same way for the same FAULT_SEED; then
it is left alone to recover, and what it left is looked at."""

import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable

from local.options import PREFIX
from local.trial import truth
from local.trial.client import Caller, Log
from local.trial.load import start_campaign
from local.trial.people import People, Person
from local.trial.receiver import Receiver
from local.trial.stack import Stack, folder

SECONDS = float(os.environ.get("FAULT_SECONDS", "180"))
SEED = int(os.environ.get("FAULT_SEED", "7"))
AT_ONCE = 12
Fault = Callable[[Stack, random.Random], None]
CROWD = 600
_RECOVERY = float(os.environ.get("FAULT_RECOVERY", "420"))
_QUEUES = ("mail", "deliveries", "sending", "mail-events", "events", "feed")
_VISIBILITY = "20"  # so that what a killed worker held comes again within the trial


def main() -> int:
    place, receiver = folder(), Receiver()
    kept = False
    try:
        with Stack(place, through_proxy=True, MAILS_PER_HOUR="1000000", LOCAL_TICK="3") as stack:
            os.environ.update(stack.env)
            broken = _trial(stack, receiver)
            kept = bool(broken)
    finally:
        receiver.stop()
        if not kept:
            shutil.rmtree(place, ignore_errors=True)
    for line in broken[:30]:
        print(f"BROKEN: {line}")
    print(f"{len(broken)} broken: the logs are in {place}" if broken else "everything holds")
    return bool(broken)


def _trial(stack: Stack, receiver: Receiver) -> list[str]:
    log, ended = Log(), threading.Event()
    crowd = truth.crowd(stack, CROWD)
    _hurry(stack)
    admin = Caller(stack.options.port, log)
    admin.ask("webhook", "POST", "/admin/api/webhooks", {"url": receiver.url})
    people = People(stack.options.port, stack.mailbox, log, SEED)
    threads = [threading.Thread(target=_visit, args=(people, stack, log, ended, n)) for n in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    campaigns, done = _break_things(stack, admin)
    ended.set()
    for thread in threads:
        thread.join()
    print("broken on purpose: " + ", ".join(f"{name} {count}×" for name, count in sorted(done.items())))
    print(log.table())
    broken = _recover(stack, receiver)
    found = truth.Truth(stack)
    broken += [
        f"{n} answers {status} to {kind}" for (kind, status), n in log.statuses.items() if status in (500, 502)
    ]
    broken += found.broken(people.everybody)
    broken += _campaigns(stack, found, campaigns, crowd)
    return broken + _events(found, receiver)


def _visit(people: People, stack: Stack, log: Log, ended: threading.Event, number: int) -> None:
    chance = random.Random(SEED * 1000 + number)
    acts = (("accepted", people.confirm), ("accepted", people.sign_up), ("confirmed", people.ask_link))
    while not ended.is_set():
        if chance.random() < 0.35:
            person, act = people.newcomer(), people.sign_up
        else:
            told, act = chance.choice(
                (*acts, acts[0], ("confirmed", lambda one: people.leave(one, _token(stack, one))))
            )
            found = people.somebody(told)
            if not found:
                ended.wait(0.1)
                continue
            person = found
        act(person)
        people.release(person)
        ended.wait(chance.random() * 0.3)


def _token(stack: Stack, person: Person) -> str:
    """What stands in the footer of their mails; read from the table, past every fault but one that stops it too."""
    try:
        dynamodb = stack.aws("dynamodb")
        key = dynamodb.get_item(TableName=f"{PREFIX}-emails", Key={"address": {"S": person.email}})["Item"]
        id = key["subscriber_id"]["S"]
        row = dynamodb.get_item(TableName=f"{PREFIX}-subscribers", Key={"id": {"S": id}})["Item"]
        return f"{id}.{row['unsubscribe_secret']['S']}"
    except Exception:
        return ""


def _break_things(stack: Stack, admin: Caller) -> tuple[list[str], dict[str, int]]:
    """One fault after another with a short breath between; a campaign is started every now and then."""
    chance = random.Random(SEED)
    faults = (_freeze_emulator, _restart_emulator, _refuse, _delay, _lose, _kill_workers, _kill_app, _freeze_workers)
    until, campaigns = time.monotonic() + SECONDS, []
    done: dict[str, int] = {}
    deck: list[Fault] = []
    while time.monotonic() < until:
        if len(campaigns) < 1 + len(done) // 2:
            campaigns.append(start_campaign(admin, f"Trial {len(campaigns)}"))
        time.sleep(chance.uniform(0.3, 2))
        if not deck:  # each of them before any comes again
            deck = chance.sample(faults, len(faults))
        fault = deck.pop()
        stack.tend()
        fault(stack, chance)
        name = fault.__name__.strip("_").replace("_", " ")
        done[name] = done.get(name, 0) + 1
    return [campaign for campaign in campaigns if campaign], done


def _freeze_emulator(stack: Stack, chance: random.Random) -> None:
    stack.freeze("emulator")
    time.sleep(chance.uniform(0.5, 12))
    stack.thaw()


def _restart_emulator(stack: Stack, chance: random.Random) -> None:
    stack.restart_emulator()
    _hurry(stack)


def _refuse(stack: Stack, chance: random.Random) -> None:
    _misbehave(stack, "refuse", chance.uniform(0.5, 4))


def _delay(stack: Stack, chance: random.Random) -> None:
    stack.proxy.seconds = chance.uniform(0.1, 1.5)  # type: ignore[union-attr]
    _misbehave(stack, "delay", chance.uniform(1, 5))


def _lose(stack: Stack, chance: random.Random) -> None:
    _misbehave(stack, "lose", chance.uniform(0.2, 3))


def _misbehave(stack: Stack, mode: str, seconds: float) -> None:
    assert stack.proxy
    stack.proxy.mode = mode
    time.sleep(seconds)
    stack.proxy.mode = "pass"


def _kill_workers(stack: Stack, chance: random.Random) -> None:
    stack.kill("workers")
    time.sleep(chance.uniform(0, 2))
    stack.begin("workers")


def _kill_app(stack: Stack, chance: random.Random) -> None:
    stack.kill("app")
    time.sleep(chance.uniform(0, 1))
    stack.begin("app")


def _freeze_workers(stack: Stack, chance: random.Random) -> None:
    stack.freeze("workers")
    time.sleep(chance.uniform(1, 8))
    stack.thaw()


def _hurry(stack: Stack) -> None:
    sqs = stack.aws("sqs")
    for queue in _QUEUES:
        url = sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}")["QueueUrl"]
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": _VISIBILITY})


def _recover(stack: Stack, receiver: Receiver) -> list[str]:
    """Leave it alone; put back what reached the dead letters, as an operator would. How long it took is printed."""
    begun = time.monotonic()
    stack.tend()
    stack.wait_until_well()
    put_back = 0
    while time.monotonic() - begun < _RECOVERY:
        stack.tend()
        put_back += _put_back(stack)
        left = [*_waiting(stack), *_unfinished(stack, receiver)]
        if not left:
            print(f"recovered within {time.monotonic() - begun:.0f} s; {put_back} dead letters were put back")
            return []
        time.sleep(2)
    return [f"not recovered after {_RECOVERY:.0f} s: {', '.join(left[:6])}"]


def _waiting(stack: Stack) -> list[str]:
    sqs = stack.aws("sqs")
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = []
    for queue in ("mail",):  # the others are only hurried by their messages; the tables say what is owed
        url = sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}")["QueueUrl"]
        counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        if any(map(int, counts.values())):
            found.append(f"{queue} has messages")
    return found


def _unfinished(stack: Stack, receiver: Receiver) -> list[str]:
    dynamodb = stack.aws("dynamodb")
    deliveries = [f"delivery {row['id']}" for row in truth.rows(dynamodb, "deliveries") if "finished_at" not in row]
    events = [f"event {row['id']}" for row in truth.rows(dynamodb, "events") if row["id"] not in receiver.seen]
    return [*deliveries, *events[:3]]


def _put_back(stack: Stack) -> int:
    sqs, count = stack.aws("sqs"), 0
    for queue in _QUEUES:
        urls = [sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}{end}")["QueueUrl"] for end in ("-dead", "")]
        while messages := sqs.receive_message(QueueUrl=urls[0], MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                sqs.send_message(QueueUrl=urls[1], MessageBody=message["Body"])
                sqs.delete_message(QueueUrl=urls[0], ReceiptHandle=message["ReceiptHandle"])
                count += 1
    return count


def _campaigns(stack: Stack, found: truth.Truth, campaigns: list[str], crowd: list[str]) -> list[str]:
    """Each once: one delivery, sums that hold, and nobody twice or not at all beyond what is told as *unknown*."""
    broken, unsettled = [], 0
    for row in found.tables["deliveries"]:
        counts = {name: int(row.get(name, 0)) for name in truth.COUNTS}
        if counts["recipients"] != counts["sent_count"] + counts["failure_count"] + counts["unknown_count"]:
            broken.append(f"counts of a delivery do not add up: {counts}")
        unsettled += counts["unknown_count"] + counts["failure_count"]
    by_campaign = [row["campaign_id"] for row in found.tables["deliveries"]]
    broken += [
        f"campaign {id} has {by_campaign.count(id)} deliveries" for id in campaigns if by_campaign.count(id) > 1
    ]
    mails = stack.mailbox.stats()["addresses"]
    sent = len(by_campaign)
    off = sum(abs(mails.get(address, 0) - sent) for address in crowd)
    print(f"{sent} campaigns to {len(crowd)}: {off} mails too many or too few, {unsettled} told as unknown or failed")
    return broken + ([f"{off} mails too many or too few, but only {unsettled} are told"] if off > unsettled else [])


def _events(found: truth.Truth, receiver: Receiver) -> list[str]:
    events = [row["id"] for row in found.tables["events"]]
    missing = [id for id in events if id not in receiver.seen]
    again = sum(count - 1 for count in receiver.seen.values())
    print(f"{len(events)} events, {len(receiver.seen)} received, {again} of them more than once")
    return [f"{len(missing)} events were never received, the first is {missing[0]}"] if missing else []


if __name__ == "__main__":
    sys.exit(main())
