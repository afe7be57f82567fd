"""People who were imported and never written to get a campaign in waves: everybody once, whatever happens between."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pytest

from chalicelib.audience.recipients import Recipient
from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service
from chalicelib.campaigns.model import STOPPED, Delivery, DeliveryState, State, Targeting, Terms, Wave, WaveState
from chalicelib.campaigns.sending import (
    continuing,
    deliveries,
    part_store,
    progress,
    stopping,
    supervisor,
    wave_steps,
    wave_store,
    waves,
)
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Conflict
from chalicelib.mail import notices
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, gather_imported, leave, mark, marked
from tests.rooms.campaigns.engine.work import Killed, Ses, now, started, sums, wake_all, work

HOUR = 3_600_000


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch):
    """Lets so much time pass for waves, in milliseconds."""
    passed = [0]
    real = wave_steps._now_ms
    monkeypatch.setattr(wave_steps, "_now_ms", lambda: real() + passed[0])

    def let_pass(ms: int = HOUR + 1) -> None:
        passed[0] += ms

    return let_pass


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waves and batches a tenth as large, for speed."""
    monkeypatch.setattr(waves, "FIRST_SIZES", (5, 20, 100))
    monkeypatch.setattr("chalicelib.campaigns.sending.worker.LARGEST_BATCH", 5)


def drive(delivery: Delivery) -> None:
    """Queue and sweep, as often as something is left to do now."""
    for _ in range(10):
        if now(delivery).state is DeliveryState.SENDING:
            supervisor.tend(now(delivery))
        messages = received("sending")
        if not messages:
            return
        for message in messages:
            supervisor.drive(Order(**message), lambda: 60)


def wave(delivery: Delivery) -> Wave:
    found = progress.with_live_counts(service.view(delivery.campaign_id)).deliveries[0].wave
    assert found
    return found


def report(delivery: Delivery, number: int, *, bounces_of: int = 0, complaints: int = 0, start: int = 0) -> None:
    """So many of SES's reports, about people who are not here any more."""
    for index in range(bounces_of):
        _report(delivery, number, f"b{start + index}", "Bounce")
    for index in range(complaints):
        _report(delivery, number, f"c{start + index}", "Complaint")


def _report(delivery: Delivery, number: int, id: str, kind: str) -> None:
    address = f"{id}-{number}@example.org"
    detail = {"feedbackId": f"{id}-{number}", "timestamp": clock.text(clock.now())}
    mail = {
        "source": "news@example.org",
        "messageId": f"m-{id}-{number}",
        "destination": [address],
        "tags": {"delivery": [delivery.id], "wave": [str(number)]},
    }
    if kind == "Bounce":
        detail |= {"bounceType": "Permanent", "bounceSubType": "General"}
    bounces.record_event({"eventType": kind, "mail": mail, kind.lower(): detail})


def each_once(ses: Ses, people: Sequence[str]) -> bool:
    return ses.got == dict.fromkeys(people, 1)


def test_readers_get_theirs_at_once_and_imported_people_in_waves_newest_first(ses: Ses, small, later) -> None:
    readers, imported = gather(12), gather_imported(140)
    delivery = started(ses)
    drive(delivery)
    assert {id for id, number in ses.waves.items() if number == 0} == set(readers)
    for number, (first, last) in enumerate([(0, 5), (5, 25), (25, 125), (125, 140)], 1):
        assert {id for id, got in ses.waves.items() if got == number} == set(imported[first:last])
        if number < 4:
            assert (wave(delivery).number, wave(delivery).size, wave(delivery).sent) == (number, *[last - first] * 2)
            assert (wave(delivery).state, wave(delivery).waves) == (WaveState.WAITING, 4)
            assert service.view(delivery.campaign_id).campaign.state is State.PUBLISHING
            drive(delivery)
            assert len(ses.got) == len(readers) + last
            later()
            drive(delivery)
    assert (now(delivery).state, sums(now(delivery))) == (DeliveryState.SENT, (152, 152, 0, 0))
    assert each_once(ses, readers + imported)
    assert marked() == set()
    assert wave_store._names(delivery.id, "~") == part_store.list_parts(delivery.id) == []


