"""A list that moves in, in the deployed form: a zip through API Gateway byte for byte, the worker behind the queue
with the rights of its role, and undoing it; and what editors change about the publication."""

import io
import json
import urllib.request
import zipfile

import pytest

from tests.rooms.access.conftest import token
from tests.waiting import eventually

HEADER = "Email Address,First Name,Last Name,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID,EUID,NOTES,TAGS"
CONSENT = {"joined": "double", "statement": "They signed up on our old site and confirmed by link."}


@pytest.fixture(scope="module")
def desk(deployment):
    class Desk:
        def call(self, method, path, body=None):
            return deployment.call(method, path, body, {"Cf_Access_Jwt_Assertion": token()})

        def upload(self, content, content_type):
            headers = {"Cf-Access-Jwt-Assertion": token(), "Content-Type": content_type, "Accept": "application/json"}
            request = urllib.request.Request(f"{deployment.api}/admin/api/imports", content, headers, method="POST")
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)

        def ended(self, import_id):
            found = self.call("GET", f"/admin/api/imports/{import_id}").json
            assert sum(found["counts"].values()) == found["done"]
            return found if found["state"] not in ("running", "waiting") else None

    return Desk()


def _zip(people):
    rows = [
        f"{person}@moved.example,Ünà,,2024-01-0{number} 10:00:00,192.0.2.{number},2024-01-0{number} 10:05:0{number},"
        f'192.0.2.{number},{number},e{number},,"""Blog"""'
        for number, person in enumerate(people, 1)
    ]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("subscribed_segment_export_1.csv", "\n".join([HEADER, *rows]))
        archive.writestr(
            "cleaned_segment_export_1.csv",
            f"{HEADER},CLEAN_TIME\nbounced@moved.example,,,,,,,,,,,2024-05-05 10:00:00",
        )
    return packed.getvalue()


def test_a_list_is_imported_and_taken_back(deployment, desk):
    status, found = desk.upload(_zip(["ada", "grace", "mary"]), "application/zip")
    assert (status, found["state"], found["format"], found["rows"]) == (201, "read", "mailchimp", 4)
    assert found["counts"]["imported"] == 3
    assert deployment.rows("leavers") == []
    path = f"/admin/api/imports/{found['id']}"
    started = desk.call("POST", f"{path}/start", {"consent": CONSENT, "source": "mailchimp", "tags": ["moved"]})
    assert started.status == 202, started.body
    ended = eventually(lambda: desk.ended(found["id"]), 90)
    assert (ended["state"], ended["done"], ended["counts"]["imported"]) == ("done", 4, 3)
    moved = [row for row in deployment.rows("subscribers") if row["email"].endswith("@moved.example")]
    assert {row["status"] for row in moved} == {"activated"}
    assert len(moved) == 3
    assert "bounced@moved.example" in desk.call("GET", f"{path}/report").body
    assert desk.call("POST", f"{path}/undo").status in (200, 202)
    assert eventually(lambda: desk.ended(found["id"])["state"] == "undone", 60)
    assert not [row for row in deployment.rows("subscribers") if row["email"].endswith("@moved.example")]
    assert "@moved.example" not in deployment.log()


def test_one_subscriber_is_added_by_hand_and_removed(desk):
    body = {"email": "one@moved.example", "nickname": "Ada", "consent": CONSENT}
    added = desk.call("POST", "/admin/api/subscribers", body)
    assert added.status == 201, added.body
    subscriber_id = added.json["id"]
    assert desk.call("DELETE", f"/admin/api/subscribers/{subscriber_id}").status in (200, 202, 204)


def test_the_publication_is_changed_while_it_runs(deployment, desk):
    before = desk.call("GET", "/admin/api/site").json
    changed = desk.call("PATCH", "/admin/api/site", {"tagline": "Moved in", "version": before["version"]})
    assert changed.status == 200, changed.body
    try:
        assert eventually(lambda: "Moved in" in deployment.get("/", Accept="text/html").body, 60)
    finally:
        assert desk.call("PATCH", "/admin/api/site", {"tagline": None}).status == 200


@pytest.mark.parametrize(
    "path", ["/archive", "/archive/feed.xml", "/archive/feed.json", "/sitemap.xml", "/robots.txt"]
)
def test_the_public_face_is_there(deployment, path):
    answer = deployment.get(path, Accept="*/*")
    assert answer.status == 200, answer.body
    assert "public" in answer.headers["Cache-Control"]
