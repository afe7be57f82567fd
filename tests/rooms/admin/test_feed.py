from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.admin import labels
from chalicelib.admin.pages.feed import _merge_repeated
from chalicelib.campaigns import service as campaigns
from chalicelib.feeds import jobs, service
from chalicelib.feeds.state import Check, Result, Trigger
from chalicelib.kernel import clock
from tests.conftest import received

AT = datetime(2026, 7, 1, 7, 5, tzinfo=UTC)


def test_without_a_feed_the_page_explains_how_to_set_one(dashboard):
    assert "No feed configured" in dashboard.see("/admin/feed")
    assert "No feed configured." in dashboard.follow("/admin/feed")


def test_a_check_shows_the_entries_as_they_would_be_emailed(dashboard, blog, configure):
    blog.publish("First frost")
    configure(FEED_URL=blog.url)
    assert "not yet" in dashboard.see("/admin/feed")
    seen = dashboard.follow("/admin/feed")
    assert "First check done" in seen
    assert "First frost About First frost." in seen
    assert "manual" in seen


def test_a_failing_feed_is_reported_on_the_feed_page_and_the_overview(dashboard, configure):
    configure(FEED_URL="http://127.0.0.1:9/feed.xml", GNA_LOCAL="true")
    for _ in range(3):
        dashboard.post("/admin/feed")
    assert "could not be read 3 times in a row" in dashboard.see("/admin/feed")
    assert "The feed cannot be read" in dashboard.see("/admin")


def test_consecutive_checks_with_the_same_outcome_are_merged():
    def check(minutes: int, result: Result) -> Check:
        return Check(AT - timedelta(minutes=minutes), Trigger.SCHEDULE, result, result.value)

    history = [
        check(0, Result.UNCHANGED),
        check(1, Result.UNCHANGED),
        check(2, Result.FAILED),
        check(3, Result.UNCHANGED),
    ]
    assert [(latest.at, times) for latest, times in _merge_repeated(history)] == [
        (AT, 2),
        (AT - timedelta(minutes=2), 1),
        (AT - timedelta(minutes=3), 1),
    ]


class TestWaiting:
    @pytest.fixture
    def held(self, blog, configure):
        configure(FEED_HOLD="30")
        service.check(Trigger.SCHEDULE)
        blog.publish("First frost")
        assert service.check(Trigger.SCHEDULE).result is Result.WAITING
        (kept,) = service.view().waiting.entries
        return kept

    def test_the_page_shows_what_waits_and_until_when(self, dashboard, held):
        seen = dashboard.see("/admin/feed")
        assert "are emailed after 30 minutes, unless you cancel them" in seen
        assert f"Goes out {labels.moment(held.due_at)} First frost" in seen

    def test_the_page_says_that_a_post_was_taken_down(self, dashboard, held, blog):
        assert "No longer in the feed" not in dashboard.see("/admin/feed")
        blog.posts.pop(0)
        service.check(Trigger.SCHEDULE)
        assert "First frost No longer in the feed: emailed only if it returns." in dashboard.see("/admin/feed")

    def test_it_can_be_cancelled_once(self, dashboard, held):
        assert "Cancelled. It will not be emailed." in dashboard.follow(
            "/admin/feed", action="cancel", waiting=held.batch
        )
        assert "Waiting to be sent" not in dashboard.see("/admin/feed")
        again = dashboard.follow("/admin/feed", action="cancel", waiting=held.batch)
        assert "Nothing to do: it was sent, cancelled or taken down already." in again

    def test_it_can_be_sent_now_and_the_second_click_does_no_harm(self, dashboard, held):
        for _ in range(2):
            assert "On its way" in dashboard.follow("/admin/feed", action="send", waiting=held.batch)
        assert "Being sent : this takes a moment." in dashboard.see("/admin/feed")
        for message in received("feed"):
            jobs.handle(message)
        assert campaigns.list_page(None, 1, 5).total == 1
        assert "Nothing to do" in dashboard.follow("/admin/feed", action="send", waiting=held.name)

    def test_one_that_cannot_leave_says_so_and_can_still_be_cancelled(self, dashboard, held, monkeypatch):
        service.send_waiting([held.batch])
        later = clock.now() + timedelta(minutes=11)
        monkeypatch.setattr(clock, "now", lambda: later)
        seen = dashboard.see("/admin/feed")
        assert "leaves as soon as the feed can be read. First frost Send now Cancel" in seen

    def test_the_overview_says_that_something_waits(self, dashboard, held):
        assert "1 post waits to be emailed. Send or cancel" in dashboard.see("/admin")
        service.cancel_waiting([held.name])
        assert "to be emailed" not in dashboard.see("/admin")

    def test_an_unknown_action_changes_nothing(self, dashboard, held):
        assert dashboard.post("/admin/feed", action="delete", waiting=held.batch).status == 400
        assert dashboard.post("/admin/feed", action="cancel").status == 303
        assert len(service.view().waiting.entries) == 1

    def test_the_page_shows_the_next_digest(self, dashboard, blog, configure):
        configure(FEED_DIGEST="weekly", FEED_DIGEST_AT="fri 18:00")
        service.check(Trigger.SCHEDULE)
        seen = dashboard.see("/admin/feed")
        assert "are emailed together every Friday at 18:00 (UTC)" in seen
        assert "Nothing new since the last one" in seen
        blog.publish("First frost")
        service.check(Trigger.SCHEDULE)
        assert "First frost Leave out Send now" in dashboard.see("/admin/feed")

    def test_the_api_tells_and_acts(self, admin, held):
        told = admin.get("/admin/api/feed").json
        assert (told["hold"], told["digest"], told["next_digest"]) == (30, "off", None)
        (waiting,) = told["waiting"]
        assert (waiting["title"], waiting["due_at"]) == ("First frost", clock.text(held.due_at))
        cancelled = admin.post("/admin/api/feed", json={"action": "cancel", "entries": [waiting["id"]]})
        assert (cancelled.status, cancelled.json["waiting"]) == (200, [])
        again = admin.post("/admin/api/feed", json={"action": "send", "entries": [waiting["id"]]})
        assert again.status == 409

    @pytest.mark.parametrize(
        "body", [{}, {"action": "send"}, {"action": "send", "entries": []}, {"action": "x", "entries": ["a"]}]
    )
    def test_the_api_refuses_what_makes_no_sense(self, admin, body):
        assert admin.post("/admin/api/feed", json=body).status == 400
