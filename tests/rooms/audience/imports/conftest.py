"""An editor who brings a list: `bring("email\\n…")`, and the worker that goes through it."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.audience.imports import jobs
from tests.conftest import received
from tests.fixtures.client import Answer, Client

PATH = "/admin/api/imports"
STATEMENT = "They signed up on my old site and confirmed by email."
DOUBLE = {"joined": "double", "statement": STATEMENT}


class Editor:
    def __init__(self, http: Client) -> None:
        self.http = http

    def bring(self, text: str | bytes, content_type: str = "text/csv") -> Answer:
        return self.http.post(PATH, body=text, Content_Type=content_type)

    def read(self, id: str, **body: Any) -> Answer:
        return self.http.post(f"{PATH}/{id}/read", json=body)

    def start(self, id: str, consent: dict[str, Any] = DOUBLE, **body: Any) -> Answer:
        given = {"consent": consent, "source": "old list", "tags": [], **body}
        return self.http.post(f"{PATH}/{id}/start", json=given)

    def see(self, id: str) -> dict[str, Any]:
        found = self.http.get(f"{PATH}/{id}").json
        assert sum(found["counts"].values()) == found["done"]
        return dict(found)

    def act(self, id: str, verb: str) -> Answer:
        return self.http.post(f"{PATH}/{id}/{verb}", json={})

    def report(self, id: str) -> Answer:
        return self.http.get(f"{PATH}/{id}/report")

    def work(self) -> None:
        """Until nothing is queued."""
        while messages := received("feed"):
            for message in messages:
                jobs.work(message["import_id"], lambda: True)

    def run(self, text: str | bytes, consent: dict[str, Any] = DOUBLE, **body: Any) -> dict[str, Any]:
        """From the file to the end."""
        id = self.bring(text).json["id"]
        answer = self.start(id, consent, **body)
        assert answer.status == 202, answer.text
        self.work()
        return self.see(id)

    def subscribers(self) -> dict[str, dict[str, Any]]:
        """Everybody, by address, with what is stored of each."""
        items = self.http.get("/admin/api/subscribers?limit=100").json["items"]
        details = [self.http.get(f"/admin/api/subscribers/{item['id']}").json for item in items]
        return {detail["email"]: detail for detail in details}


@pytest.fixture
def editor(admin: Client, media_bucket: str) -> Editor:
    return Editor(admin)


@pytest.fixture
def bucket(media_bucket: str) -> Callable[[], list[str]]:
    """What lies in the bucket."""
    import boto3

    s3 = boto3.client("s3")
    return lambda: [item["Key"] for item in s3.list_objects_v2(Bucket=media_bucket).get("Contents", [])]
