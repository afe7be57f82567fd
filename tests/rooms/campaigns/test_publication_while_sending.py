"""A change of the publication while a campaign is being sent: everybody gets the same mail."""

from datetime import timedelta

from chalicelib.campaigns import service
from chalicelib.campaigns.sending import mailer
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.site import service as site


def test_a_worker_that_starts_after_a_change_sends_what_the_first_one_did(http, ses, monkeypatch):
    site.change({"name": "Before"}, "ada@example.org")
    detail = service.send_now(service.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    later = clock.now() + timedelta(seconds=5)
    monkeypatch.setattr(clock, "now", lambda: later)
    site.change({"name": "After", "colours.accent": "#aa0000"}, "ada@example.org")
    (delivery,) = detail.deliveries
    prepared = mailer.Mailer(detail.campaign.id, delivery.id)
    assert "Before" in prepared._mailing.html
    assert "After" not in prepared._mailing.html
    assert "#aa0000" not in prepared._mailing.html


def test_every_version_of_the_last_year_can_be_found_by_its_time(http, monkeypatch):
    start = clock.now()
    for minutes, name in ((10, "One"), (20, "Two"), (30, "Three")):
        monkeypatch.setattr(clock, "now", lambda minutes=minutes: start + timedelta(minutes=minutes))
        site.change({"name": name}, "ada@example.org")
    seen = [site.as_of(start + timedelta(minutes=at)).name for at in (5, 10, 15, 25, 30, 600)]
    assert seen == ["The Daily Test", "One", "One", "Two", "Three", "Three"]


def test_an_hour_of_many_changes_is_no_other_publication(http, monkeypatch):
    start = clock.now()
    site.change({"name": "Before"}, "ada@example.org")
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(minutes=10))
    for number in range(site.HISTORY + 1):
        site.change({"tagline": f"Number {number}"}, "ada@example.org")
    assert site.as_of(start + timedelta(minutes=5)).name == "Before"
