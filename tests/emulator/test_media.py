"""Photos on a real bucket: the form a browser posts, its checks, the queue, the link, and two of everything."""

import re
import urllib.error
import urllib.request
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import objects, session, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Invalid
from chalicelib.media import jobs, model, places, service
from chalicelib.media.model import Announced, State
from tests.conftest import received
from tests.rooms.media.pictures import GRID, PNG, alike, assert_bare, cells, encode, exif, grid
from tests.rooms.media.uploads import OWNER, deleted, due, files, found, state

PHOTO = encode(grid(), exif=exif(1))
SITE = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True)
def _clients(emulator: Any) -> None:
    session.client("s3")  # before any thread runs


def post(announced: Announced, content: bytes, **changed: str) -> tuple[int, str]:
    """As a browser posts a form: its fields, then the file."""
    parts = [
        f'--limit\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in (announced.fields | changed).items()
    ]
    parts.append(b'--limit\r\nContent-Disposition: form-data; name="file"; filename="IMG_1.jpg"\r\n')
    parts.append(b"Content-Type: image/jpeg\r\n\r\n" + content + b"\r\n--limit--\r\n")
    headers = {"Content-Type": "multipart/form-data; boundary=limit", "Origin": SITE}
    request = urllib.request.Request(announced.url, b"".join(parts), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, str(answer.headers["Access-Control-Allow-Origin"])
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, failure.read().decode()


def uploaded(content: bytes = PHOTO) -> str:
    announced = service.announce(OWNER, "image/jpeg", len(content))
    assert post(announced, content)[0] in (200, 201, 204)
    return announced.id


def attached(content: bytes = PHOTO) -> str:
    picture = service.check_attachable(OWNER, uploaded(content))
    tables.transact(service.attach_write(picture))
    return picture.id


def test_a_photo_from_the_browsers_form_to_the_link_that_shows_it(work: Any) -> None:
    announced = service.announce(OWNER, "image/jpeg", len(PHOTO))
    status, allowed = post(announced, PHOTO)
    assert status in (200, 201, 204)
    assert allowed in ("*", SITE)
    tables.transact(service.attach_write(service.check_attachable(OWNER, announced.id)))
    service.prepare_soon(announced.id)
    assert work("media") == 1
    picture = found(announced.id)
    assert (picture.state, picture.format) == (State.READY, "image/jpeg")
    assert files(announced.id) == (False, True)
    link = service.sign(picture)
    assert link is not None
    assert link.startswith(service.origin() + "/")
    with urllib.request.urlopen(link, timeout=10) as answer:
        content = answer.read()
        assert answer.headers["Content-Type"] == "image/jpeg"
        assert answer.headers["Cache-Control"].startswith("private")
    assert len(content) == picture.size
    assert alike(cells(content), GRID)
    assert_bare(content, "image/jpeg")


def test_a_browser_may_post_from_the_sites_pages() -> None:
    announced = service.announce(OWNER, "image/jpeg", 5)
    asked = {
        "Origin": SITE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    request = urllib.request.Request(announced.url, headers=asked, method="OPTIONS")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] in ("*", SITE)
        assert "POST" in answer.headers["Access-Control-Allow-Methods"]


@pytest.mark.parametrize(
    ("content", "changed"),
    [
        (b"\0" * 5_242_881, {}),
        (b"", {}),
        (PHOTO, {"Content-Type": "text/html"}),
        (PHOTO, {"key": "photos/somebody-elses"}),
        (PHOTO, {"key": "incoming/${filename}"}),
        (PHOTO, {"acl": "public-read"}),
    ],
)
def test_a_form_that_was_changed_or_is_too_large_is_refused(content: bytes, changed: dict[str, str]) -> None:
    announced = service.announce(OWNER, "image/jpeg", 5)
    status, answer = post(announced, content, **changed)
    assert status in (400, 403), answer
    assert files(announced.id) == (False, False)
    with pytest.raises(Invalid, match="Upload not found"):
        service.check_attachable(OWNER, announced.id)


def test_exactly_the_largest_photo_goes_all_the_way(work: Any) -> None:
    id = attached(PHOTO + b"\0" * (model.LARGEST - len(PHOTO)))
    service.prepare_soon(id)
    work("media")
    assert state(id) is State.READY


def test_a_link_that_was_changed_does_not_work() -> None:
    id = attached()
    jobs.prepare(id)
    link = service.sign(found(id))
    assert link is not None
    for wrong in (
        link.replace(places.photo(id), places.photo(ids.new())),
        re.sub(r"X-Amz-Signature=.{4}", "X-Amz-Signature=0000", link),
        link.replace("X-Amz-Expires=600", "X-Amz-Expires=6000"),
    ):
        assert wrong != link
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(wrong, timeout=10)
        with raised.value:
            assert raised.value.code in (403, 404)


@pytest.mark.parametrize("attempt", range(3))
def test_one_upload_attached_by_many_at_once(together: Any, attempt: int) -> None:
    picture = service.check_attachable(OWNER, uploaded())
    attach = lambda: tables.transact(service.attach_write(picture))  # noqa: E731
    results = together(*[attach] * 6)
    assert results.count(None) == 1
    assert all(isinstance(result, Stale) for result in results if result), results


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("content", [PHOTO, PHOTO[:500]])
def test_workers_at_the_same_time_end_in_one_state(together: Any, content: bytes, attempt: int) -> None:
    id = attached(content)
    assert together(*[partial(jobs.prepare, id)] * 4) == [None] * 4
    expected = (State.READY, (False, True)) if content == PHOTO else (State.REFUSED, (False, False))
    assert (state(id), files(id)) == expected


@pytest.mark.parametrize("attempt", range(5))
def test_a_deletion_beside_the_workers_leaves_no_file(together: Any, work: Any, attempt: int) -> None:
    id = attached()

    def delete() -> None:
        deleted(id)
        service.erase_soon(id)

    results = together(partial(jobs.prepare, id), delete, partial(jobs.prepare, id))
    assert results == [None] * 3
    work("media")
    assert (state(id), files(id)) == (State.DELETED, (False, False))


def test_a_message_that_fails_five_times_is_made_up_for_by_the_clean_up(
    work: Any, tick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = attached(encode(grid(), PNG))
    real = objects.put
    monkeypatch.setattr(objects, "put", lambda *_: 1 / 0)
    service.prepare_soon(id)
    work("media")
    assert state(id) is State.PROCESSING
    assert received("media-dead") == [{"kind": "prepare", "id": id}]
    monkeypatch.setattr(objects, "put", real)
    moment = clock.now() + timedelta(minutes=16)
    monkeypatch.setattr(clock, "now", lambda: moment)
    tick("clean_up_media")
    work("media")
    assert (state(id), files(id)) == (State.READY, (False, True))


def test_an_original_that_is_posted_again_does_not_stay(tick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    announced = service.announce(OWNER, "image/jpeg", len(PHOTO))
    assert post(announced, PHOTO)[0] in (200, 201, 204)
    tables.transact(service.attach_write(service.check_attachable(OWNER, announced.id)))
    jobs.prepare(announced.id)
    assert files(announced.id) == (False, True)
    assert post(announced, PHOTO)[0] in (200, 201, 204), "the form works for ten minutes"
    assert files(announced.id) == (True, True)
    moment = clock.now() + timedelta(minutes=21)
    monkeypatch.setattr(clock, "now", lambda: moment)
    tick("clean_up_media")
    assert (state(announced.id), files(announced.id), due(announced.id)) == (State.READY, (False, True), None)


def test_what_was_deleted_is_gone_after_the_second_clean_up(tick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = attached()
    jobs.prepare(id)
    deleted(id)  # and the message is lost
    tick("clean_up_media")
    assert (state(id), files(id)) == (State.DELETED, (False, False))
    objects.put(places.photo(id), b"late", "image/png")
    moment = clock.now() + timedelta(minutes=31)
    monkeypatch.setattr(clock, "now", lambda: moment)
    tick("clean_up_media")
    assert (state(id), files(id)) == (None, (False, False))
