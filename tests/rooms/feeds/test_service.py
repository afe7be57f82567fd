from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import DeliveryState, Origin, State
from chalicelib.events import store as events_store
from chalicelib.feeds import service, store
from chalicelib.feeds.state import Check, Result, Trigger
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("aws", "ses", "blog")


def check(trigger: Trigger = Trigger.SCHEDULE) -> Check:
    return service.check(trigger)


def results(times: int) -> list[Result]:
    return [check().result for _ in range(times)]


def campaign_subjects() -> list[str]:
    return [campaign.subject for campaign in campaigns.list_page(None, 1, 50).items]


def event_types() -> list[str]:
    rows = tables.query(events_store.EventRow, "feed")
    return [row.type for row in rows]


def mail_subjects(ses) -> list[str]:
    return [mail["subject"].removeprefix("[The Daily Test] ") for mail in ses.mails()]


def test_the_first_check_sends_nothing_and_says_so(blog):
    done = check()
    assert done.result is Result.FIRST
    assert done.summary == "First check: 1 entry recorded, nothing sent"
    assert campaign_subjects() == []
    assert check().result is Result.UNCHANGED


def test_a_new_post_becomes_a_campaign_on_its_way(blog):
    check()
    blog.publish("News & <b>views</b>")
    done = check(Trigger.WEBHOOK)
    assert (done.result, done.new) == (Result.SENT, 1)
    detail = campaigns.view(done.campaign_id)
    assert detail.campaign.state is State.PUBLISHING
    assert detail.campaign.origin is Origin.FEED
    assert [delivery.state for delivery in detail.deliveries] == [DeliveryState.SENDING]
    assert detail.campaign.subject == "News & views"
    assert f"title: News & views\nlink: {blog.url}/posts/2\n" in detail.content.body
    assert received("deliveries") == [{"campaign_id": detail.campaign.id, "delivery_id": detail.deliveries[0].id}]


def test_all_new_posts_come_in_one_campaign_and_only_once(blog):
    check()
    for title in ("One", "Two", "Three"):
        blog.publish(title)
    assert check().new == 3
    assert results(2) == [Result.UNCHANGED, Result.UNCHANGED]
    blog.posts.reverse()
    assert check().result is Result.NOTHING_NEW
    assert campaign_subjects() == ["One and 2 more"] or campaign_subjects() == ["Three and 2 more"]


def test_an_unchanged_feed_is_asked_for_conditionally(blog):
    blog.etag = True
    check()
    assert check().result is Result.UNCHANGED
    assert blog.asked[1]["if-none-match"].startswith('"')


def test_review_mode_makes_a_draft_and_tells_the_admin(blog, configure, ses):
    configure(FEED_MODE="review")
    check()
    blog.publish("News")
    done = check()
    assert done.result is Result.DRAFTED
    assert campaigns.view(done.campaign_id).campaign.state is State.DRAFT
    assert received("deliveries") == []
    assert len(ses.mails()) == 1


def test_a_flood_becomes_a_draft_with_a_notice(blog, ses):
    check()
    for number in range(11):
        blog.publish(f"Post {number}")
    done = check()
    assert (done.result, done.new) == (Result.DRAFTED, 11)
    assert campaigns.view(done.campaign_id).campaign.state is State.DRAFT
    assert mail_subjects(ses) == ["11 new entries at once: please review"]
    assert check().result is Result.UNCHANGED


def test_a_future_dated_post_is_found_although_the_feed_has_not_changed(blog, monkeypatch):
    check()
    blog.publish("Later", datetime.now(UTC) + timedelta(hours=2))
    assert "waiting" in check().summary
    assert check().result is Result.UNCHANGED
    later = datetime.now(UTC) + timedelta(hours=3)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert check().result is Result.SENT


def test_the_third_failure_in_a_row_is_reported_once_and_so_is_the_recovery(blog, ses):
    check()
    blog.answer = (500, {}, b"")
    assert results(5) == [Result.FAILED] * 5
    assert len(ses.mails()) == 1
    assert event_types() == ["FEED_FAILING"]
    assert service.view().state.failures == 5
    blog.answer = None
    assert check().result is Result.UNCHANGED
    assert event_types() == ["FEED_FAILING", "FEED_RECOVERED"]
    assert sorted(mail_subjects(ses)) == ["The feed can be read again", "The feed cannot be read"]
    assert service.view().state.failures == 0


def test_two_failures_are_not_reported(blog, ses):
    check()
    blog.answer = (200, {}, b"<html>Log in</html>")
    done = [check() for _ in range(2)]
    assert "web page" in done[0].summary
    blog.answer = None
    check()
    assert ses.mails() == []
    assert event_types() == []


def test_half_a_document_is_a_failed_check_and_the_whole_one_is_mailed_once(blog, ses):
    check()
    blog.publish("New post about trees")
    whole = blog.feed()
    for end in (b"</title><guid>", b"trees", b"</item>", b"</channel>", b"</rss>"):
        blog.answer = (200, {"ETag": '"half"'}, whole[: whole.index(end)])
        done = check()
        assert (done.result, done.summary) == (
            Result.FAILED,
            "The feed cannot be read: the document ends in the middle",
        )
    assert (campaign_subjects(), mail_subjects(ses)) == ([], ["The feed cannot be read"])
    blog.answer = None
    assert (check().new, check().result) == (1, Result.UNCHANGED)
    assert campaign_subjects() == ["New post about trees"]


