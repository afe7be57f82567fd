"""Finding what is new: by id, once for everybody who follows, whatever comes in between."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from chalicelib.following import asking, jobs, messages, model, polling
from chalicelib.following.model import Cause
from chalicelib.following.polling import Result
from chalicelib.following.stores import creators, polls
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received
from tests.rooms.following.conftest import ALLOTMENT, COMPOST, HEDGE, MEND


@pytest.fixture
def following(desk):
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.forget_calls()
    return desk


def creator_of(desk):
    found = creators.find(desk.followed["creator_id"])
    assert found
    return found


def units(desk):
    return desk.providers.calls()["units"]


def test_what_is_published_arrives_and_the_newest_is_on_top(following, later, sweep):
    for title in ("One", "Two", "Three"):
        following.providers.publish(ALLOTMENT, title)
        following.providers.advance(60)
    later(days=1)
    sweep()
    assert following.titles() == ["Three", "Two", "One", "Sowing broad beans too early"]
    assert all(entry["follow_id"] == following.followed["id"] for entry in following.inbox())


def test_a_scheduled_video_that_surfaces_below_older_ones_is_found_once(following, later, sweep):
    hour = 3_600
    at = clock.now().timestamp() + hour
    following.providers.publish(ALLOTMENT, "Scheduled", "scheduled", at=at)
    for number in range(5):
        following.providers.publish(ALLOTMENT, f"Uploaded later {number}")
    later(minutes=30)
    following.act(following.followed, "sync")
    assert "Scheduled" not in following.titles()
    for _ in range(3):
        later(days=1)
        sweep()
    assert following.titles().count("Scheduled") == 1
    assert len(following.titles()) == 7


def test_a_video_that_was_renamed_is_no_new_one(following, later, sweep):
    video = following.providers.publish(ALLOTMENT, "First title")
    later(days=1)
    sweep()
    following.providers.change(video, title="Second title")
    later(days=1)
    sweep()
    assert len(following.titles()) == 2


def test_an_old_one_that_comes_back_into_view_is_not_new(desk, later, sweep):
    videos = [
        desk.providers.publish(HEDGE, f"Old {number}", at=clock.now().timestamp() - 86_400 * (90 - number))
        for number in range(60)
    ]
    desk.follow("YOUTUBE", HEDGE)
    before = desk.titles()
    for video in videos[-5:]:
        desk.providers.delete(video)
    later(days=2)
    sweep()
    assert desk.titles() == before


def test_one_that_was_hidden_and_is_shown_again_is_not_new(following, later, sweep):
    video = following.providers.publish(ALLOTMENT, "Now you see me")
    later(days=1)
    sweep()
    for public in (False, True):
        following.providers.change(video, public=public)
        later(days=1)
        sweep()
    assert following.titles().count("Now you see me") == 1


def test_many_new_ones_at_once_all_arrive(following, later, sweep):
    for number in range(15):
        following.providers.publish(ALLOTMENT, f"Of many {number}")
    later(days=1)
    sweep()
    assert len(following.titles()) == 16


def test_a_poll_without_news_costs_one_unit_and_one_with_news_two(following, later, sweep):
    later(days=1)
    sweep()
    assert units(following) == 1
    following.providers.publish(ALLOTMENT, "News")
    following.providers.forget_calls()
    later(days=1)
    sweep()
    assert units(following) == 2


def test_two_who_follow_one_channel_cost_one_poll_and_get_one_entry_each(following, member, later, sweep):
    ada, bob = member("ada"), member("bob")
    for owner in (ada, bob):
        owner.follow("YOUTUBE", ALLOTMENT)
    sweep()
    following.providers.publish(ALLOTMENT, "For all")
    following.providers.forget_calls()
    later(days=1)
    assert sweep() == 1
    assert units(following) == 2
    assert [owner.titles().count("For all") for owner in (following, ada, bob)] == [1, 1, 1]


def test_a_sweep_obeys_when_the_next_poll_is_due(following, later, sweep):
    for _ in range(5):
        assert sweep() == 0
        later(seconds=1)
    later(hours=3.5)
    assert sweep() == 0
    later(hours=1)
    assert sweep() == 1
    assert sweep() == 0


def test_each_of_a_sweeps_messages_names_ids_only(following, later):
    later(days=1)
    jobs.sweep()
    (message,) = received("feed")
    assert set(message) == {"kind", "creator", "due"}
    assert message["creator"] == following.followed["creator_id"]


def test_a_thousand_due_creators_are_spread_at_the_rate_of_their_provider(aws, monkeypatch):
    due = [creators.Due(f"{number:032x}", "2026-11-17T00:00:00.000Z") for number in range(1000)]
    sent = []
    monkeypatch.setattr(creators, "list_due", lambda provider, *_, **__: due if provider is Provider.SPOTIFY else [])
    monkeypatch.setattr(jobs.queues, "send_many", lambda queue, messages: sent.extend(messages))
    jobs.sweep()
    assert [message["creator"] for message, _ in sent] == [one.id for one in due]
    assert [delay for _, delay in sent] == [place // 2 for place in range(1000)]


def test_a_sweep_takes_what_fits_before_the_next_one(aws, providers, monkeypatch):
    asked = {}
    monkeypatch.setattr(creators, "list_due", lambda provider, now, most: asked.update({provider: most}) or [])
    jobs.sweep()
    assert asked == {Provider.YOUTUBE: 9_000, Provider.SPOTIFY: 1_800, Provider.RSS: 9_000}


def test_a_message_that_is_lost_costs_one_sweep(following, later, sweep):
    following.providers.publish(ALLOTMENT, "Not lost")
    later(days=1)
    jobs.sweep()
    received("feed")
    later(minutes=15)
    sweep()
    assert "Not lost" in following.titles()


def test_a_twin_of_a_message_polls_nothing(following, later, work):
    later(days=1)
    jobs.sweep()
    (message,) = received("feed")
    following.providers.forget_calls()
    for _ in range(3):
        jobs.handle(message, lambda: True)
    assert units(following) == 1


def test_a_message_that_comes_after_another_poll_does_nothing(following, later):
    later(days=1)
    jobs.sweep()
    (message,) = received("feed")
    following.act(following.followed, "sync")
    following.providers.forget_calls()
    jobs.handle(message, lambda: True)
    assert units(following) == 0


def test_one_worker_at_a_time_polls_a_creator(following, later, monkeypatch):
    later(days=1)
    outcomes, real = [], asking.ask

    def meanwhile(*arguments):
        outcomes.append(polling.poll(following.followed["creator_id"], Cause.SCHEDULE).result)
        return real(*arguments)

    monkeypatch.setattr(asking, "ask", meanwhile)
    assert polling.poll(following.followed["creator_id"], Cause.SCHEDULE).result is Result.POLLED
    assert outcomes == [Result.SKIPPED]


def test_twins_in_two_threads_make_one_entry(following, later):
    following.providers.publish(ALLOTMENT, "For one")
    later(days=1)
    with ThreadPoolExecutor(3) as workers:
        list(workers.map(lambda _: polling.poll(following.followed["creator_id"], Cause.SCHEDULE), range(3)))
    assert following.titles().count("For one") == 1


def test_a_creator_whose_poller_died_is_due_when_its_lease_ends(following, later, sweep):
    following.providers.publish(ALLOTMENT, "After the death")
    later(days=1)
    assert polls.claim(following.followed["creator_id"], clock.now())
    assert sweep() == 0
    later(seconds=polls.LEASE.total_seconds() + 1)
    assert sweep() == 1
    assert "After the death" in following.titles()


def test_whoever_begins_to_follow_during_a_poll_is_served_by_the_next(following, member, later, monkeypatch, sweep):
    ada, real = member("ada"), polling._deliver

    def meanwhile(*arguments):
        monkeypatch.setattr(polling, "_deliver", real)
        ada.follow("YOUTUBE", ALLOTMENT)
        return real(*arguments)

    following.providers.publish(ALLOTMENT, "In between")
    later(days=1)
    monkeypatch.setattr(polling, "_deliver", meanwhile)
    polling.poll(following.followed["creator_id"], Cause.SCHEDULE)
    sweep()
    assert ada.titles() == ["In between"]


def test_a_creator_that_nobody_follows_any_more_is_not_polled(following, later, sweep):
    following.unfollow(following.followed)
    following.providers.publish(ALLOTMENT, "For nobody")
    following.providers.forget_calls()
    for _ in range(3):
        later(days=1)
        sweep()
    assert units(following) == 0
    assert not creator_of(following).is_polled


def test_what_the_provider_says_about_the_channel_is_refreshed_within_the_month(following, later, sweep):
    for _ in range(2):
        later(days=13)
        sweep()
    assert following.providers.calls()["youtube"]["GET /youtube/v3/channels"] == 1
    assert creator_of(following).refreshed_at > clock.now() - timedelta(days=2)


def test_hurrying_is_only_hurrying(following, monkeypatch):
    """If the queue does not take it, the next sweep finds it."""

    def down(*_):
        raise Unavailable("The queue is busy")

    monkeypatch.setattr(messages.queues, "send", down)
    following.act(following.followed, "pause")
    assert following.act(following.followed, "resume").status == 200
    assert [due.id for due in creators.list_due(Provider.YOUTUBE, clock.now(), 10)] == [creator_of(following).id]


def test_every_creator_has_a_time_of_its_own(desk, later, sweep):
    follows = [desk.follow("YOUTUBE", channel) for channel in (ALLOTMENT, HEDGE, MEND, COMPOST)]
    later(days=2)
    sweep()
    found = [creators.find(follow["creator_id"]) for follow in follows]
    assert len({creator.next_poll_at - creator.last_polled_at for creator in found}) == 4
    for creator in found:
        share = (creator.next_poll_at - creator.last_polled_at) / timedelta(seconds=creator.interval_seconds)
        assert 0.9 <= share <= 1.1


def test_the_same_channel_is_one_creator_whoever_follows_it():
    assert model.creator_id(Provider.YOUTUBE, ALLOTMENT) == model.creator_id(Provider.YOUTUBE, ALLOTMENT)
    assert model.creator_id(Provider.YOUTUBE, ALLOTMENT) != model.creator_id(Provider.RSS, ALLOTMENT)
