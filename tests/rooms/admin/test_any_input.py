"""Whatever is sent in a form or a URL, a page answers: perhaps with an error, but it never crashes."""

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.admin.campaign_form import TARGETING_FIELDS
from chalicelib.campaigns import service
from chalicelib.campaigns.service import Draft
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.inbox.model import DESK
from tests.hostile.anything import bounded
from tests.rooms.admin.conftest import ORIGIN
from tests.rooms.following import made
from tests.rooms.inbox.things import receive, video

pytestmark = pytest.mark.slow

NAMES = (
    *("subject", "preheader", "format", "body", "text", "audience", "version", "look", "next", "nickname"),
    *("email", "action", "scheduled_at", "time_zone", "delivery_id", "url", "description", "types", "paused"),
    *("event_id", "from", "to", "kept_body", "campaign_id", "note", "hidden", *TARGETING_FIELDS),
    *(
        "provider",
        "channel_id",
        "q",
        "cursor",
        "sync",
        "pause",
        "resume",
        "read",
        "newest_only",
        "bookmark",
        "dismiss",
        "act",
        "id",
        "undo",
        "expected",
        "section",
        "subject",
        "heading",
        "place",
    ),
)
ASKED = (
    *("page", "per_page", "q", "status", "source", "tag", "state", "look", "notice", "from"),
    *("provider", "cursor", "items", "code", "error"),
)
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
EASY = bounded(4)


def _pages(method: str) -> list[str]:
    import app

    return sorted(
        path
        for path, methods in app.app.routes.items()
        if method in methods and path.startswith("/admin") and not path.startswith("/admin/api/")
    )


@pytest.fixture
def known(dashboard, abroad, person):
    """Ids that exist, for the parameters of paths."""
    return {
        "campaign_id": service.create(Draft("Beans", "<p>x</p>")).campaign.id,
        "subscriber_id": person("ada@example.net"),
        "webhook_id": webhooks.add(NewWebhook(url=abroad.url)).webhook.id,
        "field": "body",
        "follow_id": made.follow().id.replace("-", ""),
        "entry_id": receive(DESK, video())[0],
    }


def _filled(path: str, data: st.DataObject, known: dict[str, str]) -> str:
    for name, there in known.items():
        if f"{{{name}}}" in path:
            value = data.draw(st.just(there) | values.filter(bool), label=name)
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@pytest.mark.parametrize("path", _pages("POST"))
def test_any_form_is_answered(dashboard, abroad, known, path):

    @EASY
    @given(data=st.data(), fields=st.dictionaries(st.sampled_from(NAMES), values, max_size=12))
    def send(data, fields):
        abroad.say(data)
        answer = dashboard.http.post(_filled(path, data, known), form=fields, Origin=ORIGIN)
        assert answer.status in (200, 303, 400, 404, 409, 429), (fields, answer.status)

    send()


@pytest.mark.parametrize("path", _pages("GET"))
def test_any_url_is_answered(dashboard, known, path):

    @EASY
    @given(data=st.data(), asked=st.dictionaries(st.sampled_from(ASKED), values, max_size=5))
    def look(data, asked):
        answer = dashboard.http.get(f"{_filled(path, data, known)}?{urlencode(asked)}")
        assert answer.status in (200, 400, 404, 409), (asked, answer.status)

    look()
