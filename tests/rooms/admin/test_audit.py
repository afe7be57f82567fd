"""Who did what is in the log: every act that takes something away, or out, or sends it, by page and by JSON."""

import json

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from tests.rooms.admin.conftest import ORIGIN


@pytest.fixture
def house(desk, abroad, person):
    failed = service.send_now(service.create(Draft("Failed", "x")).campaign.id)
    deliveries.finish(failed.deliveries[0], Counts(1, 0, 0, 1))
    return {
        "letter": service.create(Draft("Beans", "x")).campaign.id,
        "failed": failed.campaign.id,
        "delivery": failed.deliveries[0].id,
        "person": person("ada@example.net"),
        "url": abroad.url,
        "hook": webhooks.add(NewWebhook(url=abroad.url)).webhook.id,
    }


ACTS = [
    ("subscriber.remove", "POST", "/admin/subscribers/{person}/remove", {}),
    ("subscriber.remove", "DELETE", "/admin/api/subscribers/{person}", None),
    ("subscribers.export", "GET", "/admin/api/subscribers/export", None),
    ("do_not_contact.set", "POST", "/admin/do-not-contact", {"email": "ada@example.net"}),
    ("do_not_contact.set", "POST", "/admin/api/do-not-contact", {"email": "ada@example.net"}),
    ("do_not_contact.lift", "POST", "/admin/api/do-not-contact/lift", {"email": "ada@example.net"}),
    ("campaign.send", "POST", "/admin/campaigns/{letter}/send", {"version": "1"}),
    ("campaign.send", "POST", "/admin/api/campaigns/{letter}/send", {}),
    ("campaign.delete", "POST", "/admin/campaigns/{letter}/delete", {}),
    ("campaign.delete", "DELETE", "/admin/api/campaigns/{letter}", None),
    ("campaign.schedule", "POST", "/admin/campaigns/{letter}/schedule", {"scheduled_at": "2030-01-01T00:00"}),
    ("campaign.schedule", "PATCH", "/admin/api/campaigns/{letter}", {"scheduled_at": "2030-01-01T00:00Z"}),
    ("delivery.retry", "POST", "/admin/campaigns/{failed}/retry", {"delivery_id": "{delivery}"}),
    ("delivery.retry", "POST", "/admin/api/campaigns/{failed}/deliveries/{delivery}/retry", {}),
    # A webhook may take addresses out, so who lets it is worth knowing.
    ("webhook.add", "POST", "/admin/webhooks", {"url": "{url}"}),
    ("webhook.add", "POST", "/admin/api/webhooks", {"url": "{url}"}),
    ("webhook.change", "POST", "/admin/webhooks/{hook}", {"url": "{url}"}),
    ("webhook.change", "PATCH", "/admin/api/webhooks/{hook}", {"url": "{url}"}),
    ("webhook.remove", "POST", "/admin/webhooks/{hook}/remove", {}),
    ("webhook.remove", "DELETE", "/admin/api/webhooks/{hook}", None),
]


@pytest.mark.parametrize(("act", "method", "path", "fields"), ACTS)
def test_who_did_it_is_logged(desk, house, capsys, act, method, path, fields):
    given = {name: text.format(**house) for name, text in (fields or {}).items()}
    how = {"json": given} if "/api/" in path else {"form": given, "Origin": ORIGIN}
    answer = desk.http.request(method, path.format(**house), **(how if fields is not None else {}))
    assert answer.status < 400, answer.text
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"audit"' in line]
    assert [(line["action"], line["by"]) for line in lines] == [(act, "dev@localhost")]
    assert "ada@example.net" not in json.dumps(lines)