def test_what_the_parser_cannot_bear_is_a_failed_check_like_any_other(blog, ses, monkeypatch):
    def fail(*args, **kwargs):
        raise IndexError

    check()
    blog.publish("News")
    with monkeypatch.context() as broken:
        broken.setattr("feedparser.parse", fail)
        assert results(3) == [Result.FAILED] * 3
    assert mail_subjects(ses) == ["The feed cannot be read"]
    assert check().new == 1


def test_what_was_published_while_the_feed_was_broken_is_sent_afterwards(blog):
    check()
    blog.answer = (200, {}, b"<rss><chan")
    check()
    blog.publish("Meanwhile")
    blog.answer = None
    assert check().new == 1


def test_a_feed_that_is_gone_is_left_alone_until_the_admin_asks(blog, ses):
    check()
    blog.answer = (410, {}, b"")
    assert check().result is Result.FAILED
    asked = len(blog.asked)
    assert check().result is Result.STOPPED
    assert len(blog.asked) == asked
    assert service.view().next_check is None
    for status in (410, 500):
        blog.answer = (status, {}, b"")
        assert check(Trigger.ADMIN).result is Result.FAILED
        assert check().result is Result.STOPPED
    assert mail_subjects(ses) == ["The feed is gone"]
    assert event_types() == ["FEED_FAILING"]
    blog.answer = None
    assert check(Trigger.ADMIN).result is Result.UNCHANGED
    assert check().result is Result.UNCHANGED
    assert event_types() == ["FEED_FAILING", "FEED_RECOVERED"]
    assert len(ses.mails()) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_us_to_wait_is_not_asked_again(blog, status, monkeypatch):
    check()
    blog.answer = (status, {"Retry-After": "7200"}, b"")
    assert check().result is Result.FAILED
    asked = len(blog.asked)
    assert check(Trigger.WEBHOOK).result is Result.RESTING
    assert len(blog.asked) == asked
    assert service.view().next_check > clock.now() + timedelta(minutes=110)
    blog.answer = None
    later = datetime.now(UTC) + timedelta(hours=2, minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert check().result is Result.UNCHANGED


def test_a_permanent_redirect_is_remembered_and_a_passing_one_is_not(blog):
    blog.answer = (302, {"Location": "/moved.xml"}, b"")
    check()
    blog.asked.clear()
    blog.answer = (301, {"Location": "/moved.xml"}, b"")
    check()
    check()
    assert [asked["path"] for asked in blog.asked] == ["/feed.xml", "/moved.xml", "/moved.xml"]
    assert service.view().state.permanent_url == f"{blog.url}/moved.xml"


def test_another_feed_url_is_another_feed_and_its_first_check_sends_nothing(blog, configure):
    check()
    blog.publish("News")
    configure(FEED_URL=f"{blog.url}/other.xml")
    assert service.view().state.checked_at is None
    assert check().result is Result.FIRST
    blog.publish("More")
    assert check().new == 1


def test_without_a_feed_or_with_one_inside_our_network_nothing_is_asked(configure):
    configure(FEED_URL="")
    assert check().result is Result.OFF
    configure(FEED_URL="http://169.254.169.254/latest/meta-data")
    assert "public internet" in check().summary


def test_a_check_overtaken_by_another_reads_again_and_finds_nothing_new(blog, monkeypatch):
    check()
    blog.publish("News")
    real, beaten = service._evaluate, []

    def overtaken(found, pictures):
        outcome = real(found, pictures)
        if not beaten:
            beaten.append(service._commit(found, real(found, pictures)))
        return outcome

    monkeypatch.setattr(service, "_evaluate", overtaken)
    assert check().result is Result.UNCHANGED
    assert beaten[0].result is Result.SENT
    assert campaign_subjects() == ["News"]


def test_a_notice_that_was_not_mailed_is_mailed_by_the_next_check(blog, ses, monkeypatch):
    check()
    blog.answer = (500, {}, b"")
    with monkeypatch.context() as crash:
        crash.setattr(service, "_mail_notice", lambda stored: stored)
        results(3)
    assert ses.mails() == []
    check()
    assert len(ses.mails()) == 1


def test_the_view_shows_state_history_and_entries_as_they_would_be_mailed(blog):
    check()
    blog.publish("News")
    check(Trigger.WEBHOOK)
    view = service.view()
    assert [check.result for check in view.history] == [Result.SENT, Result.FIRST]
    assert view.history[0].trigger is Trigger.WEBHOOK
    assert view.state.entries == 2
    assert view.state.title == "Blog"
    assert view.next_check == view.state.checked_at + timedelta(hours=1)
    rows = tables.query(store.CheckRow, "feed", range_key_condition=store.CheckRow.part.startswith("check "))
    assert all(row.expires_at - clock.epoch(clock.now()) > 29 * 86400 for row in rows)
    first = view.entries[0]
    assert (first.title, first.excerpt, first.link) == ("News", "About News.", f"{blog.url}/posts/2")


def test_a_check_is_not_started_while_another_runs(blog):
    from chalicelib.kernel import locks

    with locks.held("feed", 10):
        assert check().result is Result.BUSY
    assert blog.asked == []
