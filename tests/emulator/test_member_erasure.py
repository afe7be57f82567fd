"""After a member is gone, nothing that is stored, queued or logged names them, their places or their photos; while
they are there, no password, session, mailed link or link to a photo is stored or logged."""

import json
import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from chalicelib.kernel import clock
from chalicelib.members import passwords
from tests.emulator import dump
from tests.rooms.media import pictures

EMAIL, PASSWORD, OTHER = "ada.lovelace@example.net", "Analytical-1", "Difference-2"
PLACE, SHOWN, CREDIT = "behind Ockham Park, by the yew", "Surrey", "Countess of Numbers"
BOUNDARY = "gna"


@pytest.fixture
def member(emulator, http, work, ses, configure, monkeypatch):
    configure(MEMBERS="open", DISABLE_AUTH="true", GNA_LOCAL="true")
    monkeypatch.setattr(passwords, "COST", 4)
    return Member(http, work, ses)


class Member:
    """Somebody who does all there is to do with an account."""

    def __init__(self, http, work, ses):
        self.http, self.work, self.ses = http, work, ses
        self.secrets = {PASSWORD, OTHER}

    def call(self, method, path, json=None, status=200, **options):
        answer = self.http.request(method, path, json=json, **options)
        assert answer.status == status, answer.text
        if cookie := (answer.headers["Set-Cookie"] or "").partition(";")[0]:
            self.http.cookie = cookie
            self.secrets |= {cookie.partition(".")[2]} - {""}
        return answer.json if answer.body else None

    def token(self, path):
        [link, *_] = re.findall(rf"{path}\?token=(\S+)", self.ses.mails(to=EMAIL)[0]["text"])
        self.secrets.add(link.partition(".")[2])
        return link

    def live(self):
        self.call("POST", "/api/auth/signup", _passwords(PASSWORD) | {"email": EMAIL}, 201)
        self.work("members")
        self.call("POST", "/api/auth/verify", {"token": self.token("/verify")})
        self.call("POST", "/api/auth/signin", {"email": EMAIL, "password": PASSWORD})
        self.call("PATCH", "/api/auth/me", _passwords(OTHER) | {"current_password": PASSWORD})
        self.call("POST", "/api/auth/request-reset", {"email": EMAIL})
        self.work("members")
        self.token("/reset")
        kept, deleted = self.post("Red fox"), self.post("Kingfisher")
        self.call("POST", f"/api/sightings/{kept['id']}/share", {"shown_location": SHOWN, "credit": CREDIT})
        self.call("DELETE", f"/api/sightings/{deleted['id']}", status=204)
        self.work("media")
        seen = self.call("GET", f"/api/sightings/{kept['id']}")
        assert seen["photo_state"] == "ready"
        [entry] = self.call("GET", "/admin/api/inbox")["items"]
        self.draft = self.call("POST", "/admin/api/inbox/compose", {"sections": [{"ids": [entry["id"]]}]}, 201)
        self.secrets |= {_signature(seen["photo_url"]), _signature(entry["image_url"])}
        for path in ("/admin/api/members", "/admin/api/sightings", "/api/sightings?q=yew", "/api/auth/me/data"):
            self.call("GET", path)
        return kept

    def post(self, animal):
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo"; filename="p.jpg"\r\n\r\n'.encode()
        body = head + pictures.encode(pictures.grid()) + f"\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        upload = self.call("POST", "/api/upload/photo", status=201, body=body, Content_Type=kind, Origin=_SITE)
        sighting = self.call("POST", "/api/sightings", {"animal_name": animal, "location": PLACE, **upload}, 201)
        self.work("media")
        return sighting


def _signature(url):
    return dict(pair.split("=") for pair in urlsplit(url).query.split("&"))["X-Amz-Signature"]


_SITE = "https://news.example.org"


def _passwords(password):
    return {"password": password, "password_confirm": password}


def test_no_secret_of_a_member_is_stored_or_logged(member, capsys):
    member.live()
    everything = dump.everything(capsys)
    assert EMAIL in everything
    assert len(member.secrets) == 9
    for secret in member.secrets:
        assert secret not in everything


def test_after_the_account_is_deleted_nothing_names_its_member(member, tick, work, monkeypatch, capsys):
    kept = member.live()
    member.call("DELETE", "/api/auth/me", {"password": OTHER}, 204)
    assert EMAIL not in dump.rows()
    work()
    assert dump.objects() == {}, "photos are gone with the account, public copies for drafts too"
    for word in (SHOWN, CREDIT):
        assert word not in dump.rows(), "it has left the inbox and the draft"
    later = clock.now() + timedelta(days=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    tick("clean_up_members", "clean_up_media", "clean_up")
    everything = dump.everything(capsys)
    for word in (EMAIL, "lovelace", PLACE, "ockham", SHOWN, CREDIT, "Red fox", "Kingfisher", *member.secrets):
        assert word.casefold() not in everything.casefold()
    for word in ("member.left", _dashed(kept["id"]), "deleted_at"):
        assert word in everything, "ids and times stay"


def test_after_an_editor_closes_the_account(member, work, capsys):
    member.live()
    [found] = member.call("GET", "/admin/api/members")["items"]
    member.call("POST", f"/admin/api/members/{found['id']}/close", status=204)
    work()
    assert dump.objects() == {}
    assert EMAIL not in dump.everything(capsys)
    assert member.http.get("/api/auth/me").status == 401


def test_what_was_sent_stays_and_names_what_was_chosen(member, work, http):
    member.live()
    assert len([name for name in dump.objects() if name.startswith("public/")]) == 1
    member.call("POST", f"/admin/api/campaigns/{member.draft['id']}/send")
    work()
    member.call("DELETE", "/api/auth/me", {"password": OTHER}, 204)
    work()
    [name] = dump.objects()
    assert name.startswith("public/")
    body = http.get(f"/admin/api/campaigns/{member.draft['id']}").json["body"]
    for word in (SHOWN, CREDIT, "Red fox", name.removeprefix("public/")):
        assert word in body
    assert http.get("/admin/api/inbox?state=ALL").json["items"] == []


def test_what_was_refused_is_not_logged_either(member, http, capsys):
    member.call("POST", "/api/auth/signup", {"email": EMAIL, "password": "weak", "password_confirm": "weak"}, 400)
    member.call("POST", "/api/auth/signin", {"email": EMAIL, "password": PASSWORD}, 401)
    member.call("POST", "/api/auth/verify", {"token": f"{PLACE}.{OTHER}"}, 401)
    http.get(f"/verify?token={PASSWORD}")
    http.get("/api/auth/me", Cookie=f"__Host-session={PASSWORD}")
    everything = dump.everything(capsys)
    for word in (EMAIL, PLACE, PASSWORD, OTHER, "weak"):
        assert word not in everything


def _dashed(id):
    return "-".join((id[:8], id[8:12], id[12:16], id[16:20], id[20:]))


def test_the_download_has_everything_and_no_secret(member):
    member.live()
    data = json.dumps(member.call("GET", "/api/auth/me/data"))
    for word in (EMAIL, PLACE, SHOWN, CREDIT):
        assert word in data
    for secret in (PASSWORD, OTHER, "hash", member.http.cookie.partition(".")[2]):
        assert secret not in data
