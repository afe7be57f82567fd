"""Pictures over HTTP: uploaded, made at once or by the worker, listed with where they are used, deleted."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import objects, tables
from chalicelib.media import copy_store, jobs, library, model, places
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from chalicelib.media.store import PictureRow
from tests.conftest import received
from tests.rooms.campaigns.api import API as CAMPAIGNS
from tests.rooms.campaigns.api import created
from tests.rooms.media.pictures import JPEG, PNG, WEBP, assert_bare, claiming, encode, exif, grid

pytestmark = pytest.mark.usefixtures("media_bucket")

API = "/admin/api/media"
SITE = "https://news.example.org"
BOUNDARY = "----boundary"
UNKNOWN_IDS = ["0" * 32, "0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "x", "%2e%2e", "desk", "a" * 500]


def part(content: bytes, name: str = "file", filename: str = "picture.jpg") -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"\r\nContent-Type: image/jpeg\r\n\r\n'
    return head.encode() + content


def send(admin: Any, *parts: bytes, **headers: str) -> Any:
    body = b"".join(b"--" + BOUNDARY.encode() + b"\r\n" + one + b"\r\n" for one in parts)
    body += f"--{BOUNDARY}--\r\n".encode()
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    return admin.post(API, body=body, **{"Content_Type": kind, "Origin": SITE, **headers})


def upload(admin: Any, content: bytes | None = None) -> Any:
    answer = send(admin, part(encode(grid()) if content is None else content))
    assert answer.status == 201, answer.text
    return answer.json


def large(format: str = JPEG) -> bytes:
    return encode(Image.new("RGB", (3000, 2000), "teal"), format)


def work() -> int:
    """What `poll_sources` does with the queue `feed`."""
    messages = received("feed")
    for message in messages:
        assert message["kind"] == media.PREPARE
        jobs.prepare(message["id"])
    return len(messages)


def announced(admin: Any, content: bytes, content_type: str = "image/jpeg") -> str:
    answer = admin.post(API, json={"content_type": content_type, "size": len(content)})
    assert answer.status == 201, answer.text
    objects.put(places.incoming(answer.json["id"]), content, content_type)
    return str(answer.json["id"])


def listed(admin: Any, query: str = "") -> list[str]:
    return [item["id"] for item in admin.get(f"{API}?limit=100{query}").json["items"]]


def showing(*pictures: Any) -> str:
    return "".join(f'<p><img src="{picture["url"]}" alt="x"></p>' for picture in pictures)


def move(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    moment = clock.now() + timedelta(**by)
    monkeypatch.setattr(clock, "now", lambda: moment)


# What is made in the call


@pytest.mark.parametrize("format", [JPEG, PNG, WEBP, "GIF"])
def test_a_picture_is_made_while_the_uploader_waits(admin: Any, http: Any, format: str) -> None:
    options = {"exif": exif()} if format == JPEG else {}
    answer = send(admin, part(encode(grid(cell=800), format, **options)))
    assert answer.status == 201
    made = answer.json
    assert set(made) == {"id", "url", "width", "height", "bytes"}
    assert (made["width"], made["height"]) == (1200, 800)
    assert made["url"] == f"{SITE}/media/{made['id']}.{made['url'][-3:]}"
    served = http.get(made["url"].removeprefix(SITE))
    assert (served.status, len(served.body)) == (200, made["bytes"])
    assert served.headers["content-type"] in ("image/jpeg", "image/png")
    assert_bare(served.body, served.headers["content-type"])
    assert received("feed") == received("media") == []


def test_a_small_one_keeps_its_size_and_a_tall_one_its_width(admin: Any) -> None:
    assert upload(admin, encode(grid()))["width"] == 48
    tall = upload(admin, encode(Image.new("RGB", (1000, 3000), "teal")))
    assert (tall["width"], tall["height"]) == (1000, 3000)


def test_the_same_picture_twice_is_one(admin: Any) -> None:
    one = upload(admin)
    assert upload(admin) == one
    assert listed(admin) == [one["id"]]


def test_it_says_where_it_is_and_that_nothing_shows_it(admin: Any) -> None:
    made = upload(admin)
    assert admin.get(f"{API}/{made['id']}").json == {
        **made,
        "state": "ready",
        "uses": 0,
        "used_in": [],
        "on_site": False,
    }


@pytest.mark.parametrize("filename", ["a.jpg", "../../etc/passwd", "", "фото.png", "x" * 500, "a.svg"])
def test_its_name_does_not_matter(admin: Any, filename: str) -> None:
    assert send(admin, part(encode(grid()), filename=filename)).status == 201


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "The file is empty"),
        (b"hello", model.NOT_FOR_DESK),
        (SVG, model.NOT_FOR_DESK),
        (b"%PDF-1.7", model.NOT_FOR_DESK),
        (encode(grid())[:300], model.UNREADABLE),
        (b"GIF89a" + b"\xff" * 400, None),
        (claiming(PNG, 9000, 9000), model.TOO_MANY_PIXELS),
        (claiming(WEBP, 9000, 9000), model.TOO_MANY_PIXELS),
        (claiming(WEBP, 5000, 4000), model.TOO_MANY_PIXELS),
        (claiming(PNG, 60_000, 60_000), model.TOO_MANY_PIXELS),
    ],
)
def test_what_is_no_picture_is_refused(admin: Any, content: bytes, error: str | None) -> None:
    answer = send(admin, part(content))
    assert answer.status == 400, answer.text
    assert error in (None, answer.json["error"])
    assert listed(admin) == []
    assert not list(PictureRow.scan())


def test_a_gif_of_many_frames_or_a_huge_screen_costs_one_frame_or_nothing(admin: Any) -> None:
    frames = [Image.new("P", (400, 300), number % 200) for number in range(300)]
    moving = encode(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=20, loop=0)
    assert upload(admin, moving)["width"] == 400
    huge = b"GIF89a" + (65_535).to_bytes(2, "little") * 2 + moving[10:]
    answer = send(admin, part(huge))
    assert (answer.status, answer.json["error"]) == (400, model.TOO_MANY_PIXELS)


def test_what_hides_behind_a_picture_does_not_come_with_it(admin: Any, http: Any) -> None:
    hidden = b"<script>alert(1)</script>"
    made = upload(admin, encode(grid()) + hidden)
    assert hidden not in http.get(made["url"].removeprefix(SITE)).body


@pytest.mark.parametrize(
    "parts", [(), (part(b"x", name="photo"),), (b'Content-Disposition: form-data; name="file"\r\n\r\nx',)]
)
def test_without_a_file_it_is_refused(admin: Any, parts: tuple[bytes, ...]) -> None:
    answer = send(admin, *parts)
    assert answer.status == 400
    assert listed(admin) == []


def test_of_two_files_none_is_lost_without_a_word(admin: Any) -> None:
    answer = send(admin, part(encode(grid())), part(encode(grid(cell=20))))
    assert (answer.status, listed(admin)) == (400, [])
    assert "several files" in answer.json["error"]


@pytest.mark.parametrize("size", [model.LARGEST_FORM + 1, model.LARGEST + 1, 6_000_001])
def test_a_form_takes_four_megabytes(admin: Any, size: int) -> None:
    content = encode(grid())
    assert send(admin, part(content + bytes(model.LARGEST_FORM - len(content)))).status == 201
    assert send(admin, part(content + bytes(size - len(content)))).status == 413


def test_another_site_cannot_upload(admin: Any) -> None:
    assert send(admin, part(encode(grid())), Origin="https://evil.example").status == 403
    assert send(admin, part(encode(grid())), Origin="").status == 403
    assert listed(admin) == []


def test_an_hour_has_an_end_of_uploads(admin: Any, still: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "UPLOADS_PER_HOUR", 1)
    upload(admin)
    assert send(admin, part(encode(grid()))).status == 429


# What the worker makes


@pytest.mark.parametrize("format", [JPEG, PNG, WEBP])
def test_a_large_one_is_made_by_the_worker(admin: Any, format: str) -> None:
    answer = send(admin, part(large(format)))
    assert answer.status == 202
    id = answer.json["id"]
    assert answer.json == {"id": id, "state": "processing"}
    assert admin.get(f"{API}/{id}").json == answer.json
    assert listed(admin) == []
    assert admin.delete(f"{API}/{id}").status == 409
    assert work() == 1
    ready = admin.get(f"{API}/{id}").json
    assert (ready["id"], ready["state"], ready["width"], ready["height"]) == (id, "ready", 1200, 800)
    assert listed(admin) == [id]
    assert objects.get(places.incoming(id), 1) is None


def test_it_needs_no_members(admin: Any, configure: Any) -> None:
    """Nobody listens to the queue `media` without them."""
    configure(MEMBERS="off")
    send(admin, part(large()))
    assert received("media") == []
    assert work() == 1


def test_a_large_one_that_is_broken_is_refused_with_a_reason(admin: Any) -> None:
    id = send(admin, part(large()[:-20_000])).json["id"]
    work()
    found = admin.get(f"{API}/{id}").json
    assert found == {"id": id, "state": "refused", "error": model.UNREADABLE}
    assert admin.delete(f"{API}/{id}").status == 204
    assert admin.get(f"{API}/{id}").status == 404


def test_the_same_large_one_twice_keeps_the_first_id(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (send(admin, part(large())).json["id"] for _ in range(2))
    work()
    one, other = (admin.get(f"{API}/{id}").json for id in (first, second))
    assert one == other
    assert one["id"] == first
    assert listed(admin) == [first]
    move(monkeypatch, hours=1)
    jobs.clean_up(lambda: True)
    assert admin.get(f"{API}/{first}").json == one
    assert admin.get(f"{API}/{second}").status == 404, "the second upload is forgotten"


def test_a_worker_that_comes_twice_changes_nothing(admin: Any) -> None:
    id = send(admin, part(large())).json["id"]
    work()
    before = admin.get(f"{API}/{id}").json
    jobs.prepare(id)
    assert admin.get(f"{API}/{id}").json == before


def test_a_lost_message_is_made_up_for(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = send(admin, part(large())).json["id"]
    received("feed")
    move(monkeypatch, minutes=16)
    jobs.clean_up(lambda: True)
    assert work() == 1
    assert admin.get(f"{API}/{id}").json["state"] == "ready"


# Signed uploads


def test_an_announced_picture_is_posted_elsewhere_and_made_when_that_is_said(admin: Any) -> None:
    answer = admin.post(API, json={"content_type": "image/jpeg", "size": 5_000_000})
    assert set(answer.json) == {"id", "url", "fields", "expires_at"}
    id = answer.json["id"]
    assert admin.get(f"{API}/{id}").status == 404
    missing = admin.post(f"{API}/{id}", json={})
    assert (missing.status, missing.json["error"]) == (400, "Upload not found")
    objects.put(places.incoming(id), encode(grid(cell=600)), "image/jpeg")
    made = admin.post(f"{API}/{id}", json={})
    assert made.status == 201
    assert (made.json["id"], made.json["width"]) == (id, 1200)
    assert admin.post(f"{API}/{id}", json={}).json == made.json, "a second click"
    assert objects.get(places.incoming(id), 1) is None


def test_an_announced_large_one_is_left_to_the_worker(admin: Any) -> None:
    id = announced(admin, large())
    for _ in range(2):
        answer = admin.post(f"{API}/{id}", json={})
        assert (answer.status, answer.json) == (202, {"id": id, "state": "processing"})
    assert work() == 1
    assert admin.post(f"{API}/{id}", json={}).status == 201


@pytest.mark.parametrize("content", [b"hello", encode(grid())[:300], claiming(WEBP, 9000, 9000)])
def test_what_was_posted_is_looked_at(admin: Any, content: bytes) -> None:
    id = announced(admin, content)
    assert admin.post(f"{API}/{id}", json={}).status == 400
    assert listed(admin) == []


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"content_type": "image/gif", "size": 100}, 201),
        ({"content_type": "image/svg+xml", "size": 100}, 400),
        ({"content_type": "image/jpeg", "size": model.LARGEST}, 201),
        ({"content_type": "image/jpeg", "size": model.LARGEST + 1}, 413),
        ({"content_type": "image/jpeg", "size": 0}, 400),
        ({"content_type": "image/jpeg", "size": "9"}, 400),
        ({"content_type": "image/jpeg"}, 400),
        ({"size": 9}, 400),
        ({}, 400),
    ],
)
def test_what_is_announced_is_checked(admin: Any, sent: dict[str, Any], status: int) -> None:
    assert admin.post(API, json=sent).status == status


def test_an_upload_of_a_member_is_not_the_desks(admin: Any) -> None:
    id = media.receive(ids.new(), encode(grid()))
    assert admin.post(f"{API}/{id}", json={}).status == 404
    assert admin.get(f"{API}/{id}").status == 404
    assert admin.delete(f"{API}/{id}").status == 404


@pytest.mark.parametrize("id", UNKNOWN_IDS)
def test_what_is_not_there_is_not_found(admin: Any, id: str) -> None:
    assert [admin.get(f"{API}/{id}").status, admin.delete(f"{API}/{id}").status] == [404, 404]
    assert admin.post(f"{API}/{id}", json={}).status == 404


# Where they are used


def test_it_knows_the_campaigns_that_show_it(admin: Any) -> None:
    made = upload(admin)
    campaign = created(admin, subject="Issue 1", body=showing(made))
    found = admin.get(f"{API}/{made['id']}").json
    use = {"campaign_id": campaign["id"], "subject": "Issue 1", "state": "draft", "sent_at": None}
    assert (found["uses"], found["used_in"]) == (1, [use])
    assert admin.get(API).json["items"][0]["used_in"] == [use]
    admin.patch(f"{CAMPAIGNS}/{campaign['id']}", json={"body": "<p>None</p>"})
    assert admin.get(f"{API}/{made['id']}").json["used_in"] == []


def test_a_duplicate_and_a_deleted_draft_are_counted(admin: Any) -> None:
    made = upload(admin)
    campaign = created(admin, body=showing(made, made))
    copy = admin.post(f"{CAMPAIGNS}/{campaign['id']}/duplicate", json={}).json
    used_in = admin.get(f"{API}/{made['id']}").json["used_in"]
    assert [use["campaign_id"] for use in used_in] == [copy["id"], campaign["id"]], "the newest first"
    admin.delete(f"{CAMPAIGNS}/{campaign['id']}")
    found = admin.get(f"{API}/{made['id']}").json
    assert (found["uses"], [use["campaign_id"] for use in found["used_in"]]) == (1, [copy["id"]])


def test_a_corrected_web_version_is_a_use_of_its_own(admin: Any) -> None:
    made = upload(admin)
    campaign = created(admin, body=showing(made))
    url = f"{CAMPAIGNS}/{campaign['id']}"
    admin.post(f"{url}/send", json={})
    admin.post(f"{url}/correction", json={"body": showing(made), "note": "Better"})
    found = admin.get(f"{API}/{made['id']}").json
    assert (found["uses"], [use["campaign_id"] for use in found["used_in"]]) == (2, [campaign["id"]])
    admin.delete(f"{url}/correction")
    found = admin.get(f"{API}/{made['id']}").json
    assert (found["uses"], [use["campaign_id"] for use in found["used_in"]]) == (1, [campaign["id"]])


def test_a_picture_names_a_hundred_campaigns_and_counts_all(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_store, "MOST_NAMED", 3)
    made = upload(admin)
    drafts = [created(admin, body=showing(made))["id"] for _ in range(5)]
    found = admin.get(f"{API}/{made['id']}").json
    assert found["uses"] == 5
    assert [use["campaign_id"] for use in found["used_in"]] == drafts[2::-1]
    for id in drafts:
        admin.delete(f"{CAMPAIGNS}/{id}")
    found = admin.get(f"{API}/{made['id']}").json
    assert (found["uses"], found["used_in"]) == (0, [])


def test_the_list_names_the_newest_five(admin: Any) -> None:
    made = upload(admin)
    drafts = [created(admin, body=showing(made))["id"] for _ in range(7)]
    item = admin.get(API).json["items"][0]
    assert (item["uses"], [use["campaign_id"] for use in item["used_in"]]) == (7, drafts[:1:-1])


def test_pictures_from_before_the_list_work_and_are_listed_when_used(admin: Any) -> None:
    name = media.publish(encode(grid())).name
    old = [CopyRow.shelf, CopyRow.listed_at, CopyRow.kept, CopyRow.media_id]
    tables.update(CopyRow(name), [attribute.remove() for attribute in old])
    picture = {"url": media.copy_url(name)}
    assert listed(admin) == []
    assert admin.get(f"{API}/{model.stem(name)}").json["state"] == "ready"
    created(admin, body=showing(picture))
    assert listed(admin) == [model.stem(name)]


# The list


def test_the_list_has_pages_newest_first(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for size in range(1, 8):
        move(monkeypatch, seconds=1)
        content = encode(grid(cell=16 + size))
        made.append(upload(admin, content)["id"] if size % 2 else model.stem(media.publish(content).name))
    found, cursor = [], ""
    for _ in range(4):
        page = admin.get(f"{API}?limit=2{cursor}").json
        assert page["has_more"] is (page["next_cursor"] is not None)
        found += [item["id"] for item in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert found == made[::-1]
    assert not page["has_more"]
    assert listed(admin, "&uploaded=yes") == made[::-2]
    assert admin.get(f"{API}?cursor=x").status == 400
    assert admin.get(f"{API}?uploaded=maybe").status == 400
    other_list = admin.get(f"{API}?limit=2&uploaded=yes").json["next_cursor"]
    assert admin.get(f"{API}?cursor={other_list}").status == 400


def test_an_empty_list(admin: Any) -> None:
    assert admin.get(API).json == {"items": [], "next_cursor": None, "has_more": False}


# Deletion, and the clean-up


def test_only_what_nothing_shows_is_deleted(admin: Any, http: Any) -> None:
    made = upload(admin)
    campaign = created(admin, body=showing(made))
    answer = admin.delete(f"{API}/{made['id']}")
    assert (answer.status, answer.json["error"]) == (409, model.IN_USE)
    admin.delete(f"{CAMPAIGNS}/{campaign['id']}")
    assert admin.delete(f"{API}/{made['id']}").status == 204
    assert admin.delete(f"{API}/{made['id']}").status == 404
    assert http.get(made["url"].removeprefix(SITE)).status == 404
    assert listed(admin) == []
    assert upload(admin) == made, "it can come back"


def test_a_large_one_goes_with_its_upload(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = send(admin, part(large())).json["id"]
    work()
    assert admin.delete(f"{API}/{id}").status == 204
    assert admin.get(f"{API}/{id}").status == 404
    for _ in range(3):
        move(monkeypatch, hours=1)
        jobs.clean_up(lambda: True)
    assert not list(PictureRow.scan())


def test_what_an_editor_uploaded_stays_although_nothing_shows_it(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = upload(admin)
    found = media.publish(encode(grid(cell=20)))
    campaign = created(admin, body=showing(made))
    admin.delete(f"{CAMPAIGNS}/{campaign['id']}")
    for _ in range(3):
        move(monkeypatch, days=2)
        jobs.clean_up(lambda: True)
    assert listed(admin) == [made["id"]]
    assert media.find_copy(found.name) is None
    row = tables.get(CopyRow, made["url"].rpartition("/")[2])
    assert row
    assert (row.todo, row.due_at) == (None, None), "the clean-up does not come back to it every hour"


def test_a_copy_that_was_found_stays_once_an_editor_uploads_it(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = media.publish(encode(grid()))
    assert not admin.get(API).json["items"][0]["uploaded"]
    upload(admin)
    item = admin.get(API).json["items"][0]
    assert (item["id"], item["uploaded"]) == (model.stem(found.name), True)
    move(monkeypatch, days=2)
    jobs.clean_up(lambda: True)
    assert media.find_copy(found.name)


def test_a_deletion_that_died_is_finished_by_the_clean_up(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = send(admin, part(large())).json["id"]
    work()
    real: Callable[..., None] = objects.delete
    monkeypatch.setattr(objects, "delete", lambda key: 1 / 0)
    assert admin.delete(f"{API}/{id}").status == 500
    monkeypatch.setattr(objects, "delete", real)
    assert admin.get(f"{API}/{id}").status == 404
    assert listed(admin) == []
    jobs.clean_up(lambda: True)
    assert not [row for row in CopyRow.scan() if model.is_name(row.id)]
    assert send(admin, part(large())).status == 202


def _names() -> list[str]:
    return [row.id for row in CopyRow.scan() if model.is_name(row.id)]


def test_what_is_deleted_while_the_same_is_uploaded_leaves_no_file_without_a_row(
    admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = objects.put

    def put(*given: Any) -> None:
        monkeypatch.setattr(objects, "put", real)
        assert [media.unpublish(name) for name in _names()] == [True]
        real(*given)

    monkeypatch.setattr(objects, "put", put)
    made = upload(admin)
    assert [f"{SITE}/media/{name}" for name in _names()] == [made["url"]]
    assert admin.delete(f"{API}/{made['id']}").status == 204
    assert objects.get(places.public(made["url"].rpartition("/")[2]), most=10) is None


def test_of_a_deletion_that_dies_while_the_same_is_uploaded_the_clean_up_removes_the_file(
    admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "_REST", 0.0)
    real = objects.put

    def put(*given: Any) -> None:
        monkeypatch.setattr(objects, "put", real)
        assert copy_store.mark_removed(_names()[0], clock.now(), due_only=False)
        real(*given)

    monkeypatch.setattr(objects, "put", put)
    assert send(admin, part(encode(grid()))).status == 503
    (name,) = _names()
    jobs.clean_up(lambda: True)
    assert (_names(), objects.get(places.public(name), most=10)) == ([], None)


def test_a_picture_that_is_deleted_before_it_is_kept_is_made_again(
    admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = copy_store.keep_write

    def keep_write(name: str, *given: Any) -> Any:
        monkeypatch.setattr(copy_store, "keep_write", real)
        assert media.unpublish(name)
        return real(name, *given)

    monkeypatch.setattr(copy_store, "keep_write", keep_write)
    assert listed(admin) == []
    assert [upload(admin)["id"]] == listed(admin)


def test_a_draft_that_names_a_deleted_picture_is_saved_without_it(admin: Any) -> None:
    made = upload(admin)
    library.delete(made["id"])
    campaign = created(admin, body=showing(made))
    assert campaigns.view(campaign["id"]).content.pictures == frozenset()
