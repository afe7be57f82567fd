"""Two of everything at once, for follows, polls, pushes and connections: whatever the order, the end is a state the
rules allow. Shown on the emulator, because moto loses updates under threads."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chalicelib.following import jobs, messages, polling, service
from chalicelib.following.model import Cause, Options
from chalicelib.following.polling import Result
from chalicelib.following.providers.registry import SOURCES
from chalicelib.following.stores import connections, counters, creators
from chalicelib.following.stores.connections import ConnectionRow, StateRow
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock
from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.emulator.dump import everything
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


@pytest.fixture
def token_only(providers: Providers, configure: Any) -> None:
    configure(YOUTUBE_API_KEY="")


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch, work: Any) -> Callable[[Callable[[], bool]], None]:
    """What is looked at again when no poll can be under way any more: after a second, here."""
    monkeypatch.setattr(messages, "_SETTLED_SECONDS", 1)
    return lambda condition: work.until(condition)  # type: ignore[no-any-return]


def results(answers: list[Any]) -> Counter[Any]:
    assert not [answer for answer in answers if isinstance(answer, Exception)], answers
    return Counter(getattr(answer, "result", getattr(answer, "status", None)) for answer in answers)


@pytest.mark.parametrize("turn", range(3))
def test_workers_that_poll_one_creator_poll_it_once(
    desk: Owner, member: Any, together: Any, later: Any, providers: Providers, turn: int
) -> None:
    follow = desk.follow("YOUTUBE", CHANNEL)
    member("ada").follow("YOUTUBE", CHANNEL)
    video = providers.publish(CHANNEL, "News")
    later(hours=25)
    providers.forget_calls()
    message = due(follow["creator_id"])
    answers = together(*[lambda: polling.poll(message["creator"], Cause.SCHEDULE, message["due"])] * 4)
    assert results(answers) == {Result.POLLED: 1, Result.SKIPPED: 3}
    assert providers.calls()["units"] == 2, "the playlist, and once what is new in it"
    assert desk.titles()[0] == "News"
    assert count_events()[item_id(video)] == 1
    assert polling.poll(message["creator"], Cause.SCHEDULE, message["due"]).result is Result.SKIPPED, "and late"
    assert_settled(follow["creator_id"])


@pytest.mark.parametrize("turn", range(4))
def test_three_pushes_a_poll_and_somebody_who_asks_make_one_entry(
    desk: Owner, member: Any, together: Any, later: Any, work: Any, providers: Providers, turn: int
) -> None:
    ada = member("ada")
    follow = desk.follow("YOUTUBE", CHANNEL)
    ada.follow("YOUTUBE", CHANNEL)
    videos = [providers.publish(CHANNEL, f"News {number}") for number in range(3)]
    later(hours=25)
    push = {"feed": follow["creator_id"], "deleted": [], "at": clock.text(clock.now())}
    poll = due(follow["creator_id"])
    handle = [partial(jobs.handle, message, lambda: True) for message in (push, push, push, poll)]
    together(*handle, lambda: ada.call("POST", f"follows/{ada.follows()[0]['id']}/sync"))
    for message in (push, poll):  # as the queue does with what nobody has done
        jobs.handle(message, lambda: True)
    assert sorted(desk.titles()[:3]) == sorted(ada.titles()[:3]) == ["News 0", "News 1", "News 2"]
    assert len(desk.titles()) == len(ada.titles()) == 4
    assert {count_events()[item_id(video)] for video in videos} == {1}
    assert has_seen(follow["creator_id"], videos)
    assert_settled(follow["creator_id"])


def test_a_push_that_comes_while_a_poll_is_under_way_is_not_lost(
    desk: Owner, providers: Providers, monkeypatch: pytest.MonkeyPatch, later: Any
) -> None:
    """The poll has asked before the video was there."""
    follow = desk.follow("YOUTUBE", CHANNEL)
    later(hours=25)
    pushes: list[Any] = []
    source = SOURCES[Provider.YOUTUBE]
    real = source.latest

    def asked_too_early(*given: Any) -> Any:
        page = real(*given)
        if not pushes:
            providers.publish(CHANNEL, "News")
            pushes.append({"feed": follow["creator_id"], "deleted": [], "at": clock.text(clock.now())})
            with pytest.raises(Exception, match="polled at this moment"):
                jobs.handle(pushes[0], lambda: True)
        return page

    monkeypatch.setattr(type(source), "latest", lambda self, *given: asked_too_early(*given))
    jobs.handle(due(follow["creator_id"]), lambda: True)
    assert desk.titles()[0] != "News"
    jobs.handle(pushes[0], lambda: True)
    assert desk.titles()[0] == "News"


def test_who_begins_to_follow_while_a_poll_is_under_way_misses_nothing(
    desk: Owner, member: Any, providers: Providers, monkeypatch: pytest.MonkeyPatch, later: Any, recover: Any
) -> None:
    """The poll does not know of them, and counts what it finds as seen; they are given what was stored before."""
    ada = member("ada")
    follow = desk.follow("YOUTUBE", CHANNEL)
    [latest] = desk.titles()
    source = SOURCES[Provider.YOUTUBE]
    real = source.latest

    def joined(*given: Any) -> Any:
        monkeypatch.setattr(type(source), "latest", lambda self, *given: real(*given))
        page = real(*given)
        ada.follow("YOUTUBE", CHANNEL)
        return page

    later(minutes=30)
    providers.publish(CHANNEL, "News")
    monkeypatch.setattr(type(source), "latest", lambda self, *given: joined(*given))
    assert polling.poll(follow["creator_id"], Cause.PUSH).delivered == {DESK: 1}
    assert ada.titles() == [latest]
    recover()
    assert ada.titles() == ["News", latest]
    recover()
    assert desk.titles() == ["News", latest]
    assert_consistent()


@pytest.mark.parametrize("turn", range(4))
def test_following_twice_at_once_makes_one_follow(
    desk: Owner, together: Any, recover: Any, providers: Providers, turn: int
) -> None:
    body = {"provider": "YOUTUBE", "provider_channel_id": CHANNEL}
    answers = together(*[lambda: desk.call("POST", "follows", json=body)] * 4)
    assert set(results(answers)) <= {200, 201}
    assert len({answer.json["id"] for answer in answers}) == 1
    recover()
    assert len(desk.titles()) == 1
    assert set(count_events().values()) == {1}
    assert_consistent()


@pytest.mark.parametrize("turn", range(4))
def test_an_unfollow_a_follow_and_a_poll_at_once(
    desk: Owner, member: Any, together: Any, later: Any, recover: Any, providers: Providers, turn: int, settle: Any
) -> None:
    """Whoever wins: either it is followed and has the item, or nothing of it is in the inbox."""
    ada = member("ada")
    desk.follow("YOUTUBE", CHANNEL)
    follow = ada.follow("YOUTUBE", CHANNEL)
    video = providers.publish(CHANNEL, "News")
    later(hours=25)
    message = due(follow["creator_id"])
    body = {"provider": "YOUTUBE", "provider_channel_id": CHANNEL}
    answers = together(
        lambda: ada.call("DELETE", f"follows/{follow['id']}"),
        lambda: ada.call("POST", "follows", json=body),
        lambda: jobs.handle(message, lambda: True),
    )
    assert [answer.status for answer in answers[:2]] in ([204, 200], [204, 201])
    recover()
    assert_consistent()
    assert desk.titles()[0] == "News"
    if ada.follows():
        assert ada.follows()[0]["id"] == follow["id"]
        assert item_id(video) in entries(ada.id)
    else:
        settle(lambda: ada.titles() == [])


def test_what_comes_by_a_follow_that_was_begun_again_stays(
    desk: Owner, later: Any, recover: Any, providers: Providers, settle: Any, work: Any
) -> None:
    """The message that clears up after the end of a follow comes minutes later, when there may be a new one."""
    follow = desk.follow("YOUTUBE", CHANNEL)
    assert desk.call("DELETE", f"follows/{follow['id']}").status == 204
    assert desk.titles() == []
    later(minutes=1)
    assert desk.follow("YOUTUBE", CHANNEL)["id"] == follow["id"]
    providers.publish(CHANNEL, "News")
    recover()
    assert desk.titles() == ["News"]
    jobs.handle({"kind": "forget", "owner": DESK, "follow": follow["id"]}, lambda: True)
    assert desk.titles() == ["News"]


@pytest.mark.parametrize("turn", range(4))
def test_pausing_resuming_and_changing_options_at_once_with_a_poll(
    desk: Owner, member: Any, together: Any, later: Any, recover: Any, providers: Providers, turn: int
) -> None:
    ada = member("ada")
    desk.follow("YOUTUBE", CHANNEL)
    follow = ada.follow("YOUTUBE", CHANNEL)
    providers.publish(CHANNEL, "News")
    later(hours=25)
    message = due(follow["creator_id"])
    answers = together(
        lambda: ada.act(follow, "pause"),
        lambda: ada.act(follow, "resume"),
        lambda: ada.call("PATCH", f"follows/{follow['id']}", json={"options": {"hide_shorts": True}}),
        lambda: jobs.handle(message, lambda: True),
    )
    assert {answer.status for answer in answers[:3]} == {200}
    assert_consistent()
    assert ada.follows()[0]["options"]["hide_shorts"] is True
    assert ada.act(follow, "resume").status == 200
    recover()
    assert ada.titles() == desk.titles(), "whether it was paused in between or not"
    assert_consistent()


@pytest.mark.parametrize("turn", range(3))
def test_callbacks_with_one_state_connect_once(
    desk: Owner, together: Any, token_only: None, providers: Providers, turn: int
) -> None:
    state, code = desk.begin("YOUTUBE")
    answers = together(*[lambda: desk.complete("YOUTUBE", state, code)] * 4)
    assert results(answers) == {200: 1, 400: 3}
    assert {answer.text for answer in answers if answer.status == 400} == {'{"error": "Invalid state"}'}
    assert providers.calls()["youtube"]["POST /token"] == 1
    assert desk.connection("YOUTUBE")["status"] == "ACTIVE"
    assert list(StateRow.scan(StateRow.part.startswith("state "))) == []


@pytest.mark.parametrize("provider", ["YOUTUBE", "SPOTIFY"])
def test_everybody_who_needs_a_new_token_gets_the_one_that_was_asked_for(
    desk: Owner, together: Any, later: Any, token_only: None, providers: Providers, provider: str
) -> None:
    desk.connect(provider)
    wheres, path = {
        "YOUTUBE": ([channel.id for channel in CHANNELS[:4]], "POST /token"),
        "SPOTIFY": ([show.id for show in SHOWS], "POST /api/token"),
    }[provider]
    follows = [desk.follow(provider, where) for where in wheres]
    for where in wheres:
        providers.publish(where, "News")
    later(hours=25)
    providers.forget_calls()
    polls = [partial(polling.poll, follow["creator_id"], Cause.SCHEDULE) for follow in follows]
    assert results(together(*polls)) == {Result.POLLED: len(follows)}
    assert providers.calls()[provider.lower()][path] == 1
    assert desk.titles()[: len(follows)] == ["News"] * len(follows)
    assert desk.connection(provider)["status"] == "ACTIVE"
    assert connections.find(DESK, Provider(provider)).version == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("turn", range(3))
def test_a_disconnection_beside_polls_leaves_nothing_of_the_provider(
    desk: Owner, together: Any, later: Any, token_only: None, providers: Providers, turn: int, settle: Any
) -> None:
    desk.connect("YOUTUBE")
    follows = [desk.follow("YOUTUBE", channel.id) for channel in CHANNELS[:3]]
    for channel in CHANNELS[:3]:
        providers.publish(channel.id, "News")
    later(hours=25)
    polls = [partial(polling.poll, follow["creator_id"], Cause.SCHEDULE) for follow in follows]
    answers = together(*polls, lambda: desk.call("DELETE", "connections/YOUTUBE"))
    assert not [answer for answer in answers if isinstance(answer, Exception)], answers
    assert answers[-1].status == 200
    settle(lambda: desk.titles() == [])
    assert {follow["status"] for follow in desk.follows()} == {"DISCONNECTED"}
    assert list(ConnectionRow.scan()) == []
    assert desk.active() == []
    assert_consistent()


@pytest.mark.parametrize("turn", range(3))
def test_connecting_and_disconnecting_at_once_ends_in_one_of_both(
    desk: Owner, together: Any, later: Any, token_only: None, recover: Any, providers: Providers, turn: int
) -> None:
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", CHANNEL)
    later(minutes=2)
    state, code = desk.begin("YOUTUBE")
    answers = together(
        lambda: desk.complete("YOUTUBE", state, code), lambda: desk.call("DELETE", "connections/YOUTUBE")
    )
    assert results(answers) == {200: 2}
    assert_consistent()
    if desk.connection("YOUTUBE"):
        assert desk.act(follow, "resume").status == 200, "if the disconnection came to the follow last"
        providers.publish(CHANNEL, "News")
        later(hours=25)
        recover()
        assert desk.titles()[0] == "News"
    else:
        assert desk.follows()[0]["status"] == "DISCONNECTED"


def test_the_quota_is_not_overdrawn_by_those_who_spend_it_at_once(emulator: Any, together: Any) -> None:
    spent = together(*[lambda: counters.spend(Provider.YOUTUBE, "2026-11-17", "units", 1, 5)] * 12)
    assert sorted(count for count in spent if count) == [1, 2, 3, 4, 5]
    assert spent.count(None) == 7


def test_no_token_is_anywhere_in_clear(
    desk: Owner, member: Any, later: Any, token_only: None, recover: Any, providers: Providers, capsys: Any
) -> None:
    """Not in a table, a queue or the log: neither those that came first nor those that were renewed."""
    ada = member("ada")
    for owner in (desk, ada):
        for provider, where in (("YOUTUBE", CHANNEL), ("SPOTIFY", SHOWS[0].id)):
            owner.connect(provider)
            owner.follow(provider, where)
    state, code = desk.begin("YOUTUBE")
    providers.publish(CHANNEL, "News")
    later(hours=25)
    recover()
    ada.call("DELETE", "connections/SPOTIFY")
    grants = providers.state.grants
    secrets = [token for grant in grants for token in (grant.refresh, *grant.spent, *grant.access) if token]
    assert len(secrets) > 8
    told = everything(capsys)
    assert "creator.polled" in told
    assert '"v1:' in told, "sealed"
    for secret in (*secrets, state, code):
        assert secret not in told


def test_options_that_change_beside_a_poll_change_both_rows(
    desk: Owner, together: Any, later: Any, providers: Providers
) -> None:
    follow = desk.follow("YOUTUBE", CHANNEL)
    choices = [Options(newest_only=flag, hide_shorts=not flag) for flag in (True, False)]
    changes = [partial(service.change_options, DESK, follow["id"], options) for options in choices * 2]
    later(hours=25)
    message = due(follow["creator_id"])
    together(*changes, lambda: jobs.handle(message, lambda: True))
    assert_consistent()
    assert creators.find(follow["creator_id"])
