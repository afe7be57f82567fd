"""Push: it only hurries a poll, and says what was deleted."""

import hmac
from datetime import timedelta

import pytest

from chalicelib.feeds import websub, websub_store
from chalicelib.following import jobs
from chalicelib.following.stores import creators, polls
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, SITE

FIRST = "Sowing broad beans too early"


@pytest.fixture
def following(desk, pushed, later, sweep):
    """The hub has confirmed."""
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    pushed()
    later(days=1)
    sweep()
    pushed()
    desk.providers.forget_calls()
    return desk


def subscription(desk):
    (found,) = websub_store.list_subscriptions(desk.followed["creator_id"])
    return found


def callback(desk):
    return f"/api/webhooks/websub/{subscription(desk).token}"


def push(desk, body=b"<feed/>", method="sha1", secret=None):
    key = websub._secret(subscription(desk).token) if secret is None else secret
    signature = f"{method}={hmac.new(key.encode(), body, method).hexdigest()}"
    return desk.http.post(callback(desk), body=body, headers={"X-Hub-Signature": signature})


def test_the_topic_is_youtubes_wherever_we_connect(following):
    found = subscription(following)
    assert found.topic == f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={ALLOTMENT}"
    assert found.hub == f"{following.providers.youtube}/subscribe"
    creator = creators.find(following.followed["creator_id"])
    assert creator.push_until > clock.now() + timedelta(days=8)


def test_each_creator_has_a_callback_that_cannot_be_guessed(following):
    other = following.follow("YOUTUBE", HEDGE)
    (hers,) = websub_store.list_subscriptions(other["creator_id"])
    assert hers.mac != subscription(following).mac
    assert len(hers.mac) == 40
    following.providers.flush()
    callbacks = {lease.callback for lease in following.providers.state.leases}
    assert callbacks == {f"{SITE}/api/webhooks/websub/{one.token}" for one in (hers, subscription(following))}


def test_what_is_published_arrives_at_once(following, pushed, work):
    following.providers.publish(ALLOTMENT, "Pushed")
    pushed()
    assert work() == 1
    assert following.titles() == ["Pushed", FIRST]
    assert following.providers.calls()["units"] == 2


def test_three_pushes_a_poll_and_a_twin_make_one_entry(following, pushed, work, later, sweep):
    video = following.providers.publish(ALLOTMENT, "Pushed")
    following.providers.change(video, title="Pushed once more")
    following.providers.change(video, title="Pushed")
    pushed()
    messages = received("feed")
    assert len(messages) == 3
    for message in [*messages, *messages]:
        jobs.handle(message, lambda: True)
    later(days=1)
    sweep()
    assert following.titles() == ["Pushed", FIRST]


def test_several_at_once_cost_one_poll(following, pushed, work):
    for number in range(4):
        following.providers.publish(ALLOTMENT, f"Pushed {number}")
    pushed()
    assert work() == 4
    assert following.providers.calls()["units"] == 2
    assert len(following.titles()) == 5


def test_signatures_of_each_method_are_taken(following):
    for method in ("sha1", "sha256", "sha384", "sha512"):
        assert push(following, method=method).status == 202
        (message,) = received("feed")
        assert message["feed"] == following.followed["creator_id"]


def test_a_bad_signature_is_answered_like_a_good_one_and_ignored(following):
    for signature in ("", "sha1=", "sha1=" + "0" * 40, "md5=" + "0" * 32, "nonsense", "sha1=é"):
        answer = following.http.post(callback(following), body=b"<feed/>", headers={"X-Hub-Signature": signature})
        assert answer.status == 202
    assert received("feed") == []


def test_one_signed_for_another_creator_is_ignored(following):
    other = following.follow("YOUTUBE", HEDGE)
    (hers,) = websub_store.list_subscriptions(other["creator_id"])
    assert push(following, secret=websub._secret(hers.token)).status == 202
    assert received("feed") == []


def test_an_unknown_callback_is_not_found(following):
    for token in ("x", "0" * 40, f"{following.followed['creator_id']}.{'0' * 40}"):
        assert following.http.post(f"/api/webhooks/websub/{token}", body=b"").status == 404


def test_a_deleted_video_is_unavailable_and_leaves_the_inbox(following, member, pushed, work):
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    video = following.providers.publish(ALLOTMENT, "Soon gone")
    pushed()
    work()
    ada.triage("Soon gone", "bookmark")
    following.providers.delete(video)
    pushed()
    work()
    assert following.titles() == [FIRST]
    (kept,) = ada.inbox("BOOKMARKED")
    assert (kept["title"], kept["available"]) == ("Soon gone", False)


def test_one_that_is_made_private_is_unavailable_too(following, pushed, work):
    video = following.providers.publish(ALLOTMENT, "Soon private")
    pushed()
    work()
    following.providers.change(video, public=False)
    pushed()
    work()
    assert following.titles() == [FIRST]


