"""Tags changed on everybody: who has which afterwards, in slices, by twins, and what else follows."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import editing, survey
from chalicelib.audience import jobs as audience_jobs
from chalicelib.audience.editing import Edits
from chalicelib.audience.stores import imported
from chalicelib.audience.tags import jobs, model, service, store
from chalicelib.audience.tags.model import State, Step
from chalicelib.campaigns import segments, versions
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts, DeliveryState, Targeting, Terms
from chalicelib.campaigns.model import State as CampaignState
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.errors import Conflict
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, write
from tests.rooms.campaigns.examples import soon

pytestmark = pytest.mark.usefixtures("app_loaded")


@pytest.fixture
def app_loaded(http: Any) -> None:
    """`app.py` names who keeps the aims."""


def start(action: str = "rename", tags: Any = ("tea",), to: str | None = "chai") -> str:
    return service.start(model.check_change(action, list(tags), to)).id


def finish(job_id: str) -> model.Job:
    for _ in range(100):
        messages = [message for message in received("feed") if message["kind"] == service.KIND]
        if not messages:
            break
        for message in messages:
            jobs.work(message["job_id"], lambda: True)
    return service.view(job_id)


def tags_of(people: list[str]) -> list[frozenset[str]]:
    found = {person.id: person.tags for person in imported.list_subscribers(people)}
    return [found[id] for id in people]


def aimed(aim: Targeting, scheduled: bool = False) -> str:
    id = campaigns.create(Draft("Hello", "<p>Hi</p>", targeting=aim)).campaign.id
    if scheduled:
        campaigns.schedule(id, soon())
    return id


def aim_of(campaign_id: str) -> Targeting:
    return campaigns.view(campaign_id).campaign.targeting


TEA = Targeting(tags=Terms(any=("tea",)))
CHAI = Targeting(tags=Terms(any=("chai",)))


def test_a_tag_is_renamed_on_everybody():
    readers = gather(60, tags={"tea", "x"})
    others = gather(5, tags={"x"})
    paused = gather(1, tags={"tea"}, paused_at=clock.text(clock.now()))
    nobody = gather(2)
    job = finish(start())
    assert (job.state, job.changed, job.error) == (State.DONE, 61, None)
    assert tags_of(readers) == [{"chai", "x"}] * 60
    assert tags_of([*others, *paused, *nobody]) == [{"x"}] * 5 + [{"chai"}] + [set()] * 2
    assert survey.take().tags == {"chai": 61, "x": 65}


def test_tags_that_an_editor_gave_to_somebody_pending_are_renamed_as_well():
    people = gather(2, status="pending", tags={"tea"})
    job = finish(start())
    assert (job.state, job.changed) == (State.DONE, 2)
    assert tags_of(people) == [{"chai"}] * 2
    assert job.done <= job.people  # it says how far it is


def test_tags_are_merged_and_removed():
    people = [*gather(1, tags={"a"}), *gather(1, tags={"a", "b"}), *gather(1, tags={"c"}), *gather(1, tags={"z"})]
    assert finish(start("merge", ["a", "b", "c"], "c")).changed == 2
    assert tags_of(people) == [{"c"}, {"c"}, {"c"}, {"z"}]
    assert finish(start("remove", ["c"], None)).changed == 3
    assert tags_of(people) == [set(), set(), set(), {"z"}]


def test_with_nobody_it_is_done_at_once():
    job = finish(start())
    assert (job.state, job.changed, job.reading) == (State.DONE, 0, 1)


def test_it_goes_on_in_slices(monkeypatch):
    monkeypatch.setattr(jobs, "_ROWS", 10)
    people = gather(55, tags={"tea"})
    job_id = start()
    slices = 0
    while messages := received("feed"):
        jobs.work(messages[0]["job_id"], lambda: False)
        slices += 1
    job = service.view(job_id)
    assert slices > 6
    assert (job.state, job.changed, job.reading) == (State.DONE, 55, 2)
    assert tags_of(people) == [{"chai"}] * 55


def test_a_twin_and_a_message_that_comes_twice_change_nothing_twice(monkeypatch):
    monkeypatch.setattr(jobs, "_ROWS", 10)
    gather(40, tags={"tea"})
    job_id = start()
    (message,) = received("feed")
    read_page = store.read_page
    twins: list[str] = []

    def and_a_twin(*args: Any) -> Any:
        page = read_page(*args)
        if len(twins) < 3:
            twins.append("one")
            jobs.work(job_id, lambda: False)  # it takes over in the middle of our page
        return page

    monkeypatch.setattr(store, "read_page", and_a_twin)
    jobs.work(message["job_id"], lambda: True)
    jobs.work(message["job_id"], lambda: True)
    job = finish(job_id)
    assert (job.state, job.changed) == (State.DONE, 40)
    jobs.work(job_id, lambda: True)
    assert service.view(job_id) == job


def test_who_is_edited_or_leaves_meanwhile_is_decided_again(monkeypatch):
    people = gather(3, tags={"tea"})
    once: list[str] = []
    transact = jobs.tables.transact

    def meanwhile(*writes: Any) -> None:
        if not once:
            once.append("done")
            editing.change(people[0], Edits(tags=frozenset({"tea", "new"})))
            editing.change(people[1], Edits(tags=frozenset({"new"})))
            from tests.rooms.campaigns.crowd import leave

            leave(people[2])
        transact(*writes)

    job_id = start()
    monkeypatch.setattr(jobs.tables, "transact", meanwhile)
    assert finish(job_id).changed == 1
    assert tags_of(people[:2]) == [{"chai", "new"}, {"new"}]


def test_who_joins_with_the_old_tag_while_it_runs_is_found_by_the_next_reading(monkeypatch):
    monkeypatch.setattr(jobs, "_ROWS", 5)
    gather(12, tags={"tea"})
    job_id = start()
    late: list[str] = []
    while messages := received("feed"):
        jobs.work(messages[0]["job_id"], lambda: False)
        if service.view(job_id).reading == 1:
            late += gather(1, tags={"tea"})
    assert service.view(job_id).state is State.DONE
    assert tags_of(late) == [{"chai"}] * len(late)


def test_one_job_at_a_time():
    job_id = start()
    with pytest.raises(Conflict, match="already"):
        start("remove", ["x"], None)
    finish(job_id)
    finish(start("remove", ["x"], None))


def test_a_job_that_gets_nowhere_fails_and_makes_room(monkeypatch):
    def broken(*_: Any) -> Any:
        raise RuntimeError

    job_id = start()
    received("feed")
    monkeypatch.setattr(store, "read_page", broken)
    for _ in range(jobs._MOST_TRIES):
        with pytest.raises(RuntimeError):
            jobs.work(job_id, lambda: True)
    jobs.work(job_id, lambda: True)
    job = service.view(job_id)
    assert (job.state, job.error) == (State.FAILED, jobs._STUCK)
    assert store.find_running() is None


def test_a_forgotten_job_is_woken(monkeypatch):
    job_id = start()
    received("feed")
    assert jobs.sweep() == 0
    later = clock.now() + timedelta(minutes=16)
    monkeypatch.setattr(clock, "now", lambda: later)
    audience_jobs.clean_up(lambda: True)
    assert finish(job_id).state is State.DONE
    assert jobs.sweep() == 0


def test_an_import_can_still_be_undone():
    (id,) = gather(1, tags={"tea"}, import_id=ids.new(), sources={"list"})
    (person,) = imported.list_subscribers([id])
    row = {
        "id": id,
        "email": person.email,
        "status": "activated",
        "unsubscribe_secret": "s" * 32,
        "created_at": clock.text(person.created_at),
        "activated_at": clock.text(person.created_at),
        "tags": {"tea"},
        "sources": {"list"},
        "import_id": person.import_id,
        "imported_as": person.fingerprint,
    }
    write("subscribers", [row])
    finish(start())
    (after,) = imported.list_subscribers([id])
    assert after.tags == {"chai"}
    assert after.is_as_imported


def test_drafts_scheduled_campaigns_and_segments_follow():
    aim = Targeting(tags=Terms(any=("tea", "x"), all=("y",), none=("chai",)), sources=Terms(any=("tea",)))
    draft, scheduled, other = aimed(aim), aimed(TEA, scheduled=True), aimed(Targeting(tags=Terms(any=("x",))))
    segment = segments.create("Tea", TEA)
    version = campaigns.view(other).campaign.version
    finish(start("merge", ["tea", "y"], "z"))
    expected = Targeting(tags=Terms(any=("z", "x"), all=("z",), none=("chai",)), sources=Terms(any=("tea",)))
    assert aim_of(draft) == expected
    assert aim_of(scheduled) == Targeting(tags=Terms(any=("z",)))
    assert campaigns.view(scheduled).campaign.state is CampaignState.SCHEDULED
    assert segments.view(segment.id).targeting == Targeting(tags=Terms(any=("z",)))
    assert campaigns.view(other).campaign.version == version


def test_a_version_that_is_brought_back_has_the_new_names():
    """An old name would keep nobody out any more."""
    id = aimed(Targeting(tags=Terms(any=("milk",), none=("tea",))))
    campaigns.update(id, {"targeting": Targeting()}, {})
    finish(start())
    finish(start("merge", ["chai", "coffee"], "drinks"))
    campaigns.update(id, {"subject": "Other"}, {})
    versions.restore(id, 1)
    assert aim_of(id).tags == Terms(any=("milk",), none=("drinks",))


def test_a_sent_campaign_stays_as_it_was_and_one_that_can_be_retried_follows():
    sent, failed = aimed(TEA), aimed(TEA)
    for id, counts, error in ((sent, Counts(3, 3), None), (failed, Counts(3, 1), "Sending is paused in SES")):
        deliveries.finish(campaigns.send_now(id).deliveries[0], counts, error)
    finish(start())
    assert (aim_of(sent), aim_of(failed)) == (TEA, CHAI)
    assert campaigns.view(failed).deliveries[0].state is DeliveryState.FAILED


def test_no_tags_are_changed_while_a_campaign_reads_who_has_them():
    id = aimed(TEA)
    delivery = campaigns.send_now(id).deliveries[0]
    with pytest.raises(Conflict, match="being sent"):
        start()
    with pytest.raises(Conflict, match="being sent"):
        start("rename", ["x"], "tea")
    finish(start("rename", ["x"], "y"))
    deliveries.finish(delivery, Counts(0))
    assert finish(start()).state is State.DONE


def test_a_campaign_for_these_tags_does_not_start_meanwhile():
    scheduled, everybody, other = aimed(TEA, True), aimed(Targeting()), aimed(Targeting(tags=Terms(none=("x",))))
    job_id = start()
    with pytest.raises(Conflict, match="being changed"):
        campaigns.send_now(scheduled)
    assert campaigns.start_due(clock.now() + timedelta(hours=3)) == []
    assert campaigns.view(scheduled).campaign.state is CampaignState.SCHEDULED
    campaigns.send_now(everybody)
    campaigns.send_now(other)
    finish(job_id)
    (started,) = campaigns.start_due(clock.now() + timedelta(hours=3))
    assert started.campaign.targeting == CHAI


def test_a_delivery_for_these_tags_is_not_retried_meanwhile():
    id = aimed(TEA)
    delivery = campaigns.send_now(id).deliveries[0]
    deliveries.finish(delivery, Counts(3, 1), "Sending is paused in SES")
    job_id = start()
    with pytest.raises(Conflict, match="being changed"):
        deliveries.retry(id, delivery.id)
    finish(job_id)
    deliveries.retry(id, delivery.id)


def test_a_campaign_that_started_at_the_same_moment_ends_the_job():
    """The check before the lock saw nothing, the one after it does."""
    id = aimed(TEA)
    check, keeper = service.keeper().check, service.keeper()
    try:
        keeper.check = lambda change: None  # type: ignore[method-assign]
        campaigns.send_now(id)
        job_id = start()
    finally:
        keeper.check = check  # type: ignore[method-assign]
    job = finish(job_id)
    assert (job.state, job.step, job.changed) == (State.FAILED, Step.BEGIN, 0)
    assert job.error
    assert "being sent" in job.error
    assert store.find_running() is None


def test_removing_a_tag_never_widens_a_campaign():
    draft = aimed(TEA)
    segment = segments.create("No tea", Targeting(tags=Terms(none=("tea",))))
    people = gather(2, tags={"tea"})
    finish(start("remove", ["tea"], None))
    assert tags_of(people) == [set()] * 2
    assert aim_of(draft) == TEA
    assert segments.view(segment.id).targeting.tags.none == ("tea",)


@pytest.mark.parametrize("terms", [Terms(any=("tea",)), Terms(all=("x", "tea")), Terms(any=("tea", "milk"))])
def test_a_tag_that_a_scheduled_campaign_needs_is_not_removed(terms):
    aimed(Targeting(tags=terms), scheduled=True)
    with pytest.raises(Conflict, match="scheduled"):
        start("remove", ["tea", "milk"], None)
    assert service.list_recent() == []


def test_a_scheduled_campaign_that_reaches_others_too_keeps_nobody_from_removing():
    aimed(Targeting(tags=Terms(any=("tea", "x"), none=("milk",))), scheduled=True)
    assert finish(start("remove", ["tea", "milk"], None)).state is State.DONE


def test_tags_that_a_segment_tells_apart_are_not_merged():
    segments.create("Tea without milk", Targeting(tags=Terms(any=("tea",), none=("milk",))))
    with pytest.raises(Conflict, match="change it first"):
        start("merge", ["tea", "milk"], "drinks")
    with pytest.raises(Conflict, match="change it first"):
        start("rename", ["tea"], "milk")
    finish(start())
