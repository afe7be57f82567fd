"""The feed under real conditions: many triggers at once, and a process that dies between any two steps."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import DeliveryState, State
from chalicelib.feeds import service, signatures, store, waiting_store
from chalicelib.feeds.state import WATCHED, Result, Trigger
from chalicelib.kernel import clock, locks, publication, settings
from chalicelib.kernel.aws import failures, tables
from chalicelib.kernel.errors import Conflict
from chalicelib.site import service as site
from tests.rooms.campaigns.crowd import gather

ROOT = Path(__file__).parent.parent.parent

# The process of a worker that is killed before or after one of its steps.
DYING = """
import os, signal, sys
from chalicelib.campaigns.sending import deliveries
from chalicelib.feeds import digest, rereading, service, store
from chalicelib.feeds.reading import reader
from chalicelib.kernel import locks
from chalicelib.kernel.aws import queues, tables
from chalicelib.feeds.state import Trigger

owner, name, when, *waiting = sys.argv[1:]
owner = {"reader": reader, "service": service, "tables": tables, "deliveries": deliveries, "digest": digest,
         "locks": locks, "store": store, "rereading": rereading, "queues": queues}[owner]
real = getattr(owner, name)

def step(*arguments, **named):
    if when == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, name, step)
service.send_waiting(waiting) if waiting else service.check(Trigger.SCHEDULE)
"""

STEPS = [
    ("reader", "read", "before"),
    ("reader", "read", "after"),
    ("digest", "draft", "after"),
    ("tables", "transact", "before"),
    ("tables", "transact", "after"),
    ("deliveries", "wake", "before"),
    ("deliveries", "wake", "after"),
    ("locks", "_release", "before"),
]


def campaign_subjects() -> list[str]:
    return [campaign.subject for campaign in campaigns.list_page(None, 1, 50).items]


def die(*step: str) -> None:
    run = subprocess.run([sys.executable, "-c", DYING, *step], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert run.returncode == -9, run.stderr.decode()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The next run comes after the lock of the dead process has expired."""

    def shift() -> None:
        real = datetime.now
        monkeypatch.setattr(clock, "now", lambda: real(UTC) + timedelta(seconds=61))

    return shift


@pytest.mark.parametrize("step", STEPS, ids=" ".join)
def test_a_crash_at_any_step_and_then_a_recovery_make_exactly_one_campaign(emulator, blog, later, step):
    assert service.check(Trigger.SCHEDULE).result is Result.FIRST
    blog.publish("News")
    die(*step)
    later()
    assert service.check(Trigger.SCHEDULE).result in (Result.SENT, Result.UNCHANGED)
    assert service.check(Trigger.WEBHOOK).result is Result.UNCHANGED
    assert campaign_subjects() == ["News"]
    detail = campaigns.view(campaigns.list_page(None, 1, 1).items[0].id)
    assert detail.campaign.state is State.PUBLISHING
    assert [delivery.state for delivery in detail.deliveries] == [DeliveryState.SENDING]


def test_a_crash_during_the_first_check_mails_no_archive(emulator, blog, later):
    die("tables", "transact", "before")
    blog.publish("News")
    later()
    assert service.check(Trigger.SCHEDULE).result is Result.FIRST
    assert campaign_subjects() == []


def test_a_notice_survives_the_process_that_owed_it(emulator, blog, later, monkeypatch):
    service.check(Trigger.SCHEDULE)
    blog.answer = (500, {}, b"")
    service.check(Trigger.SCHEDULE)
    service.check(Trigger.SCHEDULE)
    die("tables", "transact", "after")
    mailed: list[str] = []
    monkeypatch.setattr(service, "notify_admin", lambda subject, text: mailed.append(subject))
    later()
    service.check(Trigger.SCHEDULE)
    service.check(Trigger.SCHEDULE)
    assert mailed == ["The feed cannot be read"]


def test_ten_triggers_at_once_make_one_campaign(emulator, blog, together):
    service.check(Trigger.SCHEDULE)
    blog.publish("News")
    triggers = [*Trigger] * 3
    checks = together(*[lambda trigger=trigger: service.check(trigger) for trigger in triggers[:10]])
    assert [check.result for check in checks].count(Result.SENT) == 1
    assert {check.result for check in checks} <= {Result.SENT, Result.BUSY, Result.UNCHANGED}
    assert campaign_subjects() == ["News"]