def test_a_small_import_is_one_wave_without_a_wait(ses: Ses) -> None:
    imported = gather_imported(30)
    delivery = work(started(ses))
    assert (delivery.state, delivery.counts.sent, ses.waves) == (DeliveryState.SENT, 30, dict.fromkeys(imported, 1))
    assert received("deliveries") == []


def test_an_audience_without_imported_people_costs_no_further_request(ses: Ses, monkeypatch) -> None:
    gather(120)
    delivery = started(ses)
    used: list[str] = []
    real = raw.dynamodb
    monkeypatch.setattr(raw, "dynamodb", lambda operation, body: used.append(operation) or real(operation, body))
    supervisor.tend(delivery)
    assert used == ["GetItem", "Scan", "TransactWriteItems", "Query"]
    (message,) = received("sending")
    used.clear()
    supervisor.drive(Order(**message), lambda: 60)
    assert now(delivery).state is DeliveryState.SENT
    # As many as before there were waves: to take it, read it, watch the plan, claim three batches and finish.
    assert used.count("Scan") == 1
    assert len(used) == 14, used


def test_without_waves_everybody_gets_it_at_once_and_is_a_reader_from_then_on(ses: Ses) -> None:
    people = gather(20) + gather_imported(100)
    detail = service.create(Draft("Hello", "<p>Hi</p>"))
    delivery = service.send_now(detail.campaign.id, waves=False).deliveries[0]
    assert work(delivery).state is DeliveryState.SENT
    assert each_once(ses, people)
    assert (set(ses.waves.values()), marked()) == ({0}, set())


def test_the_choice_is_remembered_with_a_schedule(ses: Ses) -> None:
    detail = service.create(Draft("Hello", "<p>Hi</p>"))
    at = clock.text(clock.now() + timedelta(hours=1))
    scheduled = service.schedule(detail.campaign.id, at, waves=False)
    assert not scheduled.deliveries[0].waves
    assert not service.send_now(detail.campaign.id, clock.now() + timedelta(hours=2)).deliveries[0].waves
    other = service.create(Draft("Hello", "<p>Hi</p>"))
    service.schedule(other.campaign.id, at, waves=False)
    assert service.schedule(other.campaign.id, at).deliveries[0].waves


def test_only_those_a_campaign_is_for_are_in_its_waves_and_others_keep_their_mark(ses: Ses) -> None:
    meant, others = gather_imported(60, tags={"news"}), gather_imported(10)
    ses.targeting = Targeting(tags=Terms(any=("news",)))
    delivery = started(ses)
    drive(delivery)
    assert wave(delivery).size == 50
    continuing.go_on(delivery.campaign_id, delivery.id)
    assert work(delivery).state is DeliveryState.SENT
    assert each_once(ses, meant)
    assert marked() == set(others)


@pytest.mark.parametrize(
    ("bounced", "complained", "state"),
    [(1, 0, WaveState.WAITING), (0, 1, WaveState.WAITING), (2, 0, WaveState.STOPPED), (0, 2, WaveState.STOPPED)],
)
def test_two_bounces_or_complaints_stop_it_and_one_does_not(
    ses: Ses, later, bounced: int, complained: int, state: WaveState
) -> None:
    gather_imported(60)
    delivery = started(ses)
    drive(delivery)
    report(delivery, 1, bounces_of=bounced, complaints=complained)
    assert wave(delivery).state is state
    assert (wave(delivery).bounced, wave(delivery).complained) == (bounced, complained)
    later()
    drive(delivery)
    assert len(ses.got) == (50 if state is WaveState.STOPPED else 60)


