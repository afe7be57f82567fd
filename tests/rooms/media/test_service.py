"""Uploading, attaching, showing and deleting pictures, as other rooms do it."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import connection, objects, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Invalid, TooLarge, TooMany
from chalicelib.media import jobs, model, places, service
from chalicelib.media.model import State
from chalicelib.media.store import PictureRow
from tests.conftest import received as messages
from tests.rooms.media.pictures import FORMATS, MIME, PNG, encode, grid
from tests.rooms.media.uploads import OTHER, OWNER, attached, deleted, found, received, state

pytestmark = pytest.mark.usefixtures("media_bucket")


def refusal(owner: str, upload_id: str) -> str:
    with pytest.raises(Invalid) as raised:
        service.check_attachable(owner, upload_id)
    return raised.value.reason


def padded(size: int) -> bytes:
    photo = encode(grid())
    return photo + b"\0" * (size - len(photo))


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    moment = clock.now() + timedelta(**by)
    monkeypatch.setattr(clock, "now", lambda: moment)


@pytest.mark.parametrize("content_type", model.TYPES)
def test_an_announced_upload_is_a_form_for_one_place_type_and_size(content_type: str) -> None:
    announced = service.announce(OWNER, content_type, model.LARGEST)
    policy = json.loads(base64.b64decode(announced.fields["policy"]))
    assert announced.fields["key"] == f"incoming/{announced.id}"
    assert announced.fields["Content-Type"] == content_type
    assert {"key": f"incoming/{announced.id}"} in policy["conditions"]
    assert {"Content-Type": content_type} in policy["conditions"]
    assert ["content-length-range", 1, 5_242_880] in policy["conditions"]
    signed_until = clock.parse(policy["expiration"])
    assert abs(signed_until - announced.expires_at) < timedelta(seconds=5)
    assert abs(announced.expires_at - clock.now() - timedelta(minutes=10)) < timedelta(seconds=5)
    assert announced.url.startswith(service.origin())
    assert state(announced.id) is State.WAITING


@pytest.mark.parametrize(
    ("content_type", "size", "reason"),
    [
        ("image/gif", 10, "Only JPEG, PNG, WebP formats allowed"),
        ("image/svg+xml", 10, "Only JPEG, PNG, WebP formats allowed"),
        ("image/jpeg; charset=utf-8", 10, "Only JPEG, PNG, WebP formats allowed"),
        ("", 10, "Only JPEG, PNG, WebP formats allowed"),
        ("image/png", 5_242_881, "File size must be under 5MB"),
        ("image/png", 0, "The file is empty"),
        ("image/png", -1, "The file is empty"),
    ],
)
def test_what_cannot_be_a_photo_is_not_announced(content_type: str, size: int, reason: str) -> None:
    with pytest.raises(Invalid) as raised:
        service.announce(OWNER, content_type, size)
    assert raised.value.reason == reason
    assert not list(tables.scan(PictureRow))


def test_a_form_takes_up_to_four_megabytes() -> None:
    service.receive(OWNER, padded(4_194_304))
    for size in (4_194_305, 5_242_880):
        with pytest.raises(TooLarge) as raised:
            service.receive(OWNER, padded(size))
        assert raised.value.reason == "Use the signed upload for files over 4 MB"
    for content, reason in (
        (padded(5_242_881), "File size must be under 5MB"),
        (b"", "The file is empty"),
        (b"GIF89a", "Only JPEG, PNG, WebP formats allowed"),
    ):
        with pytest.raises(Invalid) as refused:
            service.receive(OWNER, content)
        assert refused.value.reason == reason


@pytest.mark.parametrize("format", FORMATS)
def test_a_received_photo_is_what_its_bytes_are(format: str) -> None:
    id = received(encode(grid(), format))
    assert service.check_attachable(OWNER, id).state is State.WAITING
    tables.transact(service.attach_write(service.check_attachable(OWNER, id)))
    jobs.prepare(id)
    assert found(id).format == MIME[format]


def test_uploads_are_limited_per_owner(still: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "UPLOADS_PER_HOUR", 2)
    received()
    service.announce(OWNER, "image/png", 5)
    for again in (received, lambda: service.announce(OWNER, "image/png", 5)):
        with pytest.raises(TooMany) as raised:
            again()
        assert raised.value.reason == "Too many requests"
    received(owner=OTHER)


@pytest.mark.parametrize("id", ["", "x", "../photos/x", "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80999", "\0", "é" * 5000])
def test_an_upload_that_does_not_exist(id: str) -> None:
    assert refusal(OWNER, id) == "Upload not found"


def test_somebody_elses_upload_looks_like_none() -> None:
    assert refusal(OTHER, received()) == "Upload not found"
    assert refusal(OTHER, attached()) == "Upload not found"


def test_an_announced_file_that_never_came() -> None:
    assert refusal(OWNER, service.announce(OWNER, "image/png", 5).id) == "Upload not found"


def test_an_upload_is_used_once_whatever_becomes_of_it() -> None:
    id = attached()
    assert refusal(OWNER, id) == "Upload already used"
    jobs.prepare(id)
    assert refusal(OWNER, id) == "Upload already used"
    deleted(id)
    assert refusal(OWNER, id) == "Upload already used"


def test_an_upload_expires_after_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    id = received()
    picture = service.check_attachable(OWNER, id)
    later(monkeypatch, minutes=10, seconds=1)
    assert refusal(OWNER, id) == "Upload expired"
    with pytest.raises(Stale):  # checked in time, written too late
        tables.transact(service.attach_write(picture))
    assert state(id) is State.WAITING


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (padded(5_242_881), "File size must be under 5MB"),
        (b"", "Only JPEG, PNG, WebP formats allowed"),
        (b"\xff", "Only JPEG, PNG, WebP formats allowed"),
        (b"<svg>" * 100, "Only JPEG, PNG, WebP formats allowed"),
        (encode(grid(), "GIF"), "Only JPEG, PNG, WebP formats allowed"),
    ],
)
def test_what_slipped_past_the_policy_is_refused_and_not_used_up(content: bytes, reason: str) -> None:
    id = service.announce(OWNER, "image/png", 5).id
    objects.put(places.incoming(id), content, "image/png")
    assert refusal(OWNER, id) == reason
    objects.put(places.incoming(id), encode(grid()), "image/png")
    assert service.check_attachable(OWNER, id).state is State.WAITING


def test_exactly_the_largest_size_passes() -> None:
    id = service.announce(OWNER, "image/jpeg", 5_242_880).id
    objects.put(places.incoming(id), padded(5_242_880), "image/jpeg")
    tables.transact(service.attach_write(service.check_attachable(OWNER, id)))
    jobs.prepare(id)
    assert state(id) is State.READY


def test_of_two_who_attach_one_upload_one_wins() -> None:
    id = received()
    first, second = service.check_attachable(OWNER, id), service.check_attachable(OWNER, id)
    tables.transact(service.attach_write(first))
    with pytest.raises(Stale):
        tables.transact(service.attach_write(second))
    assert state(id) is State.PROCESSING


def test_attaching_checks_the_owner_again() -> None:
    from msgspec.structs import replace

    picture = service.check_attachable(OWNER, received())
    with pytest.raises(Stale):
        tables.transact(service.attach_write(replace(picture, owner=OTHER)))


def test_work_is_queued_by_id_alone() -> None:
    service.prepare_soon("a")
    service.erase_soon("b")
    assert messages("media") == [{"kind": "prepare", "id": "a"}, {"kind": "erase", "id": "b"}]


def test_a_link_is_made_only_for_a_photo_that_is_ready() -> None:
    id = attached(encode(grid(), PNG))
    assert service.sign(found(id)) is None
    jobs.prepare(id)
    link = service.sign(found(id))
    assert link is not None
    assert link.startswith(f"{service.origin()}/{places.photo(id)}?")
    for small in (False, True):
        assert id not in str(service.sign(found(id), small)), "when it was uploaded could be read from it"
    assert "X-Amz-Expires=600" in link
    deleted(id)
    assert service.sign(found(id)) is None


def test_pictures_are_found_in_one_request_whatever_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [received() for _ in range(3)]
    calls: list[str] = []
    real = connection.SharedConnection._make_api_call

    def counted(self: Any, name: str, given: Any) -> Any:
        calls.append(name)
        return real(self, name, given)

    monkeypatch.setattr(connection.SharedConnection, "_make_api_call", counted)
    assert service.find_many([]) == {}
    assert calls == []
    wanted = [*known, known[0], *(ids.new() for _ in range(97))]
    assert set(service.find_many(wanted)) == set(known)
    assert calls == ["BatchGetItem"]


def test_a_ready_picture_says_what_is_served() -> None:
    id = attached(encode(grid(), PNG))
    before = clock.now() - timedelta(milliseconds=1)
    jobs.prepare(id)
    picture = found(id)
    served = objects.get(places.photo(id), model.LARGEST)
    assert served is not None
    assert (picture.format, picture.size, picture.error) == ("image/png", len(served.content), None)
    assert (picture.width, picture.height) == (48, 32)
    assert picture.uploaded_at is not None
    assert before <= picture.uploaded_at <= clock.now()
