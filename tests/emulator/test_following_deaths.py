"""A process killed at every step of what this room does: whatever it had done, the same work done again ends as if
nothing had happened. Nothing is lost, nothing comes twice, and nobody has to repair anything."""

from itertools import count
from typing import Any

import pytest

from chalicelib.following import jobs, service
from chalicelib.following.stores.followers import FollowerRow
from chalicelib.following.stores.follows import FollowRow
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, settings
from local.emulator import Emulator
from local.providers.catalogue import CHANNELS
from local.providers.main import Providers
from tests.emulator.dying import SETTLED_SECONDS
from tests.emulator.following import (
    assert_consistent,
    assert_settled,
    count_events,
    due,
    entries,
    has_seen,
    item_id,
)
from tests.rooms.following.conftest import Owner

CHANNEL = CHANNELS[0].id


def test_a_poll_killed_at_any_step_is_made_up_for(
    desk: Owner, member: Any, dying: Any, later: Any, recover: Any, providers: Providers
) -> None:
    ada, bob = member("ada"), member("bob")
    follow = desk.follow("YOUTUBE", CHANNEL)
    ada.follow("YOUTUBE", CHANNEL)
    bob.set_options(bob.follow("YOUTUBE", CHANNEL), newest_only=True)
    videos: list[str] = []
    for steps in count():
        videos.append(providers.publish(CHANNEL, f"Life {steps}, first"))
        later(minutes=30)
        videos.append(providers.publish(CHANNEL, f"Life {steps}, second"))
        later(hours=4.5)
        ended = dying(steps, "handle", due(follow["creator_id"]))
        if ended == "killed":
            recover()
        titles = [f"Life {life}, {part}" for life in reversed(range(steps + 1)) for part in ("second", "first")]
        assert desk.titles()[:-1] == ada.titles()[:-1] == titles
        assert bob.titles() == [f"Life {steps}, second"], "only the newest"
        assert has_seen(follow["creator_id"], videos)
        assert_settled(follow["creator_id"])
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 15
    assert {id: n for id, n in count_events().items() if n > 1} == {}
    assert set(map(item_id, videos)) < set(count_events())
    assert_consistent()


def test_beginning_to_follow_killed_at_any_step_ends_with_the_latest_item(
    emulator: Emulator, dying: Any, recover: Any, providers: Providers
) -> None:
    """The first poll is part of the request, and here it is the first there ever was."""
    video = providers.publish(CHANNEL, "The latest")
    for steps in count():
        emulator.empty(settings.current().prefix)
        ended = dying(steps, "follow", DESK, "YOUTUBE", CHANNEL)
        if ended == "killed":
            recover()
        followed = [row.creator_id for row in FollowRow.scan()]
        assert entries(DESK) == ({item_id(video): "INBOX"} if followed else {})
        assert count_events() == ({item_id(video): 1} if followed else {})
        assert_consistent()
        for creator_id in followed:
            assert_settled(creator_id)
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 15
    assert followed


def test_following_what_others_follow_killed_at_any_step_ends_with_the_latest_item(
    desk: Owner, dying: Any, later: Any, recover: Any
) -> None:
    """First what a poll has just brought, then what has to be asked for anew. Each life is another owner's."""
    desk.follow("YOUTUBE", CHANNEL)
    [latest] = desk.inbox()
    for is_fresh in (True, False):
        for steps in count():
            if not is_fresh:
                later(hours=5)
            ended = dying(steps, "follow", f"{is_fresh} {steps}", "YOUTUBE", CHANNEL)
            if ended != "killed":
                break
        assert ended == "done"
        assert steps > 8
    recover()
    owners = {row.owner for row in FollowRow.scan()} - {DESK}
    assert len(owners) > 10
    assert {owner: entries(owner) for owner in owners} == {owner: {latest["id"]: "INBOX"} for owner in owners}
    assert not [row for row in FollowerRow.scan(FollowerRow.part.startswith("follower ")) if row.is_new]
    assert_consistent()


def test_an_unfollow_killed_at_any_step_leaves_nothing_in_the_inbox(desk: Owner, dying: Any, work: Any) -> None:
    """Nobody does it again: what has begun to end is ended by the queue. Each life is another owner's."""
    desk.follow("YOUTUBE", CHANNEL)
    for steps in count():
        followed, _ = service.follow(f"{steps}", Provider.YOUTUBE, CHANNEL)
        ended = dying(steps, "unfollow", f"{steps}", followed.follow.id)
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 5
    ended_follows = {row.owner for row in FollowRow.scan() if row.status == "UNSUBSCRIBED"}
    assert len(ended_follows) > 2
    work.until(lambda: all(list(entries(life).values()) == [None] for life in ended_follows), 10 + SETTLED_SECONDS)
    assert_consistent()
    for life in map(str, range(steps + 1)):
        [state] = entries(life).values()
        assert state == (None if life in ended_follows else "INBOX")


def test_a_push_killed_at_any_step_is_made_up_for_when_it_comes_again(
    desk: Owner, member: Any, dying: Any, later: Any, providers: Providers
) -> None:
    """It tells of one video that is gone and makes us find another. The queue brings it again until it is done."""
    ada = member("ada")
    follow = desk.follow("YOUTUBE", CHANNEL)
    ada.follow("YOUTUBE", CHANNEL)
    old = ""
    for steps in count():
        later(hours=1)
        new = providers.publish(CHANNEL, f"Life {steps}")
        if old:
            providers.delete(old)
        deleted = [f"yt:video:{old}"] if old else []
        message = {"feed": follow["creator_id"], "deleted": deleted, "at": clock.text(clock.now())}
        ended = dying(steps, "handle", message)
        if ended == "killed":
            later(minutes=5)
            jobs.handle(message, lambda: True)
        assert desk.titles()[:1] == ada.titles()[:1] == [f"Life {steps}"]
        assert f"Life {steps - 1}" not in (*desk.titles(), *ada.titles())
        assert_settled(follow["creator_id"])
        old = new
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 12
    assert max(count_events().values()) == 1
    assert_consistent()


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_a_pause_and_its_end_killed_at_any_step_lose_nothing(
    desk: Owner, member: Any, dying: Any, later: Any, recover: Any, providers: Providers, act: str
) -> None:
    ada = member("ada")
    desk.follow("YOUTUBE", CHANNEL)
    follow = ada.follow("YOUTUBE", CHANNEL)
    for steps in count():
        if act == "resume":
            assert ada.act(follow, "pause").status == 200
        providers.publish(CHANNEL, f"Life {steps}")
        later(hours=5)
        recover()
        ended = dying(steps, act, ada.id, follow["id"])
        assert_consistent()
        assert ada.act(follow, "resume").status == 200, "again, or after all"
        recover()
        assert ada.titles() == desk.titles()
        assert len(ada.titles()) == steps + 2
        if ended != "killed":
            break
    assert ended == "done"
    assert steps >= 3