def test_below_two_percent_it_goes_on_by_itself(ses: Ses, later) -> None:
    gather_imported(260)
    delivery = started(ses)
    drive(delivery)
    later()
    drive(delivery)
    report(delivery, 2, bounces_of=3)
    assert wave(delivery).state is WaveState.WAITING
    report(delivery, 2, bounces_of=1, start=3)
    assert (wave(delivery).state, wave(delivery).next_at) == (WaveState.STOPPED, None)


def test_the_operator_is_told_once_and_an_editor_goes_on(ses: Ses, later, monkeypatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: told.append(text))
    people = gather_imported(60)
    delivery = started(ses)
    drive(delivery)
    report(delivery, 1, bounces_of=2)
    later()
    for _ in range(3):
        drive(delivery)
    (notice,) = told
    assert "2 bounces and 0 complaints in 50 emails" in notice
    assert wave(delivery).state is WaveState.STOPPED
    continuing.go_on(delivery.campaign_id, delivery.id)
    drive(delivery)
    assert now(delivery).state is DeliveryState.SENT
    assert each_once(ses, people)


def test_a_report_counts_once_and_only_for_its_wave(ses: Ses, later) -> None:
    gather_imported(300)
    delivery = started(ses)
    drive(delivery)
    later()
    drive(delivery)
    report(delivery, 1, bounces_of=1)
    report(delivery, 1, bounces_of=1)
    assert (wave(delivery).number, wave(delivery).bounced, wave(delivery).state) == (2, 0, WaveState.WAITING)
    report(delivery, 1, bounces_of=1, start=1)
    assert wave(delivery).state is WaveState.STOPPED, "late, and still too many of the first wave"


def test_what_an_editor_has_seen_does_not_stop_it_again_but_as_much_once_more_does(ses: Ses, later) -> None:
    gather_imported(300)
    delivery = started(ses)
    drive(delivery)
    report(delivery, 1, bounces_of=2)
    continuing.go_on(delivery.campaign_id, delivery.id)
    drive(delivery)
    later()
    report(delivery, 1, bounces_of=1, start=2)
    assert (wave(delivery).number, wave(delivery).state) == (2, WaveState.WAITING)
    report(delivery, 1, bounces_of=1, start=3)
    assert wave(delivery).state is WaveState.STOPPED


def test_a_wave_that_goes_wrong_is_stopped_in_the_middle_and_resumed(ses: Ses, small, later, monkeypatch) -> None:
    monkeypatch.setattr("chalicelib.campaigns.sending.worker._CHECK_SECONDS", -1)
    people = gather_imported(130)
    delivery = started(ses)
    for _ in range(2):
        drive(delivery)
        later()
    done = len(ses.got)
    assert done == 25

    def says(batch: Sequence[Recipient]) -> list[None]:
        if len(ses.got) == done + 5:
            report(delivery, 3, bounces_of=2)
        return [None] * len(batch)

    ses.says = says
    drive(delivery)
    assert (wave(delivery).number, wave(delivery).state) == (3, WaveState.STOPPED)
    assert len(ses.got) == done + 10
    drive(delivery)
    assert len(ses.got) == done + 10
    continuing.go_on(delivery.campaign_id, delivery.id, 3)
    drive(delivery)
    assert (wave(delivery).number, wave(delivery).state, wave(delivery).sent) == (3, WaveState.WAITING, 100)
    later()
    drive(delivery)
    assert now(delivery).state is DeliveryState.SENT
    assert each_once(ses, people)


def test_continuing_twice_starts_one_wave_and_is_refused_while_it_is_sent(ses: Ses) -> None:
    gather_imported(300)
    delivery = started(ses)
    with pytest.raises(Conflict):
        continuing.go_on(delivery.campaign_id, delivery.id)
    drive(delivery)
    continuing.go_on(delivery.campaign_id, delivery.id, 1)
    continuing.go_on(delivery.campaign_id, delivery.id, 1)
    with pytest.raises(Conflict):
        continuing.go_on(delivery.campaign_id, delivery.id)
    drive(delivery)
    assert (wave(delivery).number, wave(delivery).state, len(ses.got)) == (2, WaveState.WAITING, 250)


