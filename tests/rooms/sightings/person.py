"""A member with a session of their own, at the app's JSON. Accounts are stored directly: hashing a password takes
longer than most tests."""

import io
from collections.abc import Callable
from typing import Any

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import objects, tables
from chalicelib.media import jobs as media_jobs
from chalicelib.media import places
from chalicelib.members import service as members
from chalicelib.members import sessions
from chalicelib.members.model import Member
from chalicelib.members.stores import emails
from chalicelib.members.stores import members as member_store
from tests.conftest import received
from tests.fixtures.client import Answer, Client

HERE = "https://news.example.org"
BOUNDARY = "----boundary"


class Person:
    def __init__(self, http: Client, name: str, verified: bool = True) -> None:
        now = clock.now()
        member = Member(ids.new(), f"{name}@example.net", now, verified_at=now if verified else None)
        self.http, self.id = http, member.id
        value, session = sessions.begin_write(member, now)
        tables.transact(emails.claim_write(member), *member_store.create_writes(member, "no hash"), session)
        self.cookie = f"__Host-session={value}"

    def ask(self, method: str, path: str, **options: Any) -> Answer:
        return self.http.request(method, path, **{"Cookie": self.cookie, **options})

    def get(self, path: str = "", **options: Any) -> Answer:
        return self.ask("GET", f"/api/sightings{path}", **options)

    def post(self, path: str = "", **options: Any) -> Answer:
        return self.ask("POST", f"/api/sightings{path}", **options)

    def change(self, sighting: dict[str, Any], **fields: Any) -> Answer:
        """As it was read."""
        body = {"updated_at": sighting["updated_at"], **fields}
        return self.ask("PATCH", f"/api/sightings/{sighting['id']}", json=body)

    def delete(self, sighting: dict[str, Any]) -> Answer:
        return self.ask("DELETE", f"/api/sightings/{sighting['id']}")

    def share(self, sighting: dict[str, Any], **fields: Any) -> Answer:
        return self.post(f"/{sighting['id']}/share", json=fields)

    def withdraw(self, sighting: dict[str, Any]) -> Answer:
        return self.ask("DELETE", f"/api/sightings/{sighting['id']}/share")

    def read(self, sighting: dict[str, Any]) -> Any:
        answer = self.get(f"/{sighting['id']}")
        assert answer.status == 200, answer.text
        return answer.json

    def see(self, animal_name: str = "Red Fox", location: str = "Central Park", **fields: Any) -> Any:
        """A sighting that is written down."""
        answer = self.post(json={"animal_name": animal_name, "location": location, **fields})
        assert answer.status == 201, answer.text
        return answer.json

    def announce(self, content_type: Any = "image/png", size: Any = 100) -> Answer:
        return self.ask("POST", "/api/upload/photo", json={"content_type": content_type, "size": size})

    def send_form(self, *parts: bytes, origin: str = HERE) -> Answer:
        body = b"".join(b"--" + BOUNDARY.encode() + b"\r\n" + part + b"\r\n" for part in parts)
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        body += f"--{BOUNDARY}--\r\n".encode()
        return self.ask("POST", "/api/upload/photo", body=body, Content_Type=kind, Origin=origin)

    def upload(self, content: bytes | None = None) -> str:
        """An upload that can be attached."""
        answer = self.send_form(file_part(content if content is not None else png()))
        assert answer.status == 201, answer.text
        return str(answer.json["upload_id"])

    def upload_signed(self, content: bytes) -> str:
        """As a browser does that posts the file to the bucket, whatever the bucket lets through."""
        upload_id = self.announce().json["upload_id"]
        objects.put(places.incoming(upload_id), content, "image/png")
        return str(upload_id)

    def pages(self, query: str, between: Callable[[], None] = lambda: None) -> list[list[dict[str, Any]]]:
        """Every page of a list; `between` is done after each."""
        found, cursor = [], ""
        while True:
            page = self.get(f"?{query}{cursor}").json
            assert page["has_more"] is (page["next_cursor"] is not None)
            found.append(page["items"])
            if not page["has_more"]:
                return found
            cursor = f"&cursor={page['next_cursor']}"
            between()

    def counts(self) -> tuple[int, int]:
        member = members.find(self.id)
        assert member
        return member.sightings, member.shared


def file_part(content: bytes, name: str = "photo", filename: str = "photo.png") -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"\r\nContent-Type: image/png\r\n\r\n'
    return head.encode() + content


def text_part(name: str, value: str) -> bytes:
    return f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()


def png(width: int = 6, height: int = 4) -> bytes:
    return _picture("PNG", width, height)


def jpeg(width: int = 6, height: int = 4) -> bytes:
    return _picture("JPEG", width, height)


def prepare_photos() -> None:
    """Let the worker do what is queued."""
    for message in received("media"):
        media_jobs.handle(message)


def has_files(picture_id: str) -> bool:
    return any(
        objects.get(place, 1)
        for place in (places.incoming(picture_id), places.photo(picture_id), places.small(picture_id))
    )


def _picture(kind: str, width: int, height: int) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(content, kind)
    return content.getvalue()
