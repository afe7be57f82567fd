from datetime import date

from chalicelib.admin import chart
from chalicelib.audience import jobs
from chalicelib.audience.counts import Day
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.feeds import service as feeds
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import account as mail_account
from chalicelib.mail.account import Account
from tests.conftest import received


def test_an_empty_overview_says_what_to_do(dashboard, ses):
    seen = dashboard.see("/admin")
    assert "No subscribers yet" in seen
    assert "Nothing has been sent yet" in seen
    assert "No feed configured" in seen


def test_subscribers_quota_and_the_next_campaign_are_shown(dashboard, ses, person):
    person("ada@example.net", days_ago=20)
    person("bo@example.net")
    waiting = campaigns.create(Draft("Beans", "<p>x"))
    campaigns.schedule(waiting.campaign.id, "2030-01-01T09:00", "Europe/Berlin")
    seen = dashboard.see("/admin")
    assert "Subscribers 2" in seen
    assert "+1 joined" in seen
    assert "Beans" in seen
    assert "Tue 1 Jan 2030, 09:00, Europe/Berlin 1 Jan 2030, 08:00 UTC" in seen
    assert "per second" in seen


def test_an_old_campaign_is_shown_even_after_many_new_drafts(dashboard, ses):
    failed, sending = (campaigns.create(Draft(subject, "x")).campaign.id for subject in ("Failed", "Under way"))
    deliveries.finish(campaigns.send_now(failed).deliveries[0], Counts(2, 1, 0, 1))
    for number in range(21):
        campaigns.create(Draft(f"Draft {number}", "x"))
    assert "Last campaign Failed" in dashboard.see("/admin")
    assert "“Failed” was not sent to everyone" in dashboard.see("/admin")
    campaigns.send_now(sending)
    assert "Sending now Under way" in dashboard.see("/admin")


def test_confirmations_that_are_held_are_shown(dashboard, http, ses, configure):
    configure(MAILS_PER_HOUR="1")
    for number in range(4):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"}, source_ip=f"198.51.{number}.1")
    messages = received("audience")
    for message in messages[:2]:
        jobs.handle(message)
    assert "1 confirmation email is held: " in dashboard.see("/admin")
    for message in messages[2:]:
        jobs.handle(message)
    seen = dashboard.see("/admin")
    assert "3 confirmation emails are held: more people signed up than MAILS_PER_HOUR allows" in seen
    assert "Held emails are sent in order, as each hour allows." in seen


def test_a_part_that_cannot_be_loaded_leaves_a_gap(dashboard, configure):
    configure(AWS_ENDPOINT_URL_SESV2="http://127.0.0.1:9")
    assert "SES did not respond" in dashboard.see("/admin")


def test_a_feed_that_cannot_be_loaded_is_not_said_to_be_missing(dashboard, monkeypatch):
    def unavailable():
        raise Unavailable

    monkeypatch.setattr(feeds, "view", unavailable)
    seen = dashboard.see("/admin")
    assert "Feed Could not be loaded." in seen
    assert "No feed configured" not in seen


def test_the_chart_fills_in_days_without_changes():
    days = [Day("2026-01-01", 10, 0, 10), Day("2026-11-02", 5, 1, 14)]
    drawn = chart.build_chart(days, date(2026, 11, 4), most=5)
    assert drawn
    assert [point.total for point in drawn.points] == [10, 10, 14, 14, 14]
    assert drawn.top == 20
    assert drawn.line.startswith("M0.0 80.0L")
    assert [(week.joined, week.left, week.total) for week in drawn.weeks] == [(5, 1, 14)]


def test_without_counts_there_is_no_chart():
    assert chart.build_chart([], date(2026, 11, 4)) is None


def test_the_overview_and_the_settings_page_report_the_account_in_the_same_words(dashboard, monkeypatch):
    account = Account(200, 1, 190, in_sandbox=True, sending_enabled=False, standing="HEALTHY")
    monkeypatch.setattr(mail_account, "account", lambda: account)
    overview, settings = dashboard.see("/admin"), dashboard.see("/admin/settings")
    for sentence in ("SES sending is paused : no email is sent.", "SES is in the sandbox : email reaches verified"):
        assert sentence in overview
        assert sentence in settings
    assert "The sending quota of 24 hours is almost used up." in overview
