"""Whatever stands in a form or in an address, a page answers with a page: refused perhaps, but never a crash."""

from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.campaigns import service
from chalicelib.campaigns.service import Draft
from chalicelib.desk.composing import WORDS
from tests.desk.conftest import ORIGIN

NAMES = (
    *("subject", "preheader", "format", "body", "text", "audience", "version", "look", "next", "nickname"),
    *("email", "wish", "scheduled_at", "time_zone", "delivery_id", "url", "description", "types", "paused"),
    *("event_id", "from", "to", "kept_body", "campaign_id", *WORDS),
)
ASKED = ("page", "per_page", "q", "status", "source", "tag", "state", "look", "notice", "from")
values = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "",
        "yes",
        "set",
        "some",
        "html",
        "markdown",
        "1",
        "2030-01-01T09:00",
        "Europe/Berlin",
        "ada@example.net",
        "dark",
    ]
)
EASY = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
# Not here: they ask other machines, which their own tests stand in for.
ABROAD = {"/admin/feed", "/admin/webhooks/{webhook_id}/test"}


def _pages(method: str) -> list[str]:
    import app

    return sorted(
        path
        for path, methods in app.app.routes.items()
        if method in methods
        and path.startswith("/admin")
        and not path.startswith("/admin/api/")
        and path not in ABROAD
    )


def _filled(path: str, data: st.DataObject, campaign_id: str) -> str:
    for name in ("campaign_id", "subscriber_id", "webhook_id", "field"):
        if f"{{{name}}}" in path:
            value = data.draw(st.just(campaign_id) | values.filter(bool), label=name)
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@pytest.mark.parametrize("path", _pages("POST"))
def test_any_form_gets_an_answer(desk, path):
    campaign_id = service.create(Draft("Beans", "<p>x</p>")).campaign.id

    @EASY
    @given(data=st.data(), fields=st.dictionaries(st.sampled_from(NAMES), values, max_size=12))
    def send(data, fields):
        answer = desk.http.post(_filled(path, data, campaign_id), form=fields, Origin=ORIGIN)
        assert answer.status in (200, 303, 400, 404, 409), (fields, answer.status)

    send()


@pytest.mark.parametrize("path", _pages("GET"))
def test_any_address_gets_an_answer(desk, path):
    campaign_id = service.create(Draft("Beans", "<p>x</p>")).campaign.id

    @EASY
    @given(data=st.data(), asked=st.dictionaries(st.sampled_from(ASKED), values, max_size=5))
    def look(data, asked):
        answer = desk.http.get(f"{_filled(path, data, campaign_id)}?{urlencode(asked)}")
        assert answer.status in (200, 400, 404, 409), (asked, answer.status)

    look()
