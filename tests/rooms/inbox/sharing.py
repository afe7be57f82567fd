"""Members who share, and an editor who makes campaigns of what they share."""

from typing import Any

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Item
from chalicelib.inbox import offers, recalls
from chalicelib.kernel.aws import objects
from chalicelib.media import places
from tests.conftest import received
from tests.fixtures.client import Answer, Client
from tests.rooms.sightings.person import Person, prepare_photos

COMPOSE = "/admin/api/inbox/compose"
NOTICE = "A sighting was withdrawn by the member who shared it, and taken out."


class Editor:
    def __init__(self, admin: Client) -> None:
        self.admin = admin

    def entries(self, query: str = "") -> list[dict[str, Any]]:
        answer = self.admin.get(f"/admin/api/inbox{query}")
        assert answer.status == 200, answer.text
        found: list[dict[str, Any]] = answer.json["items"]
        return found

    def everywhere(self) -> list[dict[str, Any]]:
        """Whatever list it is in, also what was dismissed."""
        return self.entries("?state=ALL")

    def entry(self) -> dict[str, Any]:
        (found,) = self.entries()
        return found

    def compose(self, *ids: str, **more: Any) -> Answer:
        return self.admin.post(COMPOSE, json={"sections": [{"ids": list(ids)}], **more})

    def draft(self, *ids: str, text: str = "Hello.") -> str:
        """A draft with words of the editor's own, and these entries."""
        draft = {"subject": "Issue 1", "body": text, "format": "markdown"}
        id = self.admin.post("/admin/api/campaigns", json=draft).json["id"]
        answer = self.compose(*ids, campaign_id=id)
        assert answer.status == 200, answer.text
        return str(id)

    def schedule(self, id: str, at: str = "2030-01-01T00:00:00Z") -> None:
        answer = self.admin.post(f"/admin/api/campaigns/{id}/schedule", json={"scheduled_at": at})
        assert answer.status == 200, answer.text

    def send(self, id: str) -> Answer:
        return self.admin.post(f"/admin/api/campaigns/{id}/send")

    def campaign(self, id: str) -> Any:
        return self.admin.get(f"/admin/api/campaigns/{id}").json

    def items(self, id: str) -> tuple[Item, ...]:
        return blocks.items(campaigns.view(id).content.body)


def share(person: Person, animal_name: str = "Red Fox", photo: bytes | None = None, **chosen: Any) -> Any:
    """A sighting that is shared, with a photo that is ready if there is one."""
    given = {"upload_id": person.upload(photo)} if photo else {}
    seen = person.see(animal_name, "The den behind 5 Elm Street", **given)
    prepare_photos()
    answer = person.share(seen, **chosen)
    assert answer.status == 200, answer.text
    return answer.json


def recall_messages() -> list[dict[str, Any]]:
    return [message for message in received("feed") if message.get("kind") == offers.RECALL]


def work_off_recalls() -> None:
    for message in recall_messages():
        recalls.handle(message)


def is_public(url: str) -> bool:
    return objects.get(places.public(url.rpartition("/")[2]), 1) is not None
