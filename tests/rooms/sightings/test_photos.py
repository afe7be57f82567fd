"""A sighting's photo: attached, prepared, shown by a link of the moment, replaced and taken away."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.aws import queues, raw, tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import model as media
from chalicelib.media.store import PictureRow
from chalicelib.sightings.store import SightingRow
from tests.conftest import received
from tests.rooms.sightings.person import has_files, jpeg, png, prepare_photos

PHOTO = ("photo_url", "photo_format", "photo_size_bytes", "photo_uploaded_at", "photo_state", "photo_error")
NONE = (None, None, None, None, "none", None)
PROCESSING = (None, None, None, None, "processing", None)


def photo(sighting):
    return tuple(sighting[name] for name in PHOTO)


def picture_of(person, sighting):
    found = [row for row in SightingRow.query(person.id) if row.id.replace("-", "") == sighting["id"]]
    return found[0].picture_id


def state(picture_id):
    return PictureRow.get(picture_id).state


def refused(answer):
    return answer.status, answer.json["error"]


def test_it_is_being_prepared_until_the_worker_has_done_it(ada):
    seen = ada.see(upload_id=ada.upload())
    assert photo(seen) == PROCESSING
    assert photo(ada.read(seen)) == photo(ada.get().json["items"][0]) == PROCESSING
    before = clock.epoch(clock.now())
    prepare_photos()
    ready = ada.read(seen)
    assert ready["photo_state"] == "ready"
    assert ready["photo_format"] == "image/png"
    assert ready["photo_size_bytes"] > 0
    assert ready["photo_uploaded_at"] >= before
    assert ready["photo_error"] is None
    assert ready["updated_at"] == seen["updated_at"]


@pytest.mark.parametrize(("content", "kind"), [(png(), "image/png"), (jpeg(), "image/jpeg")])
def test_it_is_what_its_bytes_are(ada, content, kind):
    """Announced and named as a PNG, whatever it is."""
    for upload_id in (ada.upload_signed(content), ada.upload(content)):
        seen = ada.see(upload_id=upload_id)
        prepare_photos()
        assert ada.read(seen)["photo_format"] == kind


def test_its_link_is_made_at_each_read_and_works_for_ten_minutes(ada, media_bucket):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    links = [ada.read(seen)["photo_url"], ada.get().json["items"][0]["photo_url"], ada.get("?q=fox").json["items"][0]]
    for link in (*links[:2], links[2]["photo_url"]):
        assert media_bucket in link
        assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["600"]
    assert ada.get().headers["Cache-Control"] == "no-store"


def test_its_link_is_in_no_table_and_no_log(ada, capsys, desk):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    ada.share(seen)
    ada.read(seen), ada.get(), desk(), ada.change(seen, animal_name="Other")
    said = capsys.readouterr()
    stored = json.dumps([raw.dynamodb("Scan", {"TableName": tables.name(name)}) for name in ("sightings", "media")])
    for text in (said.out, said.err, stored):
        assert "X-Amz" not in text
        assert "https://" not in text


def test_a_refused_photo_says_why_and_the_sighting_stands(ada):
    seen = ada.see(upload_id=ada.upload(png()[:40]))
    prepare_photos()
    read = ada.read(seen)
    assert photo(read) == (None, None, None, None, "refused", media.UNREADABLE)
    assert (read["animal_name"], read["updated_at"]) == (seen["animal_name"], seen["updated_at"])
    fresh = ada.change(read, upload_id=ada.upload())
    assert photo(fresh.json) == PROCESSING
    prepare_photos()
    assert ada.read(seen)["photo_state"] == "ready"


def test_an_upload_can_be_attached_once(ada):
    upload_id = ada.upload()
    first = ada.see(upload_id=upload_id)
    again = ada.post(json={"animal_name": "Fox", "location": "Park", "upload_id": upload_id})
    assert refused(again) == (400, "Upload already used")
    assert refused(ada.change(first, upload_id=upload_id)) == (400, "Upload already used")
    assert ada.counts() == (1, 0)
    assert ada.read(first)["updated_at"] == first["updated_at"]


def test_somebody_elses_upload_is_not_found_and_not_used_up(ada, bob):
    upload_id = bob.upload()
    stolen = ada.post(json={"animal_name": "Fox", "location": "Park", "upload_id": upload_id})
    assert refused(stolen) == (400, "Upload not found")
    assert refused(ada.change(ada.see(), upload_id=upload_id)) == (400, "Upload not found")
    assert bob.see(upload_id=upload_id)["photo_state"] == "processing"


def test_an_announced_photo_that_never_came_is_not_found_until_it_comes(ada):
    from chalicelib.kernel.aws import objects
    from chalicelib.media import places

    upload_id = ada.announce().json["upload_id"]
    body = {"animal_name": "Fox", "location": "Park", "upload_id": upload_id}
    assert refused(ada.post(json=body)) == (400, "Upload not found")
    objects.put(places.incoming(upload_id), png(), "image/png")
    assert ada.post(json=body).status == 201


def test_an_upload_expires(ada, later):
    upload_id = ada.upload()
    later(minutes=10)
    answer = ada.post(json={"animal_name": "Fox", "location": "Park", "upload_id": upload_id})
    assert refused(answer) == (400, "Upload expired")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GIF89a" + b"x" * 100, "Only JPEG, PNG, WebP formats allowed"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "Only JPEG, PNG, WebP formats allowed"),
        (b"%PDF-1.7", "Only JPEG, PNG, WebP formats allowed"),
        (png() + b"\0" * 5_242_881, "File size must be under 5MB"),
    ],
)
def test_what_slipped_past_the_bucket_is_refused_at_attaching_and_not_used_up(ada, content, reason):
    upload_id = ada.upload_signed(content)
    seen = ada.see()
    created = ada.post(json={"animal_name": "Fox", "location": "Park", "upload_id": upload_id})
    assert refused(created) == (400, reason)
    assert refused(ada.change(seen, upload_id=upload_id)) == (400, reason)
    assert state(upload_id) == "waiting"
    assert ada.counts() == (1, 0)
    assert ada.read(seen) == seen


def test_exactly_the_largest_passes(ada):
    content = png()
    upload_id = ada.upload_signed(content + b"\0" * (5_242_880 - len(content)))
    assert ada.see(upload_id=upload_id)["photo_state"] == "processing"


def test_a_photo_can_be_added(ada):
    seen = ada.see()
    assert photo(ada.change(seen, upload_id=ada.upload()).json) == PROCESSING
    prepare_photos()
    assert ada.read(seen)["photo_state"] == "ready"


def test_a_change_without_a_word_about_it_leaves_the_photo(ada):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    changed = ada.change(seen, animal_name="Other").json
    assert changed["photo_state"] == ada.read(seen)["photo_state"] == "ready"
    assert ada.change(changed, upload_id=None).json["photo_state"] == "ready"


def test_replacing_a_photo_deletes_the_old_one(ada):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    old = picture_of(ada, seen)
    changed = ada.change(seen, upload_id=ada.upload(jpeg())).json
    assert photo(changed) == PROCESSING
    assert state(old) == "deleted"
    prepare_photos()
    assert not has_files(old)
    assert has_files(picture_of(ada, seen))
    assert ada.read(seen)["photo_format"] == "image/jpeg"


def test_null_takes_it_away_and_its_file_too(ada):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    old = picture_of(ada, seen)
    assert has_files(old)
    assert photo(ada.change(seen, photo=None).json) == photo(ada.read(seen)) == NONE
    prepare_photos()
    assert not has_files(old)
    assert picture_of(ada, seen) is None


def test_null_is_fine_without_a_photo(ada):
    assert photo(ada.change(ada.see(), photo=None).json) == NONE
    assert received("media") == []


def test_a_photo_that_is_still_being_prepared_can_be_taken_away(ada):
    seen = ada.see(upload_id=ada.upload())
    old = picture_of(ada, seen)
    assert photo(ada.change(seen, photo=None).json) == NONE
    prepare_photos()
    assert not has_files(old)
    assert state(old) == "deleted"


def test_a_refused_change_leaves_the_photo(ada):
    seen = ada.see(upload_id=ada.upload())
    fresh = ada.upload()
    for fields in ({"photo": None}, {"upload_id": fresh}):
        assert ada.change(seen, **fields | {"updated_at": 1}).status == 409
        assert ada.change(seen, **fields, location="").status == 400
    assert state(fresh) == "waiting"
    assert ada.read(seen)["photo_state"] == "processing"


def test_deleting_a_sighting_deletes_its_photo(ada):
    seen = ada.see(upload_id=ada.upload())
    prepare_photos()
    old = picture_of(ada, seen)
    assert ada.delete(seen).status == 204
    assert state(old) == "deleted"
    prepare_photos()
    assert not has_files(old)


def test_messages_hold_the_pictures_id_alone(ada):
    seen = ada.see(upload_id=ada.upload())
    old = picture_of(ada, seen)
    ada.delete(seen)
    assert received("media") == [{"kind": "prepare", "id": old}, {"kind": "erase", "id": old}]


def test_a_queue_that_does_not_answer_makes_nothing_look_undone(ada, monkeypatch, later):
    """What was stored is stored; the clean-up of pictures finds what was not queued."""

    def fail(*_, **__):
        raise Unavailable

    with monkeypatch.context() as away:
        away.setattr(queues, "send", fail)
        seen = ada.see(upload_id=ada.upload())
        gone = ada.see(upload_id=ada.upload())
        old = picture_of(ada, gone)
        assert ada.delete(gone).status == 204
    from chalicelib.media import jobs

    later(minutes=20)
    jobs.clean_up(lambda: True)
    prepare_photos()
    assert ada.read(seen)["photo_state"] == "ready"
    assert not has_files(old)
