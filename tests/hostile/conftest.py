"""A house with somebody in it: routes that find nothing behind an id would never reach the code behind it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chalicelib.audience import jobs
from chalicelib.events.webhooks import dispatch
from local.ses.main import Client as Mailbox
from tests.conftest import received
from tests.fixtures.abroad import Abroad
from tests.fixtures.client import Client
from tests.rooms.audience.reader import Reader

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("slow")


@dataclass(frozen=True)
class House:
    http: Client
    abroad: Abroad
    known: dict[str, tuple[str, ...]]  # what may stand for a path parameter or a field, and really exists


@pytest.fixture
def house(admin: Client, ses: Mailbox, abroad: Abroad, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(dispatch, "_LANES_AT_ONCE", 1)  # moto is not made for threads
    reader = Reader(admin, ses, _deliver, "grace@example.net").join(nickname="Grace", tags=["a"])
    stored = reader.stored()
    draft = _made(admin, "/admin/api/campaigns", {"subject": "Hello", "body": "<p>Hello</p>"})
    webhook = _made(admin, "/admin/api/webhooks", {"url": abroad.url})
    [person] = admin.get("/admin/api/subscribers").json["items"]
    assert stored
    abroad.subscribe()
    return House(
        admin,
        abroad,
        {
            "campaign_id": (draft["id"],),
            "webhook_id": (webhook["id"],),
            "subscriber_id": (person["id"],),
            "token": (reader.magic_token(), abroad.token),
            "email": ("grace@example.net", "new@example.net"),
        },
    )


def _made(http: Client, path: str, fields: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(path, json=fields)
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def _deliver() -> None:
    for message in received("audience"):
        jobs.handle(message)
