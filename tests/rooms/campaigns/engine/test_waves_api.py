"""Waves as programs see them: the fields of a delivery, and going on by request."""

from datetime import timedelta

from chalicelib.campaigns import service
from chalicelib.kernel import clock
from tests.rooms.campaigns.api import API, created
from tests.rooms.campaigns.crowd import gather, gather_imported
from tests.rooms.campaigns.engine.test_waves import drive, report


def sent_campaign(admin, **body):
    campaign = created(admin)
    assert admin.post(f"{API}/{campaign['id']}/send", json=body).status in (200, 202)
    delivery = service.view(campaign["id"]).deliveries[0]
    drive(delivery)
    return delivery


def view(admin, delivery):
    return admin.get(f"{API}/{delivery.campaign_id}").json


def go_on(admin, delivery, **given):
    return admin.post(f"{API}/{delivery.campaign_id}/deliveries/{delivery.id}/continue", **given)


def test_a_delivery_tells_its_wave_and_the_campaign_stays_publishing(ses, admin):
    gather(3)
    gather_imported(60)
    begun = clock.now()
    delivery = sent_campaign(admin)
    campaign = view(admin, delivery)
    assert campaign["state"] == "publishing"
    wave = campaign["deliveries"][0]["wave"]
    next_at = clock.parse(wave.pop("next_at"))
    assert wave == {"number": 1, "size": 50, "sent": 50, "bounced": 0, "complained": 0, "state": "waiting"}
    assert timedelta(minutes=59) < next_at - begun < timedelta(minutes=62)


def test_the_next_wave_starts_at_once_by_request_without_a_body(ses, admin):
    gather_imported(60)
    delivery = sent_campaign(admin)
    answer = go_on(admin, delivery)
    assert answer.status in (200, 202), answer.text
    assert answer.json["wave"]["number"] == 2
    drive(delivery)
    assert view(admin, delivery)["state"] == "published"
    assert go_on(admin, delivery).status == 409


def test_two_bounces_stop_it_and_the_button_goes_on(ses, admin):
    gather_imported(60)
    delivery = sent_campaign(admin)
    report(delivery, 1, bounces_of=1)
    assert view(admin, delivery)["deliveries"][0]["wave"]["state"] == "waiting", "one is not enough"
    report(delivery, 1, bounces_of=1, start=1)
    wave = view(admin, delivery)["deliveries"][0]["wave"]
    assert (wave["state"], wave["bounced"], wave["next_at"]) == ("stopped", 2, None)
    assert view(admin, delivery)["state"] == "publishing"
    assert go_on(admin, delivery, json={"wave": 1}).status in (200, 202)
    drive(delivery)
    assert view(admin, delivery)["state"] == "published"


def test_nobody_imported_means_no_wave(ses, admin):
    gather(3)
    assert view(admin, sent_campaign(admin))["deliveries"][0]["wave"] is None