@contextlib.contextmanager
def _open(name: str, seconds: int) -> Iterator[bool]:
    yield True


def test_even_without_the_lock_ten_triggers_make_one_campaign(emulator, blog, together, monkeypatch):
    """The lock only saves requests; the transaction is what keeps it to one campaign."""
    service.check(Trigger.SCHEDULE)
    blog.publish("News")
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    checks = together(*[lambda: service.check(Trigger.WEBHOOK)] * 10)
    assert [check.result for check in checks].count(Result.SENT) == 1
    assert campaign_subjects() == ["News"]


def test_two_first_checks_at_once_record_and_send_nothing(emulator, blog, together, monkeypatch):
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    checks = together(*[lambda: service.check(Trigger.SCHEDULE)] * 4)
    assert [check.result for check in checks].count(Result.FIRST) == 1
    assert campaign_subjects() == []


def test_a_post_announced_by_webhook_is_a_campaign_when_the_queue_is_worked_off(emulator, http, blog, work):
    service.check(Trigger.SCHEDULE)
    blog.publish("News")
    headers = signatures.sign(settings.secret("WEBHOOK_SECRET"), "msg_1", int(time.time()), b"{}")
    assert http.post("/api/webhooks/feed", body=b"{}", headers=headers).status == 202
    work("feed")
    assert campaign_subjects() == ["News"]


def test_a_post_is_in_every_inbox_once_however_often_it_is_announced(emulator, http, blog, ses, work):
    gather(30)
    service.check(Trigger.SCHEDULE)
    blog.publish("News")
    for number in range(3):
        headers = signatures.sign(settings.secret("WEBHOOK_SECRET"), f"msg_{number}", int(time.time()), b"{}")
        assert http.post("/api/webhooks/feed", body=b"{}", headers=headers).status == 202
    work.until(lambda: campaigns.list_page(State.PUBLISHED, 1, 1).total == 1, timeout=30)
    service.check(Trigger.SCHEDULE)
    work()
    mails = ses.mails(limit=100)
    assert len({tuple(mail["to"]) for mail in mails}) == len(mails) == 30
    assert {mail["subject"] for mail in mails} == {"News"}


def test_a_replayed_call_is_refused_even_at_the_same_moment(emulator, http, blog, together):
    headers = signatures.sign(settings.secret("WEBHOOK_SECRET"), "msg_1", int(time.time()), b"{}")
    calls = [lambda: http.post("/api/webhooks/feed", body=b"{}", headers=headers).status] * 5
    assert sorted(together(*calls)) == [202, 409, 409, 409, 409]


def test_the_schedule_checks_the_feed(emulator, blog, tick):
    tick("check_feed")
    assert service.view().state.result is Result.FIRST


def test_the_watermark_is_never_lost(emulator, blog):
    """Posts come while checks run all the time: each is mailed exactly once."""
    service.check(Trigger.SCHEDULE)
    stop = threading.Event()

    def checking() -> None:
        while not stop.is_set():
            service.check(Trigger.WEBHOOK)

    threads = [threading.Thread(target=checking) for _ in range(3)]
    for thread in threads:
        thread.start()
    titles = [f"Post {number}" for number in range(8)]
    for title in titles:
        blog.publish(title)
        time.sleep(0.1)
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    service.check(Trigger.SCHEDULE)
    listed = campaigns.list_page(None, 1, 50).items
    bodies = [campaigns.view(campaign.id).content.body for campaign in listed]
    times = {title: sum(f"title: {title}\n" in body for body in bodies) for title in titles}
    assert times == dict.fromkeys(titles, 1)
    assert tables.get(store.PackedRow, "feed", "marks") is not None


DUE_STEPS = [
    ("reader", "read", "after"),
    ("rereading", "reread", "after"),
    ("digest", "draft", "after"),
    ("tables", "transact", "before"),
    ("tables", "transact", "after"),
    ("deliveries", "wake", "before"),
    ("deliveries", "wake", "after"),
    ("locks", "_release", "before"),
]


