"""What a stranger may send to members' routes: how much, and from where."""

import pytest

SITE = "https://news.example.org"
FORM = "application/x-www-form-urlencoded"


def _multipart(*parts):
    return b"".join(b"--x\r\nContent-Disposition: form-data; " + part + b"\r\n" for part in parts) + b"--x--\r\n"


def _field(name, size):
    return f'name="{name}"\r\n\r\n'.encode() + b"a" * size


@pytest.mark.parametrize("path", ["/sightings/new", "/sign-in", "/join"])
def test_a_form_without_files_is_small(http, path):
    body = b"animal_name=" + b"%26" * 30_000
    answer = http.post(path, body=body, Content_Type=FORM, Origin=SITE)
    assert answer.status == 400
    assert "too large" in answer.text


def test_a_form_with_files_has_no_more_text_than_one_without(http):
    kind = "multipart/form-data; boundary=x"
    answer = http.post("/sightings/new", body=_multipart(_field("location", 70_000)), Content_Type=kind, Origin=SITE)
    assert answer.status == 400
    assert "too much text" in answer.text
    photo = b'name="photo"; filename="p.jpg"\r\n\r\n' + b"a" * 4_000_000
    body = _multipart(_field("location", 300), photo)
    assert http.post("/sightings/new", body=body, Content_Type=kind, Origin=SITE).status == 401, "and is kept"


@pytest.mark.parametrize("kind", [FORM, ""])
@pytest.mark.parametrize(
    "path", ["/sign-out", "/account/verify", "/sightings/{}/delete", "/sightings/{}/share/withdraw"]
)
def test_an_empty_form_says_where_it_comes_from_too(person, path, kind):
    ada = person().join()
    sighting = ada.send("POST", "/api/sightings", json={"animal_name": "Hare", "location": "Field"}).json["id"]
    sent = {"Content_Type": kind} if kind else {}
    assert ada.send("POST", path.format(sighting), **sent).status == 403
    assert ada.send("GET", f"/api/sightings/{sighting}").status == 200


def test_a_script_may_call_without_a_body(person):
    ada = person().join()
    assert ada.send("POST", "/api/auth/signout").status == 204


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/octet-stream", b'{"password": "x"}', 400),
        ("application/json", b'{"password": "\xed\xa0\x80"}', 400),
        ("application/json", b'{"password": "\\ud800"}', 400),
        ("", b'{"password": "x"}', 403),
    ],
)
def test_an_account_is_deleted_by_json_alone(person, kind, body, status):
    ada = person().join()
    assert ada.send("DELETE", "/api/auth/me", body=body, Content_Type=kind).status == status
    assert ada.me().status == 200
