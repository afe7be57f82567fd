"""A house with somebody in it: routes that find nothing behind an id would never reach the code behind it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chalicelib.audience import jobs
from chalicelib.events.webhooks import dispatch
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.media import jobs as media_jobs
from chalicelib.media import service as media
from chalicelib.members import invitations, passwords
from chalicelib.members import service as members
from chalicelib.members.stores import members as member_store
from local.ses.main import Client as Mailbox
from tests.conftest import received
from tests.fixtures.abroad import Abroad
from tests.fixtures.client import Client
from tests.rooms.audience.reader import Reader
from tests.rooms.media import pictures

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
def house(
    admin: Client, ses: Mailbox, abroad: Abroad, configure: Any, media_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> House:
    """Whoever asks is an editor and a member at once: each route looks at what concerns it."""
    configure(MEMBERS="open")
    monkeypatch.setattr(dispatch, "_LANES_AT_ONCE", 1)  # moto is not made for threads
    monkeypatch.setattr(passwords, "COST", 4)  # and nobody has all day
    member = _join(admin)
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
            "email": ("grace@example.net", "new@example.net", "ada@example.net"),
            **member,
        },
    )


def _join(http: Client) -> dict[str, tuple[str, ...]]:
    """Somebody with an account, a shared sighting with a photo, a further upload, and an invitation."""
    member, value = members.sign_up("ada@example.net", "Analytical-1", "Analytical-1", None, "192.0.2.1")
    tables.transact(member_store.verify_write(member, clock.now()))
    http.cookie = f"__Host-session={value}"
    first, second = (media.receive(member.id, pictures.encode(pictures.grid())) for _ in range(2))
    body = {"animal_name": "Red fox", "location": "Heath", "upload_id": first}
    sighting = _made(http, "/api/sightings", body)
    media_jobs.prepare(first)
    assert http.post(f"/api/sightings/{sighting['id']}/share", json={}).status == 200
    invitation = invitations.invite("eve@example.net")
    return {
        "member_id": (member.wire_id,),
        "sighting_id": (sighting["id"],),
        "upload_id": (second, first),
        "invitation_id": (invitation.id,),
    }


def _made(http: Client, path: str, fields: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(path, json=fields)
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def _deliver() -> None:
    for message in received("audience"):
        jobs.handle(message)
