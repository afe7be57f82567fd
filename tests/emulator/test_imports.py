"""Imports on real conditions and transactions: killed anywhere, run twice, and while people sign up and leave."""

import json
import resource
import threading
from typing import Any

import pytest

from chalicelib.audience import counts as audience_counts
from chalicelib.audience import erasure
from chalicelib.audience.imports import jobs, running, service, store
from chalicelib.audience.imports.model import Consent, Joined, Result, State
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.leavers import LeaverRow
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.audience.stores.suppressions import SuppressionRow
from chalicelib.kernel import addresses
from chalicelib.kernel.aws import session, tables
from tests.conftest import received

DOUBLE = Consent(Joined.DOUBLE, "They confirmed by a link.")
# Of a thousand rows: how many of each kind, and what becomes of them.
KINDS = {
    "new{n}@example.net,Name {n},subscribed": (700, Result.IMPORTED),
    "left{n}@example.net,,unsubscribed": (50, Result.LEFT_ELSEWHERE),
    "bounced{n}@example.net,,cleaned": (40, Result.LEFT_ELSEWHERE),
    "spam{n}@example.net,,complained": (30, Result.SUPPRESSED),
    "odd{n}@example.net,,inactive": (40, Result.UNCONFIRMED),
    "unknown{n}@example.net,,whatever": (30, Result.UNCONFIRMED),
    "no address {n},Eve,subscribed": (30, Result.INVALID),
    ",Nobody {n},subscribed": (20, Result.INVALID),
    "NEW{n}@Example.NET,Again,subscribed": (40, Result.DUPLICATE),
    "reader{n}@example.net,,subscribed": (10, Result.ALREADY),
    "never{n}@example.net,,subscribed": (10, Result.SUPPRESSED),
}


@pytest.fixture(autouse=True)
def _clients(emulator: Any) -> None:
    session.client("s3")  # before any thread runs


def make_file(thousands: int) -> tuple[bytes, dict[str, int]]:
    expected = {str(result): 0 for result in Result}
    lines = ["email,name,status"]
    for kind, (each, result) in KINDS.items():
        for number in range(each * thousands):
            # Readers and those who must not be contacted are few: all other rows of theirs are duplicates.
            n = number % 10 if result is Result.ALREADY or kind.startswith("never") else number
            lines.append(kind.format(n=n))
            first = number == n
            expected[result if first else Result.DUPLICATE] += 1
    return "\n".join(lines).encode(), expected


def start(content: bytes, consent: Consent = DOUBLE) -> str:
    shown = service.create(content, "text/csv")
    if shown.found.task:
        received("feed")
        jobs.work(shown.found.id, lambda: True)
    service.start(shown.found.id, service.Start(consent, "old list"))
    received("feed")
    return shown.found.id


def check_sum(import_id: str) -> Any:
    found = store.find(import_id)
    assert found
    assert sum(found.counts.values()) == found.done
    return found


def test_twenty_thousand_rows_add_up_killed_three_times_and_run_twice_at_once(dying, capsys):
    jobs.work(start("\n".join(["email", *(f"reader{n}@example.net" for n in range(10))]).encode()), lambda: True)
    for n in range(10):
        erasure.suppress(addresses.key(f"never{n}@example.net"), "person")
    content, expected = make_file(20)
    import_id = start(content)
    done = 0
    for steps in (20, 150, 300):
        assert dying(steps, "work_import", import_id) == "killed"
        found = check_sum(import_id)
        assert found.done > done or steps == 20
        done = found.done
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    twin = threading.Thread(target=dying, args=(10**9, "work_import", import_id))
    twin.start()
    jobs.work(import_id, lambda: True)
    twin.join()
    if check_sum(import_id).task:
        jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.state, found.done, found.rows) == (State.DONE, 20_000, 20_000)
    assert found.counts == expected
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "in KB"
    people = sum(1 for _ in tables.scan(SubscriberRow))
    assert people == expected["imported"] + 10
    assert people == sum(1 for _ in tables.scan(EmailRow)) == audience_counts.total()
    assert sum(1 for _ in tables.scan(LeaverRow)) == expected["left_elsewhere"]
    assert sum(1 for _ in tables.scan(SuppressionRow)) == expected["suppressed"]
    report = "".join(service.report(import_id)).splitlines()
    assert len(report) - 1 == found.rows - expected["imported"]
    said = json.dumps([received(queue) for queue in ("feed", "audience", "events")]) + "".join(capsys.readouterr())
    assert "example.net" not in said
    assert all("example.net" not in json.dumps(row.attribute_values, default=str) for row in _events())


