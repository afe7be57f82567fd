"""Uploading a photo: announced, or sent with a form."""

import pytest

from chalicelib.kernel import clock, ids
from chalicelib.media.store import PictureRow
from tests.rooms.sightings.person import file_part, png, text_part

LARGEST_FORM, LARGEST = 4_194_304, 5_242_880


def refused(answer):
    return answer.status, answer.json["error"]


def filled(size):
    content = png()
    return content + b"\0" * (size - len(content))


def test_an_announced_photo_is_posted_to_the_bucket(ada, media_bucket, still):
    answer = ada.announce("image/jpeg", LARGEST)
    assert answer.status == 201
    assert set(answer.json) == {"upload_id", "url", "fields", "expires_at"}
    assert media_bucket in answer.json["url"]
    assert answer.json["fields"]["Content-Type"] == "image/jpeg"
    assert answer.json["expires_at"] == clock.epoch(clock.now()) + 600
    assert PictureRow.get(answer.json["upload_id"]).owner == ada.id


@pytest.mark.parametrize(
    "kind", ["image/gif", "image/svg+xml", "text/html", "", None, "IMAGE/PNG ", "image/png\r\nx"]
)
def test_only_three_types_are_announced(ada, kind):
    assert refused(ada.announce(kind)) == (400, "Only JPEG, PNG, WebP formats allowed")


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (LARGEST + 1, "File size must be under 5MB"),
        (10**30, "File size must be under 5MB"),
        (0, "The file is empty"),
        (-1, "The file is empty"),
        (None, "size is required"),
        ("100", "size must be a whole number"),
        (1.5, "size must be a whole number"),
        (True, "size must be a whole number"),
        ([], "size must be a whole number"),
    ],
)
def test_sizes_that_are_announced(ada, size, reason):
    assert refused(ada.announce(size=size)) == (400, reason)
    assert list(PictureRow.scan()) == []


@pytest.mark.parametrize("kind", [5, [], {}, True])
def test_a_type_is_text(ada, kind):
    assert refused(ada.announce(kind)) == (400, "content_type must be text")


@pytest.mark.parametrize("body", ["[]", "null", "{", "", "\xff"])
def test_no_shape_of_body_breaks_anything(ada, body):
    assert ada.ask("POST", "/api/upload/photo", body=body, Content_Type="application/json").status == 400


def test_a_form_is_answered_with_the_id(ada):
    answer = ada.send_form(text_part("note", "ignored"), file_part(png()))
    assert answer.status == 201
    assert set(answer.json) == {"upload_id"}
    assert ids.is_id(answer.json["upload_id"])
    assert ada.see(upload_id=answer.json["upload_id"])["photo_state"] == "processing"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (LARGEST_FORM, None),
        (LARGEST_FORM + 1, (413, "Use the signed upload for files over 4 MB")),
        (LARGEST, (413, "Use the signed upload for files over 4 MB")),
        (LARGEST + 1, (400, "File size must be under 5MB")),
    ],
)
def test_a_form_takes_four_megabytes(ada, size, expected):
    answer = ada.send_form(file_part(filled(size)))
    assert (answer.status == 201) if expected is None else (refused(answer) == expected)
    assert len(list(PictureRow.scan())) == (expected is None)


@pytest.mark.parametrize("filename", ["photo.jpg", "photo.exe", "../../etc/passwd", "", "фото.png", "x" * 500])
def test_its_name_does_not_matter(ada, filename):
    assert ada.send_form(file_part(png(), filename=filename)).status == 201


@pytest.mark.parametrize("content", [b"GIF89a...", b"hello", b"\x89PNG", b"RIFF....WAVE", b"\xff\xd8"])
def test_only_three_types_are_taken(ada, content):
    assert refused(ada.send_form(file_part(content))) == (400, "Only JPEG, PNG, WebP formats allowed")


def test_an_empty_file_is_refused(ada):
    """What a browser sends if none was chosen."""
    assert refused(ada.send_form(file_part(b"", filename=""))) == (400, "The file is empty")


@pytest.mark.parametrize("part", [text_part("note", "x"), text_part("photo", "x"), file_part(png(), name="other")])
def test_a_form_without_the_photo_is_refused(ada, part):
    assert refused(ada.send_form(part)) == (400, "photo is required")


def test_a_form_must_come_from_our_own_page(ada):
    assert ada.send_form(file_part(png()), origin="https://evil.example").status == 403
    body = b"--x\r\n" + file_part(png()) + b"\r\n--x--\r\n"
    answer = ada.ask("POST", "/api/upload/photo", body=body, Content_Type="multipart/form-data; boundary=x")
    assert answer.status == 403
    assert list(PictureRow.scan()) == []


def test_a_broken_form_is_refused(ada):
    kind, origin = "multipart/form-data; boundary=x", "https://news.example.org"
    for body in (b"", b"--x", b"--x--", b"--y\r\n\r\n--y--", b"--x\r\n" + file_part(png())):
        answer = ada.ask("POST", "/api/upload/photo", body=body, Content_Type=kind, Origin=origin)
        assert answer.status == 400


def test_without_a_session_nothing_is_taken(ada, http):
    assert http.post("/api/upload/photo", json={"content_type": "image/png", "size": 5}).status == 401
    assert list(PictureRow.scan()) == []


def test_other_kinds_of_body_are_refused(ada):
    answer = ada.ask(
        "POST", "/api/upload/photo", body=png(), Content_Type="image/png", Origin="https://news.example.org"
    )
    assert refused(answer) == (400, "Send this as application/json or multipart/form-data")