def test_stopping_between_waves_and_retrying_sends_to_everybody_once(ses: Ses, later) -> None:
    people = gather(10) + gather_imported(260)
    delivery = started(ses)
    drive(delivery)
    stopped = stopping.stop(delivery.campaign_id, delivery.id).delivery(delivery.id)
    assert stopped
    assert (stopped.state, stopped.error_detail, sums(stopped)) == (DeliveryState.FAILED, STOPPED, (60, 60, 0, 0))
    with pytest.raises(Conflict):
        continuing.go_on(delivery.campaign_id, delivery.id)
    later()
    drive(delivery)
    assert len(ses.got) == 60
    deliveries.retry(delivery.campaign_id, delivery.id)
    for _ in range(3):
        drive(delivery)
        later()
    assert (now(delivery).state, sums(now(delivery))) == (DeliveryState.SENT, (270, 270, 0, 0))
    assert each_once(ses, people)


def test_the_limits_still_hold_it_after_a_stop_and_a_retry(ses: Ses, later) -> None:
    gather_imported(60)
    delivery = started(ses)
    drive(delivery)
    report(delivery, 1, bounces_of=2)
    drive(delivery)
    stopping.stop(delivery.campaign_id, delivery.id)
    deliveries.retry(delivery.campaign_id, delivery.id)
    later()
    drive(delivery)
    assert (wave(delivery).state, len(ses.got)) == (WaveState.STOPPED, 50)


def test_who_leaves_or_is_mailed_by_another_campaign_between_waves(ses: Ses, later) -> None:
    people = gather_imported(260)
    delivery = started(ses)
    drive(delivery)
    for id in people[50:60]:
        leave(id)
    other = service.send_now(service.create(Draft("Other", "<p>Hi</p>")).campaign.id, waves=False).deliveries[0]
    mine, ses.got = ses.got, {}
    work(other)
    assert each_once(ses, people[:50] + people[60:])
    assert marked() == set()
    ses.got = mine
    for _ in range(3):
        later()
        drive(delivery)
    assert now(delivery).state is DeliveryState.SENT
    assert each_once(ses, people[:50] + people[60:])


def test_who_is_imported_while_it_is_sent_gets_the_next_campaign(ses: Ses, later) -> None:
    people = gather_imported(60)
    delivery = started(ses)
    drive(delivery)
    gather_imported(5, activated_at=clock.now() + timedelta(seconds=1))
    later()
    drive(delivery)
    assert each_once(ses, people)


def test_a_mark_nobody_can_read_is_treated_as_the_oldest(ses: Ses) -> None:
    newer = gather_imported(50)
    (strange,) = gather(1)
    mark(strange, "yes")
    delivery = started(ses)
    drive(delivery)
    assert set(ses.got) == set(newer)