def _events() -> Any:
    from chalicelib.events.store import EventRow

    rows = list(tables.scan(EventRow))
    assert [row.type for row in rows].count("IMPORT_FINISHED") == 2
    return rows


def before_the_first_write(monkeypatch: Any, act: Any) -> None:
    """Something happens between reading about people and writing them."""
    commit, acted = running.Run._commit, []

    def first_act(run: Any, group: Any) -> None:
        if not acted:
            acted.append(act())
        commit(run, group)

    monkeypatch.setattr(running.Run, "_commit", first_act)


LIST = b"email\n" + b"".join(b"person%d@example.net\n" % n for n in range(40))


def test_somebody_who_signs_up_at_that_moment_is_not_added_again(monkeypatch, http, work, ses):
    import_id = start(LIST)

    def sign_up() -> None:
        assert http.post("/api/subscribe", json={"email": "person3@example.net"}).status == 201
        work("audience")

    before_the_first_write(monkeypatch, sign_up)
    jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.counts["imported"], found.counts["already"]) == (39, 1)
    people = {row.email: row.status for row in tables.scan(SubscriberRow)}
    assert people["person3@example.net"] == "pending"
    assert len(people) == 40


def test_somebody_who_asks_never_to_be_contacted_at_that_moment_is_not_added(monkeypatch):
    import_id = start(LIST)
    before_the_first_write(monkeypatch, lambda: erasure.suppress("person3@example.net", "person"))
    jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.counts["imported"], found.counts["suppressed"]) == (39, 1)
    assert "person3@example.net" not in {row.email for row in tables.scan(SubscriberRow)}


def test_who_was_imported_and_leaves_is_not_brought_back_by_a_repeat(monkeypatch, dying):
    monkeypatch.setattr(running, "_JUDGED", 20)
    import_id = start(LIST)
    jobs.work(import_id, lambda: False)
    found = check_sum(import_id)
    assert found.done == 20, "one slice"
    gone = next(row for row in tables.scan(SubscriberRow) if row.email == "person3@example.net")
    assert erasure.remove(gone.id)
    jobs.work(import_id, lambda: True)
    jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.state, found.counts["imported"]) == (State.DONE, 40)
    assert "person3@example.net" not in {row.email for row in tables.scan(SubscriberRow)}


def test_a_cancelled_import_stops_at_the_next_group(monkeypatch):
    import_id = start(LIST)
    before_the_first_write(monkeypatch, lambda: service.cancel(import_id))
    jobs.work(import_id, lambda: True)
    assert check_sum(import_id).done == 0
    jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.state, found.task) == (State.CANCELLED, None)
    assert not list(tables.scan(SubscriberRow))


def test_two_starts_at_once_begin_one_import(together):
    shown = service.create(LIST, "text/csv")
    given = service.Start(DOUBLE, "old list")
    results = together(*[lambda: service.start(shown.found.id, given)] * 4)
    assert sum(isinstance(result, service.Shown) for result in results) == 1
    assert len(received("feed")) == 1


def test_undo_is_killed_anywhere_and_run_twice(dying, together, monkeypatch):
    import_id = start(LIST)
    jobs.work(import_id, lambda: True)
    monkeypatch.setattr(service, "_SECONDS", 0.0)
    service.undo(import_id)
    for steps in (3, 6, 8):
        assert dying(steps, "work_import", import_id) == "killed"
    together(lambda: jobs.work(import_id, lambda: True), lambda: jobs.work(import_id, lambda: True))
    jobs.work(import_id, lambda: True)
    found = check_sum(import_id)
    assert (found.state, found.removed) == (State.UNDONE, 40)
    assert audience_counts.total() == 0
    assert not list(tables.scan(SubscriberRow))
    assert not list(tables.scan(EmailRow))
