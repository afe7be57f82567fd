from datetime import UTC, datetime, timedelta

from chalicelib.admin.pages.feed import _merge_repeated
from chalicelib.feeds.state import Check, Result, Trigger

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