@pytest.mark.parametrize("mixed", [0, 300])
def test_a_worker_that_dies_while_setting_aside_leaves_nobody_out(ses: Ses, monkeypatch, later, mixed: int) -> None:
    """Killed at each write of the segment; the marks are gone by the time the next worker reads on."""
    monkeypatch.setattr("chalicelib.campaigns.sending.worker._ENOUGH_FOR_A_LIST", 60)
    imported = gather_imported(300)
    readers = gather(mixed)
    delivery = started(ses)
    real, saved, deaths = part_store.save, wave_store.save_with_list, [0]

    def dying(save):
        def die_after(*arguments, **options):
            result = save(*arguments, **options)
            deaths[0] += 1
            if deaths[0] < 30 and deaths[0] % 3 == 1:
                raise Killed
            return result

        return die_after

    monkeypatch.setattr(part_store, "save", dying(real))
    monkeypatch.setattr(wave_store, "save_with_list", dying(saved))
    for _ in range(60):
        with suppress(Killed):
            supervisor.tend(now(delivery))
        for message in received("sending"):
            with suppress(Killed):
                supervisor.drive(Order(**message), lambda: 60)
        with monkeypatch.context() as alive:
            alive.setattr(part_store, "save", real)
            wake_all(delivery)
        later()
        if now(delivery).state is not DeliveryState.SENDING:
            break
    over = now(delivery)
    assert over.state is DeliveryState.FAILED, "some batches are unknown"
    recipients, sent, failed, unknown = sums(over)
    assert (recipients, failed) == (300 + mixed, 0)
    assert sent + unknown == recipients
    assert unknown
    assert set(ses.got.values()) == {1}
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert work(delivery).state is DeliveryState.SENT
    assert set(ses.got) == set(imported + readers)
    assert sum(ses.got.values()) - len(ses.got) <= unknown, "again only to those who may not have got it"


def test_a_supervisor_that_dies_while_cutting_is_replaced_by_one_that_cuts_the_same(
    ses: Ses, monkeypatch, later
) -> None:
    people = gather_imported(300)
    delivery = started(ses)
    real, written = wave_store.write_list, []

    def dying(delivery_id: str, part: str, people: Sequence[str]) -> None:
        real(delivery_id, part, people)
        written.append(part)
        if len(written) in (1, 3):
            raise Killed

    monkeypatch.setattr(wave_store, "write_list", dying)
    for _ in range(4):
        try:
            drive(delivery)
        except Killed:
            wake_all(delivery)
    assert wave(delivery).size == 50
    for _ in range(3):
        later()
        drive(delivery)
    assert now(delivery).state is DeliveryState.SENT
    assert each_once(ses, people)


def test_unknown_emails_of_a_wave_are_retried_in_their_wave(ses: Ses, later) -> None:
    people = gather_imported(60)
    delivery = started(ses)

    def says(batch: Sequence[Recipient]) -> list[None]:
        if ses.batches == 1:
            raise Killed
        return [None] * len(batch)

    ses.says = says
    with pytest.raises(Killed):
        drive(delivery)
    wake_all(delivery)
    for _ in range(3):
        drive(delivery)
        later()
    assert (now(delivery).state, sums(now(delivery))) == (DeliveryState.FAILED, (60, 10, 0, 50))
    deliveries.retry(delivery.campaign_id, delivery.id)
    drive(delivery)
    assert (now(delivery).state, ses.waves[people[0]]) == (DeliveryState.SENT, 1)
    assert each_once(ses, people)


def test_a_late_twin_neither_opens_a_wave_again_nor_writes_its_list_anew(ses: Ses) -> None:
    gather_imported(60)
    delivery = started(ses)
    supervisor.tend(delivery)
    for message in received("sending"):
        supervisor.drive(Order(**message), lambda: 60)
    plan, found = part_store.view(delivery.id)
    assert plan
    assert plan.waves
    before = wave_store.read_list(delivery.id, "w2/0")
    old = type(plan)(plan.delivery_id)
    wave_store.write_list(delivery.id, "w2/0", [ids.new()])
    assert wave_store.read_list(delivery.id, "w2/0") == before
    assert not wave_store.change(old, waves.Waves((50, 10)))
    assert part_store.list_parts(delivery.id) == found


def test_the_sizes_of_waves() -> None:
    assert waves.sizes(0) == ()
    assert waves.sizes(50) == (50,)
    assert waves.sizes(51) == (50, 1)
    assert waves.sizes(500_000) == (50, 200, 1_000, 498_750)
    assert sum(waves.sizes(4_000_000)) == 4_000_000
    lists = waves.lists([str(number) for number in range(498_750)])
    assert (len(lists), max(map(len, lists))) == (25, 20_000)
    assert max(waves.count_lists(size) for size in waves.sizes(4_000_000)) <= 90
