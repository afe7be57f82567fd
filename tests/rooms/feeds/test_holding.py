"""A hold before feed mail leaves, and digests: through the checks, the sweep and the dashboard's verbs."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.model import State
from chalicelib.feeds import service, store
from chalicelib.feeds.state import Result
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Conflict
from tests.rooms.feeds.holding import START, in_state, mailed, names, notices, waiting_titles

pytestmark = pytest.mark.usefixtures("aws", "ses", "blog")


def test_a_post_waits_for_its_hold_and_is_mailed_once(held, ses):
    assert (mailed(), waiting_titles()) == ([], ["News"])
    assert held.pass_time(minutes=29) == 0
    assert mailed() == []
    assert held.pass_time(minutes=1) == 1
    assert (in_state(State.PUBLISHING), waiting_titles()) == (["News"], [])
    assert held.pass_time(minutes=5) == 0
    assert held.check() is Result.UNCHANGED
    assert mailed() == ["News"]


def test_the_admin_is_told_when_it_leaves_and_where_to_stop_it(held, ses):
    (mail,) = ses.mails()
    assert mail["subject"].endswith("Goes out Wed 12:30 (UTC): News")
    assert "https://news.example.org/admin/feed#waiting" in mail["text"]


def test_corrections_made_meanwhile_are_what_is_mailed(held, blog):
    _title, text, at = blog.posts[0]
    blog.posts[0] = ("News, corrected", text.replace("About", "All about"), at)
    held.pass_time(minutes=30)
    (campaign,) = campaigns.list_page(None, 1, 5).items
    assert campaign.subject == "News, corrected"
    assert "All about News" in campaigns.view(campaign.id).content.body


def test_a_post_that_left_the_feed_while_an_older_one_stays_is_not_mailed(held, blog):
    blog.posts.pop(0)
    held.pass_time(minutes=30)
    assert (mailed(), waiting_titles()) == ([], [])
    assert service.view().history[0].summary == "1 entry taken down and not emailed"
    assert held.pass_time(minutes=5) == 0


@pytest.mark.parametrize("status", [404, 410])
def test_a_post_whose_page_is_gone_is_not_mailed(held, blog, status):
    blog.pages["/posts/2"] = status
    held.pass_time(minutes=30)
    assert (mailed(), waiting_titles()) == ([], [])


@pytest.mark.parametrize("status", [403, 500, 503])
def test_a_page_that_only_fails_is_no_reason_not_to_mail(held, blog, status):
    blog.pages["/posts/2"] = status
    held.pass_time(minutes=30)
    assert mailed() == ["News"]


def test_a_post_that_only_dropped_off_the_end_of_the_feed_is_mailed_as_it_was(held, blog):
    blog.posts[:] = [("Newest", "<p>Later.</p>", START + timedelta(minutes=5))]
    held.pass_time(minutes=30)
    assert "News" in [
        item.title for item in blocks.items(campaigns.view(service.view().state.campaign_id).content.body)
    ]


def test_a_post_that_was_taken_down_and_returns_is_not_mailed(held, blog):
    post = blog.posts.pop(0)
    held.pass_time(minutes=30)
    blog.posts.insert(0, post)
    assert held.check() is Result.NOTHING_NEW
    assert held.pass_time(hours=1) == 0
    assert mailed() == []


def test_of_two_posts_the_one_that_stays_is_mailed(hands, blog, configure):
    configure(FEED_HOLD="30")
    hands.check()
    blog.publish("One", START)
    blog.publish("Two", START + timedelta(minutes=1))
    hands.check()
    blog.pages["/posts/3"] = 404
    hands.pass_time(minutes=30)
    assert mailed() == ["One"]
    assert (
        service.view().history[0].summary == "1 new entry: a campaign was started; 1 entry taken down and not emailed"
    )


def test_a_post_that_is_postponed_meanwhile_waits_for_its_date(held, blog):
    title, text, _ = blog.posts[0]
    blog.posts[0] = (title, text, START + timedelta(hours=5))
    held.pass_time(minutes=30)
    assert (mailed(), waiting_titles()) == ([], ["News"])
    held.pass_time(hours=4, minutes=30)
    assert mailed() == ["News"]


def test_send_now_sends_without_waiting(held):
    service.send_waiting(names())
    assert held.sweep() == 2  # that of the button, and the sweep's own
    assert mailed() == ["News"]


def test_send_now_reads_the_feed_again_too(held, blog):
    blog.posts.pop(0)
    service.send_waiting(names())
    held.sweep()
    assert mailed() == []


def test_a_cancelled_post_is_never_mailed(held):
    cancelled = names()
    service.cancel_waiting(cancelled)
    assert waiting_titles() == []
    assert held.pass_time(minutes=30) == 0
    assert held.check() is Result.UNCHANGED
    assert mailed() == []
    assert service.view().history[1].result is Result.CANCELLED
    with pytest.raises(Conflict):
        service.cancel_waiting(cancelled)
    with pytest.raises(Conflict):
        service.send_waiting(cancelled)


def test_the_next_post_is_held_anew_while_another_leaves(held, blog):
    held.pass_time(minutes=20)
    blog.publish("More", START + timedelta(minutes=20))
    held.check()
    held.pass_time(minutes=10)
    assert (mailed(), waiting_titles()) == (["News"], ["More"])
    held.pass_time(minutes=20)
    assert sorted(mailed()) == ["More", "News"]


def test_while_the_feed_cannot_be_read_nothing_is_mailed_and_nothing_lost(held, blog):
    blog.answer = (500, {}, b"")
    held.pass_time(minutes=30)
    held.pass_time(minutes=5)
    assert (mailed(), waiting_titles()) == ([], ["News"])
    blog.answer = None
    held.pass_time(minutes=5)
    assert in_state(State.PUBLISHING) == ["News"]


def test_a_half_read_feed_takes_nothing_down(held, blog):
    blog.answer = (200, {}, blog.feed()[:-20])
    held.pass_time(minutes=30)
    assert (mailed(), waiting_titles()) == ([], ["News"])


def test_after_six_hours_without_the_feed_it_is_a_draft_and_the_admin_is_told(held, blog, ses):
    blog.answer = (500, {}, b"")
    held.pass_time(hours=6, minutes=31)
    assert (in_state(State.DRAFT), in_state(State.PUBLISHING), waiting_titles()) == (["News"], [], [])
    assert "Not sent, but a draft: News" in notices(ses)
    blog.answer = None
    held.pass_time(minutes=5)
    assert mailed() == ["News"]


def test_what_is_found_more_than_six_hours_late_is_a_draft(held):
    held.pass_time(hours=6, minutes=31)
    assert (in_state(State.DRAFT), in_state(State.PUBLISHING)) == (["News"], [])


def test_a_server_that_asks_us_to_wait_is_not_asked(held, blog):
    blog.answer = (429, {"Retry-After": "86400"}, b"")
    held.pass_time(minutes=30)
    asked = len(blog.asked)
    held.pass_time(minutes=5)
    assert len(blog.asked) == asked
    held.pass_time(hours=6)
    assert (in_state(State.DRAFT), len(blog.asked)) == (["News"], asked)


def test_a_feed_that_is_gone_leaves_a_draft(held, blog):
    blog.answer = (410, {}, b"")
    held.pass_time(minutes=30)
    assert waiting_titles() == ["News"]
    held.pass_time(hours=6, minutes=1)
    assert (in_state(State.DRAFT), waiting_titles()) == (["News"], [])
    assert held.pass_time(minutes=5) == 0


@pytest.mark.parametrize("url", ["", "https://other.example.org/feed.xml"])
def test_another_feed_turns_what_waits_into_a_draft(held, configure, url):
    configure(FEED_URL=url)
    held.pass_time(minutes=30)
    assert (in_state(State.DRAFT), waiting_titles()) == (["News"], [])


def test_a_flood_is_a_draft_at_once(hands, blog, configure, ses):
    configure(FEED_HOLD="30")
    hands.check()
    for number in range(11):
        blog.publish(f"Post {number}", START)
    assert hands.check() is Result.DRAFTED
    assert waiting_titles() == []
    assert len(in_state(State.DRAFT)) == 1


def test_a_flood_does_not_keep_what_is_due(held, blog):
    held.now += timedelta(minutes=30)
    for number in range(11):
        blog.publish(f"Post {number}", START)
    assert held.check() is Result.DRAFTED
    held.pass_time(minutes=5)
    assert in_state(State.PUBLISHING) == ["News"]


def test_in_review_a_draft_is_made_without_a_hold(hands, blog, configure):
    configure(FEED_HOLD="30", FEED_MODE="review")
    hands.check()
    blog.publish("News", START)
    assert hands.check() is Result.DRAFTED


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        ({"FEED_HOLD": "0"}, State.PUBLISHING),
        ({"FEED_MODE": "review"}, State.DRAFT),
        ({"FEED_DIGEST": "daily", "FEED_DIGEST_AT": "12:10"}, State.PUBLISHING),
        ({"FEED_DIGEST": "daily", "FEED_DIGEST_AT": "12:10", "FEED_MODE": "review"}, State.DRAFT),
    ],
)
def test_changing_the_settings_while_a_post_waits_mails_it_once(held, configure, settings, state):
    configure(**settings)
    held.pass_time(minutes=1)
    held.pass_time(minutes=10)
    held.pass_time(days=1)
    held.check()
    assert (in_state(state), len(mailed())) == (["News"], 1)


def test_a_digest_collects_and_goes_out_at_its_moment(daily, blog, ses):
    blog.publish("One", START)
    assert daily.check() is Result.WAITING
    daily.now += timedelta(hours=1)
    blog.publish("Two", daily.now)
    assert daily.check() is Result.WAITING
    assert daily.pass_time(hours=1, minutes=59) == 0
    assert (mailed(), ses.mails()) == ([], [])
    assert daily.pass_time(minutes=1) == 1
    assert in_state(State.PUBLISHING) == ["Two and 1 more"]
    detail = campaigns.view(service.view().state.campaign_id)
    assert [item.title for item in blocks.items(detail.content.body)] == ["Two", "One"]
    assert service.view().waiting.digest_due == START + timedelta(days=1, hours=3)


def test_a_digest_finds_what_no_check_has_found_yet(daily, blog):
    blog.publish("News", START)
    daily.pass_time(hours=3)
    assert mailed() == ["News"]


def test_a_digest_reads_the_feed_again(daily, blog):
    blog.publish("One", START)
    blog.publish("Two", START)
    daily.check()
    blog.posts[1] = ("One, corrected", *blog.posts[1][1:])
    blog.posts.pop(0)
    daily.pass_time(hours=3)
    assert mailed() == ["One, corrected"]


def test_a_digest_with_nothing_new_sends_nothing_and_goes_on(daily, blog):
    assert daily.pass_time(hours=3) == 1
    assert daily.pass_time(minutes=5) == 0
    assert mailed() == []
    blog.publish("News", daily.now)
    assert daily.pass_time(days=1) == 1
    assert mailed() == ["News"]


def test_a_digest_in_review_is_a_draft_at_its_moment(daily, blog, configure, ses):
    configure(FEED_MODE="review")
    blog.publish("News", START)
    assert daily.check() is Result.WAITING
    daily.pass_time(hours=3)
    assert in_state(State.DRAFT) == ["News"]
    assert notices(ses) == ["A draft is ready: News"]


def test_a_digest_more_than_six_hours_late_is_a_draft(daily, blog, ses):
    blog.publish("News", START)
    daily.check()
    daily.pass_time(hours=9, minutes=1)
    assert (in_state(State.DRAFT), in_state(State.PUBLISHING)) == (["News"], [])
    assert notices(ses) == ["Not sent, but a draft: News"]


def test_a_digest_can_be_sent_before_its_time_and_the_next_keeps_its_moment(daily, blog):
    blog.publish("One", START)
    daily.check()
    service.send_waiting(names())
    daily.sweep()
    assert in_state(State.PUBLISHING) == ["One"]
    assert service.view().waiting.digest_due == START + timedelta(hours=3)
    daily.pass_time(hours=3)
    assert mailed() == ["One"]


def test_a_post_can_be_left_out_of_a_digest(daily, blog):
    blog.publish("One", START)
    blog.publish("Two", START + timedelta(minutes=1))
    daily.check()
    service.cancel_waiting(names()[:1])
    daily.pass_time(hours=3)
    assert mailed() == ["One"]


def test_a_hold_does_not_apply_to_digests(daily, blog, configure):
    configure(FEED_HOLD="1440")
    blog.publish("News", START)
    daily.check()
    daily.pass_time(hours=3)
    assert mailed() == ["News"]


def test_switching_the_digest_off_mails_what_was_collected_once(daily, blog, configure):
    blog.publish("One", START)
    blog.publish("Two", START + timedelta(minutes=1))
    daily.check()
    configure(FEED_DIGEST="off")
    daily.pass_time(hours=2)
    daily.pass_time(hours=2)
    daily.check()
    assert in_state(State.PUBLISHING) == ["Two and 1 more"]


def test_a_digest_that_is_switched_on_is_planned_by_the_sweep(hands, blog, configure):
    hands.check()
    configure(FEED_DIGEST="weekly", FEED_DIGEST_AT="thu 09:00")
    assert hands.sweep() == 0
    blog.publish("News", START)
    assert hands.pass_time(hours=21) == 1
    assert mailed() == ["News"]


def test_before_the_first_check_a_digest_sends_nothing(hands, configure):
    configure(FEED_DIGEST="daily")
    assert hands.sweep() == 0
    assert hands.pass_time(days=1) == 0
    assert hands.check() is Result.FIRST
    assert mailed() == []


def test_a_sweep_without_anything_to_do_writes_nothing(held, monkeypatch):
    def refuse(*writes: Any) -> None:
        raise AssertionError("a sweep wrote")

    monkeypatch.setattr(tables, "transact", refuse)
    assert held.pass_time(minutes=10) == 0


def test_posts_that_leave_at_once_are_written_nowhere_else(hands, blog):
    hands.check()
    blog.publish("News", START)
    assert hands.check() is Result.SENT
    assert tables.get(store.PackedRow, "feed", "waiting") is None


def test_without_a_feed_the_sweep_does_nothing(hands, configure):
    configure(FEED_URL="", FEED_DIGEST="daily")
    assert hands.pass_time(days=3) == 0


def test_a_digest_of_sixty_posts_shows_fifty(daily, blog, configure):
    for round in range(6):
        for number in range(10):
            blog.publish(f"Post {round * 10 + number}", START + timedelta(minutes=round * 10 + number - 120))
        daily.check()
    daily.pass_time(hours=3)
    (campaign,) = campaigns.list_page(None, 1, 5).items
    body = campaigns.view(campaign.id).content.body
    assert campaign.subject == "Post 59 and 59 more"
    assert (len(blocks.items(body)), "And 10 more." in body) == (50, True)


def test_what_editors_change_on_the_site_counts_at_once(hands, blog, admin):
    """Hold, digest and mode are settings of the publication; the environment has only their defaults."""
    hands.check()
    assert admin.patch("/admin/api/site", json={"feed": {"hold": 30}}).status == 200
    blog.publish("News", START)
    assert hands.check() is Result.WAITING
    assert admin.patch("/admin/api/site", json={"feed": {"digest": "daily", "digest_at": "15:00"}}).status == 200
    hands.pass_time(hours=2, minutes=55)
    assert mailed() == []
    assert admin.patch("/admin/api/site", json={"feed": {"mode": "review"}}).status == 200
    hands.pass_time(minutes=5)
    assert in_state(State.DRAFT) == ["News"]


def test_a_digest_is_at_its_hour_in_the_zone_of_the_publication(hands, blog, admin):
    hands.check()
    settings = {"time_zone": "America/New_York", "feed": {"digest": "daily", "digest_at": "09:30"}}
    assert admin.patch("/admin/api/site", json=settings).status == 200
    blog.publish("News", START)
    hands.check()
    assert service.view().waiting.digest_due == START + timedelta(hours=2, minutes=30)