@pytest.fixture
def held(emulator: Any, blog: Any, configure: Any) -> list[str]:
    """One post that waits, by its name."""
    configure(FEED_HOLD="1440")
    assert service.check(Trigger.SCHEDULE).result is Result.FIRST
    blog.publish("News")
    assert service.check(Trigger.SCHEDULE).result is Result.WAITING
    return names_waiting()


def names_waiting() -> list[str]:
    return [kept.name for kept in service.view().waiting.entries]


def titles_waiting() -> list[str]:
    return [kept.title for kept in service.view().waiting.entries]


@pytest.mark.parametrize("step", DUE_STEPS, ids=" ".join)
def test_a_crash_while_a_held_post_leaves_mails_it_once(held, configure, later, step):
    configure(FEED_HOLD="0")
    die(*step)
    later()
    for _ in range(2):
        if service.find_due():
            service.check(Trigger.DUE)
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])
    assert not service.find_due()
    detail = campaigns.view(campaigns.list_page(None, 1, 1).items[0].id)
    assert [delivery.state for delivery in detail.deliveries] == [DeliveryState.SENDING]


@pytest.mark.parametrize("step", [("tables", "transact", "after"), ("queues", "send", "before")], ids=" ".join)
def test_a_crash_after_send_now_is_made_up_for_by_the_sweep(held, work, tick, step):
    die(*step, *held)
    tick("sweep_deliveries")
    work("feed")
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])


def test_two_sweeps_at_once_mail_a_held_post_once(held, configure, tick, work, together):
    configure(FEED_HOLD="0")
    together(*[lambda: tick("sweep_deliveries")] * 3)
    work("feed")
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])


def test_even_without_the_lock_ten_checks_mail_a_held_post_once(held, configure, together, monkeypatch):
    configure(FEED_HOLD="0")
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    checks = together(*[lambda: service.check(Trigger.DUE)] * 10)
    assert [check.result for check in checks].count(Result.SENT) == 1
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])


@pytest.mark.parametrize("attempt", range(6))
def test_of_send_now_cancel_and_the_sweep_exactly_one_decides(held, configure, together, monkeypatch, attempt):
    """Whoever cancels and is told so can rely on it."""
    configure(FEED_HOLD="0")
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)

    cancels = [lambda: attempt_to(service.cancel_waiting, held)] * 2
    answers = together(
        *cancels,
        lambda: attempt_to(service.send_waiting, held),
        *[lambda: service.check(Trigger.DUE).result is Result.SENT] * 3,
    )
    cancelled, sent = answers[:2].count(True), answers[3:].count(True)
    assert (cancelled, sent) in ((1, 0), (0, 1))
    assert campaign_subjects() == ["News"] * sent
    assert titles_waiting() == []
    assert service.check(Trigger.SCHEDULE).result is Result.UNCHANGED


ACTS: dict[str, Any] = {
    "sweep": lambda names: service.check(Trigger.DUE).result is Result.SENT,
    "send now": lambda names: attempt_to(service.send_waiting, names),
    "cancel": lambda names: attempt_to(service.cancel_waiting, names),
}


def attempt_to(act: Any, names: list[str]) -> bool:
    try:
        act(names)
    except Conflict:
        return False
    return True


@pytest.mark.parametrize("attempt", range(2))
@pytest.mark.parametrize("pair", [("sweep", "cancel"), ("sweep", "send now"), ("cancel", "send now")], ids=" × ".join)
def test_of_any_two_at_once_one_decides(held, configure, together, monkeypatch, work, tick, pair, attempt):
    """Before its time, or when that has come; what nobody has decided by then leaves with the next sweep."""
    if "sweep" in pair:
        configure(FEED_HOLD="0")
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    done = dict(zip(pair, together(*(lambda name=name: ACTS[name](held) for name in pair)), strict=True))
    assert any(done.values())
    work("feed")
    tick("sweep_deliveries")
    work("feed")
    assert campaign_subjects() == ([] if done.get("cancel") else ["News"])
    assert titles_waiting() == []


