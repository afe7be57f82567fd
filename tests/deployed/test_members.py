"""Members and their photos in the deployed form: the cookie through API Gateway, a signed upload to the bucket, a
photo in a form, the worker, and the link to what it made."""

import io
import json
import re
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from PIL import Image

from tests.waiting import eventually

SITE = "https://news.example.org"
PASSWORD = "Analytical-1"


def _photo(color=(200, 90, 40)):
    """With a position in it, as phones write one."""
    exif = Image.Exif()
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 30.0, 0.0), 3: "E", 4: (13.0, 24.0, 0.0)})
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), color).save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


def _form(fields, name, content):
    """A body of `multipart/form-data`, and its type."""
    named = '--gna\r\nContent-Disposition: form-data; name="{}"'
    parts = [f"{named.format(key)}\r\n\r\n{value}\r\n" for key, value in fields.items()]
    parts.append(f'{named.format(name)}; filename="p.jpg"\r\nContent-Type: image/jpeg\r\n\r\n')
    return "".join(parts).encode() + content + b"\r\n--gna--\r\n", "multipart/form-data; boundary=gna"


def _send(url, method="POST", body=None, **headers):
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.headers, refusal.read()


@pytest.fixture(scope="module")
def member(deployment):
    """Signs up, and answers with what to send as a cookie."""
    body = {"email": "ada@example.net", "password": PASSWORD, "password_confirm": PASSWORD}
    answer = deployment.call("POST", "/api/auth/signup", body, {"Origin": SITE})
    assert answer.status == 201, answer.body
    cookie = answer.headers["Set-Cookie"]
    assert re.fullmatch(
        r"__Host-session=[0-9a-f]{32}\.[\w-]{43}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax; Secure", cookie
    )
    return {"Cookie": cookie.partition(";")[0], "Origin": SITE}


def test_a_member_is_known_by_the_cookie_until_they_sign_out(deployment, member):
    answer = deployment.call("POST", "/api/auth/signin", {"email": "ada@example.net", "password": PASSWORD})
    cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
    assert deployment.get("/api/auth/me", **cookie).json["email"] == "ada@example.net"
    assert deployment.get("/api/auth/me").json == {"error": "Authentication required"}
    assert deployment.call("POST", "/api/auth/signout", headers=cookie).status == 204
    assert deployment.get("/api/auth/me", **cookie).status == 401
    assert deployment.get("/api/auth/me", **member).status == 200


def test_a_foreign_page_is_refused(deployment, member):
    answer = deployment.call("POST", "/api/sightings", {}, member | {"Origin": "https://evil.example"})
    assert (answer.status, answer.json) == (403, {"error": "Cross-site request refused"})


def test_an_address_is_verified_by_the_mailed_link(deployment, member):
    texts = eventually(lambda: [m["BodyText"] for m in deployment.emulator.mails() if m["To"] == ["ada@example.net"]])
    [token] = re.findall(r"/verify\?token=(\S+)", texts[-1])
    assert deployment.get(f"/verify?token={token}").status == 200, "opening uses nothing up"
    answer = deployment.call("POST", "/api/auth/verify", {"token": token})
    assert (answer.status, answer.json) == (200, {"status": "verified"})
    assert deployment.get("/api/auth/me", **member).json["verified"] is True
    assert token not in deployment.log()


def test_a_photo_goes_straight_to_the_bucket_and_is_made_anew_by_the_worker(deployment, member):
    photo = _photo()
    wanted = {"content_type": "image/jpeg", "size": len(photo)}
    upload = deployment.call("POST", "/api/upload/photo", wanted, member).json
    _preflight(upload["url"])
    body, kind = _form(upload["fields"], "file", photo)
    status, headers, answer = _send(upload["url"], body=body, **{"Content-Type": kind, "Origin": SITE})
    assert status in (200, 201, 204), answer
    assert headers["Access-Control-Allow-Origin"] == SITE
    sighting = {"animal_name": "Red fox", "location": "Heath", "upload_id": upload["upload_id"]}
    created = deployment.call("POST", "/api/sightings", sighting, member)
    assert created.status == 201, created.body
    _check_served(deployment, member, created.json["id"])


def _preflight(url):
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    status, headers, _ = _send(url, "OPTIONS", **asked)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, SITE)
    assert _send(url, "OPTIONS", **asked | {"Origin": "https://evil.example"})[0] == 403


def test_a_photo_in_a_form_arrives_byte_by_byte(deployment, member):
    body, kind = _form({}, "photo", _photo((30, 120, 60)))
    status, _, answer = _send(deployment.api + "/api/upload/photo", body=body, **{"Content-Type": kind}, **member)
    assert status == 201, answer
    sighting = {"animal_name": "Hare", "location": "Field", "upload_id": json.loads(answer)["upload_id"]}
    created = deployment.call("POST", "/api/sightings", sighting, member)
    assert created.status == 201, created.body
    _check_served(deployment, member, created.json["id"])


def _check_served(deployment, member, id):
    def ready():
        found = deployment.get(f"/api/sightings/{id}", **member).json
        return found if found["photo_state"] != "processing" else None

    found = eventually(ready, 60)
    assert (found["photo_state"], found["photo_format"]) == ("ready", "image/jpeg")
    status, headers, content = _send(found["photo_url"], "GET")
    assert (status, headers["Content-Type"]) == (200, "image/jpeg")
    assert len(content) == found["photo_size_bytes"]
    assert not Image.open(io.BytesIO(content)).getexif()
    for secret in (urlsplit(found["photo_url"]).query, member["Cookie"].partition("=")[2]):
        assert secret not in deployment.log()


def test_a_deleted_account_leaves_no_photo_and_no_address(deployment):
    body = {"email": "bob@example.net", "password": PASSWORD, "password_confirm": PASSWORD}
    cookie = deployment.call("POST", "/api/auth/signup", body).headers["Set-Cookie"].partition(";")[0]
    form, kind = _form({}, "photo", _photo((90, 90, 200)))
    sent = {"Content-Type": kind, "Cookie": cookie, "Origin": SITE}
    upload = json.loads(_send(deployment.api + "/api/upload/photo", body=form, **sent)[2])
    sighting = {"animal_name": "Owl", "location": "Barn", **upload}
    id = deployment.call("POST", "/api/sightings", sighting, {"Cookie": cookie}).json["id"]
    _check_served(deployment, {"Cookie": cookie}, id)
    before = _objects(deployment)
    assert deployment.call("DELETE", "/api/auth/me", {"password": PASSWORD}, {"Cookie": cookie}).status == 204
    assert "bob@example.net" not in json.dumps(deployment.rows("members") + deployment.rows("member-emails"))
    eventually(lambda: len(_objects(deployment)) == len(before) - 2, 60)  # the photo and its small copy


def _objects(deployment):
    bucket = f"{deployment.prefix}-media-000000000000"
    return deployment.client("s3").list_objects_v2(Bucket=bucket).get("Contents", [])