def tombstone(reference):
    return (
        '<feed xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns="http://www.w3.org/2005/Atom">'
        f'<at:deleted-entry ref="{reference}" when="2026-11-17T00:00:00Z"/></feed>'
    ).encode()


def test_a_deletion_of_what_we_do_not_have_is_nothing(following, work):
    for reference in ("yt:video:", "yt:video:none", "yt:video:" + "x" * 11, "x", "yt:video:é"):
        assert push(following, tombstone(reference)).status == 202
    work()
    assert following.titles() == [FIRST]


def test_a_hub_speaks_only_for_its_own_channel(following, work):
    other = following.providers.publish(HEDGE, "Somebody else's")
    following.follow("YOUTUBE", HEDGE)
    assert push(following, tombstone(f"yt:video:{other}")).status == 202
    work()
    assert "Somebody else's" in following.titles()


def test_a_deletion_comes_even_if_the_channel_cannot_be_polled(following, pushed, work):
    video = following.providers.publish(ALLOTMENT, "Soon gone")
    pushed()
    work()
    following.providers.delete(video)
    pushed()
    following.providers.set_fault("youtube", outage=True)
    work()
    assert following.titles() == [FIRST]


def test_a_push_while_it_is_being_polled_comes_again(following, later):
    """That poll may have begun before the push."""
    push(following)
    (message,) = received("feed")
    lease = polls.claim(following.followed["creator_id"], clock.now())
    with pytest.raises(Unavailable):
        jobs.handle(message, lambda: True)
    polls.release(lease, clock.now())
    following.providers.publish(ALLOTMENT, "Still found")
    jobs.handle(message, lambda: True)
    assert "Still found" in following.titles()


def test_a_poll_that_began_after_the_push_has_seen_it(following, pushed):
    following.providers.publish(ALLOTMENT, "Pushed")
    pushed()
    messages = received("feed")
    following.act(following.followed, "sync")
    following.providers.forget_calls()
    for message in messages:
        jobs.handle(message, lambda: True)
    assert following.providers.calls()["units"] == 0


def test_a_push_does_not_go_past_what_the_provider_asked_for(following, pushed, work, later):
    following.providers.set_fault("youtube", rate_limit=7_200)
    following.act(following.followed, "sync")
    following.providers.set_fault("youtube", reset=True)
    following.providers.forget_calls()
    following.providers.publish(ALLOTMENT, "Pushed in the meantime")
    pushed()
    work()
    assert following.providers.calls()["units"] == 0


def test_how_often_push_was_first_is_counted(following, pushed, work, later, sweep):
    following.providers.publish(ALLOTMENT, "By push")
    pushed()
    work()
    following.providers.set_fault("youtube", hub_down=True)
    following.providers.publish(ALLOTMENT, "By poll")
    later(days=1)
    sweep()
    creator = creators.find(following.followed["creator_id"])
    assert (creator.found_by_push, creator.found_by_poll) == (1, 1)


def test_a_hub_that_is_down_delays_and_loses_nothing(desk, pushed, later, sweep):
    desk.providers.set_fault("youtube", hub_down=True)
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    pushed()
    desk.providers.publish(ALLOTMENT, "Without a hub")
    later(days=1)
    sweep()
    assert desk.titles() == ["Without a hub", FIRST]
    assert creators.find(follow["creator_id"]).push_until is None


def test_the_lease_is_renewed_before_it_ends(following, pushed, later, sweep):
    before = subscription(following).leased_until
    for _ in range(9):
        later(days=1)
        sweep()
        pushed()
    assert subscription(following).leased_until > before
    assert subscription(following).leased_until > clock.now() + timedelta(days=1)


def test_when_nobody_follows_any_more_the_hub_is_left(following, pushed, later, sweep):
    following.unfollow(following.followed)
    later(days=1)
    sweep()
    pushed()
    assert websub_store.list_subscriptions(following.followed["creator_id"]) == []
    assert following.providers.state.leases == []


def test_a_feed_that_names_a_hub_is_pushed_too(desk, blog, work, later):
    blog.hub = f"{blog.url}/hub"
    desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
    found = subscription(desk)
    assert (found.hub, found.topic) == (f"{blog.url}/hub", f"{blog.url}/feed.xml")
    assert blog.posted[0][0] == "/hub"
    later(minutes=6)
    blog.publish("Pushed by its hub", clock.now())
    assert push(desk, method="sha256").status == 202
    work()
    assert desk.titles() == ["Pushed by its hub", "Hello"]


def test_a_message_about_a_creator_that_is_gone_is_done(desk):
    jobs.handle({"feed": "0" * 32, "deleted": [], "at": clock.text(clock.now())}, lambda: True)
