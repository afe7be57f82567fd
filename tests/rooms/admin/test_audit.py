"""The audit log: every act that deletes, exports or sends something, on the pages and in the JSON API."""

import json

import pytest

from chalicelib.audience import editing
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from tests.rooms.admin.conftest import ORIGIN


@pytest.fixture
def ids(dashboard, abroad, person):
    failed = service.send_now(service.create(Draft("Failed", "x")).campaign.id)
    deliveries.finish(failed.deliveries[0], Counts(1, 0, 0, 1))
    sending = service.send_now(service.create(Draft("Running", "x")).campaign.id)
    return {
        "sending": sending.campaign.id,
        "running": sending.deliveries[0].id,
        "draft": service.create(Draft("Beans", "x")).campaign.id,
        "failed": failed.campaign.id,
        "delivery": failed.deliveries[0].id,
        "person": (someone := person("ada@example.net")),
        "seen": editing.view(someone).fingerprint,
        "newcomer": person("bob@example.net", pending=True),
        "url": abroad.url,
        "hook": webhooks.add(NewWebhook(url=abroad.url)).webhook.id,
    }


ACTS = [
    ("subscriber.remove", "POST", "/admin/subscribers/{person}/remove", {}),
    ("subscriber.remove", "DELETE", "/admin/api/subscribers/{person}", None),
    ("subscriber.remove", "POST", "/admin/subscribers/selection/remove", {"id": "{person}"}),
    ("subscriber.change", "POST", "/admin/subscribers/{person}", {"nickname": "Ada", "seen": "{seen}"}),
    ("subscriber.change", "PATCH", "/admin/api/subscribers/{person}", {"nickname": "Ada"}),
    ("subscriber.resend", "POST", "/admin/subscribers/{newcomer}/resend", {}),
    ("subscriber.resend", "POST", "/admin/api/subscribers/{newcomer}/resend", {}),
    ("subscribers.export", "GET", "/admin/api/subscribers/export", None),
    ("do_not_contact.set", "POST", "/admin/do-not-contact", {"email": "ada@example.net"}),
    ("do_not_contact.set", "POST", "/admin/api/do-not-contact", {"email": "ada@example.net"}),
    ("do_not_contact.lift", "POST", "/admin/api/do-not-contact/lift", {"email": "ada@example.net"}),
    ("campaign.send", "POST", "/admin/campaigns/{draft}/send", {"version": "1"}),
    ("campaign.send", "POST", "/admin/api/campaigns/{draft}/send", {}),
    ("campaign.delete", "POST", "/admin/campaigns/{draft}/delete", {}),
    ("campaign.delete", "DELETE", "/admin/api/campaigns/{draft}", None),
    ("campaign.schedule", "POST", "/admin/campaigns/{draft}/schedule", {"scheduled_at": "2030-01-01T00:00"}),
    ("campaign.schedule", "PATCH", "/admin/api/campaigns/{draft}", {"scheduled_at": "2030-01-01T00:00Z"}),
    ("delivery.retry", "POST", "/admin/campaigns/{failed}/retry", {"delivery_id": "{delivery}"}),
    ("delivery.retry", "POST", "/admin/api/campaigns/{failed}/deliveries/{delivery}/retry", {}),
    ("delivery.stop", "POST", "/admin/campaigns/{sending}/stop", {"delivery_id": "{running}"}),
    ("delivery.stop", "POST", "/admin/api/campaigns/{sending}/deliveries/{running}/stop", {}),
    ("campaign.hide", "POST", "/admin/campaigns/{failed}/archive", {"hidden": "yes"}),
    ("campaign.show", "POST", "/admin/campaigns/{failed}/archive", {"hidden": "no"}),
    ("campaign.correct", "POST", "/admin/api/campaigns/{failed}/correction", {"body": "x", "note": "y"}),
    ("campaign.withdraw", "POST", "/admin/campaigns/{failed}/correct/withdraw", {}),
    ("campaign.withdraw", "DELETE", "/admin/api/campaigns/{failed}/correction", None),
    # A webhook can receive addresses, so its changes are logged too.
    ("webhook.add", "POST", "/admin/webhooks", {"url": "{url}"}),
    ("webhook.add", "POST", "/admin/api/webhooks", {"url": "{url}"}),
    ("webhook.change", "POST", "/admin/webhooks/{hook}", {"url": "{url}"}),
    ("webhook.change", "PATCH", "/admin/api/webhooks/{hook}", {"url": "{url}"}),
    ("webhook.remove", "POST", "/admin/webhooks/{hook}/remove", {}),
    ("webhook.remove", "DELETE", "/admin/api/webhooks/{hook}", None),
]


@pytest.mark.parametrize(("act", "method", "path", "fields"), ACTS)
def test_every_act_is_logged_with_who_did_it(dashboard, ids, capsys, act, method, path, fields):
    given = {name: text.format(**ids) for name, text in (fields or {}).items()}
    how = {"json": given} if "/api/" in path else {"form": given, "Origin": ORIGIN}
    answer = dashboard.http.request(method, path.format(**ids), **(how if fields is not None else {}))
    assert answer.status < 400, answer.text
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"audit"' in line]
    assert [(line["action"], line["by"]) for line in lines] == [(act, "dev@localhost")]
    assert "ada@example.net" not in json.dumps(lines)
