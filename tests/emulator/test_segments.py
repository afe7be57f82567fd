"""Segments and tags on real conditions and transactions: two editors at once, a job that is killed and run twice, and
campaigns that want to start meanwhile."""

import random
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import editing, recipients, survey
from chalicelib.audience.editing import Edits
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.audience.tags import jobs, model, service, store
from chalicelib.audience.tags.model import State
from chalicelib.campaigns import segments
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts, Targeting, Terms
from chalicelib.campaigns.model import State as CampaignState
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import session, tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, leave
from tests.rooms.campaigns.examples import soon

TEA, CHAI = (Targeting(tags=Terms(any=(tag,))) for tag in ("tea", "chai"))


@pytest.fixture(autouse=True)
def _app(http: Any) -> None:
    """`app.py` names who keeps the aims; clients are made before any thread runs."""
    session.client("sqs")
    survey.take()


def start() -> str:
    job_id = service.start(model.check_change("rename", ["tea"], "chai")).id
    received("feed")
    return job_id


def test_of_four_who_save_the_same_name_at_once_one_does(together: Any) -> None:
    results = together(*[lambda name=name: segments.create(name, TEA) for name in ("Tea", "TEA", "tea", "tEa")])
    assert sum(not isinstance(result, Exception) for result in results) == 1
    assert all(isinstance(result, Conflict) for result in results if isinstance(result, Exception))
    assert len(segments.list_by_name()) == 1
    assert len(segments.store.find_names().ids) == 1


def test_there_are_never_more_than_fifty(together: Any) -> None:
    for number in range(segments.MOST - 1):
        segments.create(f"s{number}", TEA)
    results = together(*[lambda n=n: segments.create(f"t{n}", TEA) for n in range(4)])
    assert sum(not isinstance(result, Exception) for result in results) == 1
    assert len(segments.list_by_name()) == segments.MOST


def test_of_a_rename_and_a_deletion_at_once_no_name_stays_taken(together: Any) -> None:
    for _ in range(5):
        id = segments.create("Before", TEA).id
        together(lambda id=id: segments.change(id, "After", {}), lambda id=id: segments.delete(id))
        names = [segment.name.casefold() for segment in segments.list_by_name()]
        assert sorted(segments.store.find_names().ids) == names
        for segment in segments.list_by_name():
            segments.delete(segment.id)


class _Meanwhile:
    """What people and editors do until it is over."""

    def __init__(self, *acts: Callable[[], None]) -> None:
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._repeat, args=(act,)) for act in acts]
        self.failures: list[Exception] = []

    def __enter__(self) -> "_Meanwhile":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, act: Callable[[], None]) -> None:
        while not self._over.wait(0.02):
            try:
                act()
            except Exception as failure:
                self.failures.append(failure)


def _tags() -> dict[str, set[str]]:
    return {row.id: set(row.tags or ()) for row in tables.scan(SubscriberRow)}


def test_five_thousand_people_are_changed_once_killed_three_times_and_run_twice(dying: Any) -> None:
    everybody = gather(4_000, tags={"tea", "x"}) + gather(1_000, tags={"y"})
    chance = random.Random(4)
    leaving, editing_ids = (iter(chance.sample(everybody[part:4_000:2], 900)) for part in (0, 1))
    gone, edited, late = set[str](), set[str](), set[str]()

    def somebody_leaves() -> None:
        gone.add(id := next(leaving))
        leave(id)

    def somebody_is_edited() -> None:
        id = next(editing_ids)
        seen = editing.view(id)
        try:
            editing.change(id, Edits(tags=frozenset({*seen.entry.tags, "edited"})), seen.fingerprint)
            edited.add(id)
        except Conflict:
            return  # changed since it was read, as an editor is told

    def somebody_joins() -> None:
        late.update(gather(1, tags={"tea"}))

    job_id = start()
    with _Meanwhile(somebody_leaves, somebody_is_edited) as meanwhile:
        for steps in (15, 60, 120):
            assert dying(steps, "work_tags", job_id) == "killed"
            somebody_joins()
        twin = threading.Thread(target=dying, args=(10**9, "work_tags", job_id))
        twin.start()
        jobs.work(job_id, lambda: True)
        twin.join()
        if service.view(job_id).state is State.RUNNING:
            jobs.work(job_id, lambda: True)
    assert [failure for failure in meanwhile.failures if not isinstance(failure, NotFound | StopIteration)] == []
    job, tags = service.view(job_id), _tags()
    assert (job.state, job.error, store.find_running()) == (State.DONE, None, None)
    for id in everybody[:4_000]:
        if id not in gone:
            assert tags[id] == {"chai", "x"} | ({"edited"} if id in edited else set())
    assert all(tags[id] == {"chai"} for id in late)
    assert all(tags[id] == {"y"} for id in everybody[4_000:])
    renamed = sum("chai" in each for each in tags.values())
    assert renamed <= job.changed <= renamed + len(gone)


def test_every_person_is_counted_exactly_once(dying: Any) -> None:
    gather(400, tags={"tea"})
    job_id = start()
    for steps in (7, 9, 11, 14, 18):
        dying(steps, "work_tags", job_id)
    jobs.work(job_id, lambda: True)
    job = service.view(job_id)
    assert (job.state, job.changed) == (State.DONE, 400)
    assert recipients.count(CHAI.resolve("UTC"), clock.now()) == 400


def test_a_scheduled_campaign_starts_after_the_change_and_reaches_everybody(monkeypatch: Any) -> None:
    monkeypatch.setattr(jobs, "_ROWS", 50)
    gather(600, tags={"tea"})
    id = campaigns.create(Draft("Hello", "<p>Hi</p>", targeting=TEA)).campaign.id
    campaigns.schedule(id, soon(seconds=1))
    due = clock.now() + timedelta(seconds=2)
    job_id, started = start(), list[Any]()
    with _Meanwhile(lambda: started.extend(campaigns.start_due(due))) as meanwhile:
        jobs.work(job_id, lambda: True)
    assert meanwhile.failures == []
    started += campaigns.start_due(due)
    (detail,) = started
    assert service.view(job_id).state is State.DONE
    assert detail.campaign.targeting == CHAI
    assert recipients.count(detail.campaign.targeting.resolve("UTC"), clock.now()) == 600


def test_of_a_send_and_a_change_at_the_same_moment_one_waits(together: Any) -> None:
    gather(20, tags={"tea"})
    for tag in ("tea", "chai") * 3:
        other = {"tea": "chai", "chai": "tea"}[tag]
        aim = Targeting(tags=Terms(any=(tag,)))
        id = campaigns.create(Draft("Hello", "<p>Hi</p>", targeting=aim)).campaign.id
        change = model.check_change("rename", [tag], other)
        sent, job = together(lambda id=id: campaigns.send_now(id), lambda change=change: service.start(change))
        if not isinstance(job, Exception):
            jobs.work(job.id, lambda: True)
            job = service.view(job.id)
        campaign = campaigns.view(id).campaign
        is_sent = campaign.state is CampaignState.PUBLISHING
        is_changed = not isinstance(job, Exception) and job.state is State.DONE
        assert is_sent != is_changed, (sent, job)
        assert isinstance(sent, Conflict | Unavailable) != is_sent
        reached = recipients.count(campaign.targeting.resolve("UTC"), clock.now())
        assert (reached, store.find_running()) == (20, None)
        if is_sent:
            deliveries.finish(campaigns.view(id).deliveries[0], Counts(20, 20))
            jobs.work(service.start(change).id, lambda: True)