@pytest.fixture
def digest_due(emulator: Any, blog: Any, configure: Any) -> None:
    """One post of a digest whose time has just come."""
    configure(FEED_DIGEST="daily")
    assert service.check(Trigger.SCHEDULE).result is Result.FIRST
    blog.publish("News")
    assert service.check(Trigger.SCHEDULE).result is Result.WAITING
    held, state = waiting_store.load(WATCHED), store.find_state(WATCHED)
    assert state
    due = replace(held, digest_due=clock.now() - timedelta(minutes=1))
    tables.transact(store.state_write(state, state.changed()), waiting_store.waiting_write(WATCHED, due))


def next_digest() -> datetime:
    due = service.view().waiting.digest_due
    assert due
    return due


def test_two_runs_of_a_digest_at_once_mail_it_once(digest_due, tick, work, together):
    together(*[lambda: tick("sweep_deliveries")] * 3)
    together(*[lambda: work("feed")] * 3)
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])
    assert next_digest() > clock.now()


def test_even_without_the_lock_ten_runs_mail_a_digest_once(digest_due, together, monkeypatch):
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    checks = together(*[lambda: service.check(Trigger.DUE)] * 10)
    assert [check.result for check in checks].count(Result.SENT) == 1
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])


@pytest.mark.parametrize("step", DUE_STEPS, ids=" ".join)
def test_a_crash_while_a_digest_leaves_mails_it_once(digest_due, later, step):
    die(*step)
    later()
    for _ in range(2):
        if service.find_due():
            service.check(Trigger.DUE)
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])
    assert next_digest() > clock.now()


@pytest.mark.parametrize("attempt", range(3))
def test_a_digest_that_is_switched_off_while_it_leaves_is_mailed_once(
    digest_due, configure, together, monkeypatch, tick, work, attempt
):
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 20)
    together(lambda: service.check(Trigger.DUE), lambda: site.change({"feed.digest": "off"}, "ada@example.org"))
    publication.forget()
    for _ in range(2):
        tick("sweep_deliveries")
        work("feed")
    assert (campaign_subjects(), titles_waiting()) == (["News"], [])


def test_posts_that_come_while_a_digest_leaves_are_mailed_once(emulator, blog, configure, together, monkeypatch):
    """Ten checks, with and without the digest's time being there, while posts appear."""
    configure(FEED_DIGEST="daily")
    service.check(Trigger.SCHEDULE)
    monkeypatch.setattr(locks, "held", _open)
    monkeypatch.setattr(failures, "_DECISIONS", 40)

    def disturb(number: int) -> None:
        blog.publish(f"Post {number}")
        service.check(Trigger.SCHEDULE)
        together(
            lambda: service.send_waiting(names_waiting()),
            *[lambda: service.check(Trigger.WEBHOOK)] * 3,
            lambda: blog.publish(f"Late {number}"),
        )
        service.check(Trigger.WEBHOOK)

    for number in range(4):
        disturb(number)
    if rest := names_waiting():
        service.send_waiting(rest)
    service.check(Trigger.DUE)
    listed = campaigns.list_page(None, 1, 50).items
    bodies = [campaigns.view(campaign.id).content.body for campaign in listed]
    expected = [f"{word} {number}" for word in ("Post", "Late") for number in range(4)]
    assert {title: sum(f"title: {title}\n" in body for body in bodies) for title in expected} == dict.fromkeys(
        expected, 1
    )


def test_a_held_post_is_in_every_inbox_once(emulator, blog, configure, ses, work, tick):
    gather(30)
    configure(FEED_HOLD="30")
    service.check(Trigger.SCHEDULE)
    blog.publish("News")
    service.check(Trigger.SCHEDULE)
    configure(FEED_HOLD="0")
    for _ in range(3):
        tick("sweep_deliveries")
    work.until(lambda: campaigns.list_page(State.PUBLISHED, 1, 1).total == 1, timeout=30)
    mails = [mail for mail in ses.mails(limit=100) if mail["subject"] == "News"]
    assert len({tuple(mail["to"]) for mail in mails}) == len(mails) == 30
