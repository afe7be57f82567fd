"""Waves of imported people over HTTP: in the JSON of a delivery, in the review, and on the pages."""

from typing import Any

import pytest

from chalicelib.audience import recipients
from chalicelib.campaigns import service
from chalicelib.campaigns.model import DeliveryState
from chalicelib.campaigns.sending import mailer, supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import ids
from tests.conftest import received
from tests.rooms.admin.conftest import ORIGIN
from tests.rooms.campaigns.api import API, created
from tests.rooms.campaigns.crowd import gather, gather_imported
from tests.rooms.campaigns.examples import soon

FIELDS = {"number", "size", "sent", "bounced", "complained", "state", "next_at"}


def run(campaign_id: str) -> None:
    """Until nothing is left to do now."""
    for _ in range(6):
        received("deliveries")
        (delivery,) = service.view(campaign_id).deliveries
        supervisor.tend(delivery)
        for message in received("sending"):
            supervisor.drive(Order(**message), lambda: 60)


@pytest.fixture
def waiting(admin: Any, ses: Any) -> dict[str, Any]:
    """A campaign whose first wave has been sent."""
    gather(3)
    gather_imported(60)
    campaign = created(admin)
    admin.post(f"{API}/{campaign['id']}/send", json={})
    run(campaign["id"])
    return admin.get(f"{API}/{campaign['id']}").json


def continued(admin: Any, campaign: dict[str, Any], **body: Any) -> Any:
    (delivery,) = campaign["deliveries"]
    return admin.post(f"{API}/{campaign['id']}/deliveries/{delivery['id']}/continue", json=body)


def test_a_delivery_carries_its_wave(admin: Any, waiting: dict[str, Any]) -> None:
    (delivery,) = waiting["deliveries"]
    wave = delivery["wave"]
    assert set(wave) == FIELDS
    assert (wave["number"], wave["size"], wave["sent"], wave["state"]) == (1, 50, 50, "waiting")
    assert (wave["bounced"], wave["complained"]) == (0, 0)
    assert wave["next_at"] > delivery["started_at"]
    assert (waiting["state"], delivery["sent_count"]) == ("publishing", 53)
    assert admin.get(f"{API}/{waiting['id']}/progress").json["deliveries"][0]["wave"] == wave


def test_the_mails_of_a_wave_say_so_and_use_the_set_that_validates(admin: Any, ses: Any, configure: Any) -> None:
    configure(GNA_LOCAL="true", CONFIGURATION_SET="gna", VALIDATING_CONFIGURATION_SET="gna-imported")
    campaign = created(admin)
    mailing = mailer.Mailer(campaign["id"], campaign["deliveries"][0]["id"])
    (person,) = recipients.reload(gather(1))
    for wave in (0, 2):
        mailing.post([person], wave)
    sets = [mail["headers"]["X-SES-Configuration-Set"] for mail in ses.mails()]
    assert sorted(sets) == ["gna", "gna-imported"]
    assert b'{"Name": "wave", "Value": "2"}' in mailing._templates[2]._begin
    assert b'"wave"' not in mailing._templates[0]._begin


def test_continuing_starts_the_next_wave_once(admin: Any, waiting: dict[str, Any]) -> None:
    answer = continued(admin, waiting)
    assert (answer.status, answer.json["wave"]["number"], answer.json["wave"]["state"]) == (200, 2, "sending")
    assert continued(admin, waiting, wave=1).status == 200
    assert continued(admin, waiting).status == 409
    run(waiting["id"])
    (delivery,) = admin.get(f"{API}/{waiting['id']}").json["deliveries"]
    assert (delivery["state"], delivery["sent_count"], delivery["wave"]) == ("sent", 63, None)
    assert continued(admin, waiting).status == 409


def test_continuing_what_has_no_waves_is_refused(admin: Any) -> None:
    gather(1)
    campaign = created(admin)
    assert continued(admin, campaign).status == 409
    campaign = admin.post(f"{API}/{campaign['id']}/send", json={}).json
    assert campaign["deliveries"][0]["wave"] is None
    assert continued(admin, campaign).status == 409
    campaign["deliveries"][0]["id"] = ids.new()
    assert continued(admin, campaign).status == 404
    assert continued(admin, campaign, wave="first").status == 400


def test_sending_without_waves_is_a_choice_that_is_remembered(admin: Any) -> None:
    campaign = created(admin)
    url = f"{API}/{campaign['id']}"
    assert campaign["deliveries"][0]["waves"] is True
    assert admin.post(f"{url}/send", json={"waves": "no"}).status == 400
    scheduled = admin.post(f"{url}/schedule", json={"scheduled_at": soon(), "waves": False}).json
    assert scheduled["deliveries"][0]["waves"] is False
    assert admin.get(url).json["deliveries"][0]["waves"] is False
    assert admin.post(f"{url}/send", json={}).json["deliveries"][0]["waves"] is True


def test_the_preflight_counts_who_was_imported_and_says_what_happens(admin: Any, ses: Any) -> None:
    gather(5)
    gather_imported(1_300)
    report = admin.get(f"{API}/{created(admin)['id']}/preflight").json
    (finding,) = [each for each in report["findings"] if each["code"] == "imported"]
    assert report["imported"] == 1_300
    assert finding["level"] == "warning"
    for words in ("1,300 recipients were imported", "5% bounces or 0.1% complaints", "10% or 0.5%"):
        assert words in finding["message"]
    assert "waves of 50, 200, 1,000 and 50, 60 minutes apart" in finding["message"]


def test_the_preflight_says_nothing_where_nobody_was_imported(admin: Any, ses: Any) -> None:
    gather(5)
    report = admin.get(f"{API}/{created(admin)['id']}/preflight").json
    assert report["imported"] == 0
    assert "imported" not in {finding["code"] for finding in report["findings"]}


def test_the_pages_say_what_happens_and_go_on(admin: Any, waiting: dict[str, Any]) -> None:
    page = admin.get(f"/admin/campaigns/{waiting['id']}").text
    assert "Wave 1 of 2" in page
    assert "Continue now" in page
    form = {"delivery_id": waiting["deliveries"][0]["id"], "wave": "1"}
    for notice in ("continuing", "continuing"):
        answer = admin.post(f"/admin/campaigns/{waiting['id']}/retry", form=form, Origin=ORIGIN)
        assert answer.headers["Location"].endswith(notice)
    again = admin.post(f"/admin/campaigns/{waiting['id']}/retry", form={**form, "wave": "2"}, Origin=ORIGIN)
    assert again.headers["Location"].endswith("nothing-to-continue")
    run(waiting["id"])
    assert service.view(waiting["id"]).deliveries[0].state is DeliveryState.SENT
    assert "Wave" not in admin.get(f"/admin/campaigns/{waiting['id']}").text


def test_the_send_page_offers_to_send_to_all_at_once(admin: Any, ses: Any) -> None:
    gather_imported(60)
    campaign = created(admin)
    url = f"/admin/campaigns/{campaign['id']}"
    for page in (f"{url}/send", f"{url}/review"):
        assert 'name="at_once"' in admin.get(page).text
    version = admin.get(f"{API}/{campaign['id']}").json["version"]
    admin.post(f"{url}/send", form={"version": str(version), "at_once": "yes"}, Origin=ORIGIN)
    assert admin.get(f"{API}/{campaign['id']}").json["deliveries"][0]["waves"] is False
