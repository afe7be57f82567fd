"""Pictures of items: copied once, whatever happens, and shown only from our own copies."""

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.inbox import composing, departures, item_store, picture_store, pictures, service
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK
from chalicelib.kernel import clock
from chalicelib.kernel.aws import objects, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.http import client
from chalicelib.media import jobs as media_jobs
from chalicelib.media import places
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from tests.conftest import received
from tests.rooms.inbox.box import Box
from tests.rooms.inbox.things import NOON, article, to, video
from tests.rooms.media.pictures import JPEG, PNG, WEBP, assert_bare, claiming, decode, encode, exif, grid
from tests.rooms.media.test_public import photo
from tests.rooms.media.uploads import Died, die

pytestmark = pytest.mark.usefixtures("media_bucket")

SITE = "https://news.example.org"
# As large as those of YouTube are.
THUMBNAIL = encode(photo(480, 360), JPEG, exif=exif())
OTHER = encode(photo(120, 90).rotate(180), JPEG)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
HTML = b"<!DOCTYPE html><title>Sign in</title>"


class Host:
    """A server elsewhere. `files` are what it has by path: the status, headers and content."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, str]] = []
        self.delay = 0.0
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked.append((self.path, self.headers["Accept"]))
                time.sleep(host.delay)
                status, headers, content = host.files.get(self.path, (404, {}, b"gone"))
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *ignored: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def put(self, content: bytes, path: str = "/p.jpg", status: int = 200, **headers: str) -> str:
        self.files[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, content)
        return self.url + path

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def host(configure: Any) -> Iterator[Host]:
    configure(GNA_LOCAL="true", MEMBERS="open", DISABLE_AUTH="true")
    host = Host()
    yield host
    host.stop()


@pytest.fixture(autouse=True)
def _no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages arrive as soon as they are looked for."""
    monkeypatch.setattr(pictures, "_DELAY", 0)


def work() -> int:
    """Handle every message about a picture; how many there were."""
    messages = [message for message in received("feed") if message.get("kind") == "copy"]
    for message in messages:
        pictures.copy(message["item"])
    return len(messages)


def deliver(image: str, name: str = "first", owner: str = DESK) -> str:
    item = video(name, image=image)
    service.deliver(item, to(owner), NOON)
    return item.id


def shown(id: str) -> str:
    item = service.find_item(id)
    return item.picture if item else ""


def copies() -> dict[str, int]:
    """How often each copy is used."""
    return {row.id: int(row.uses) for row in CopyRow.scan() if not row.id.startswith("postponed")}


def is_stored(name: str) -> bool:
    return objects.get(places.public(name), 1) is not None


def wait(later: Any, hours: float) -> None:
    """The clean-up runs every hour; twice is enough, because what the first begins the second ends."""
    for _ in range(2):
        later(hours=hours / 2)
        media_jobs.clean_up(lambda: True)


# From the source to the entry


def test_an_entry_has_no_picture_until_there_is_our_own(host: Host, desk: Box, http: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    assert desk.entries()[0]["image_url"] is None
    assert work() == 1
    [entry] = desk.entries()
    assert entry["image_url"] == f"{SITE}/media/{shown(id)}"
    answer = http.get(entry["image_url"].removeprefix(SITE))
    assert (answer.status, answer.headers["content-type"]) == (200, "image/jpeg")
    assert_bare(answer.body, "image/jpeg")
    assert decode(answer.body).size == (480, 360)
    assert host.url not in desk.get().text
    assert host.asked == [("/p.jpg", "image/jpeg, image/png, image/webp, image/gif")]


@pytest.mark.parametrize(
    ("content", "size", "format"),
    [
        (encode(photo(1280, 720), JPEG), (640, 360), "JPEG"),
        (encode(photo(900, 1200), WEBP), (480, 640), "JPEG"),
        (encode(grid(cell=100), PNG), (300, 200), "PNG"),
        (encode(grid(cell=100).quantize(8), "GIF"), (300, 200), "PNG"),
    ],
)
def test_whatever_a_source_has_it_is_small_and_in_a_format_for_mails(
    host: Host, content: bytes, size: tuple[int, int], format: str
) -> None:
    id = deliver(host.put(content, Content_Type="application/octet-stream"))
    work()
    made = decode(media.read_copy(shown(id)) or b"")
    assert (made.size, made.format) == (size, format)


def test_a_redirect_is_followed(host: Host) -> None:
    host.put(THUMBNAIL)
    id = deliver(host.put(b"", "/old", 302, Location="/p.jpg"))
    work()
    assert shown(id)


def test_who_has_no_picture_causes_no_work(host: Host) -> None:
    service.deliver(article(), to(DESK), NOON)
    service.deliver(video("nobody", image=host.put(THUMBNAIL)), [], NOON)
    assert work() == 0


def test_an_item_that_has_its_picture_is_delivered_to_others_without_more_work(host: Host) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    item = service.find_item(id)
    assert item
    service.deliver(item, to("ada"), NOON)
    assert work() == 0
    deliver(item.image, owner="bob")
    assert work() == 1, "whoever brings it does not know"
    assert len(host.asked) == 1
    assert copies() == {shown(id): 1}


def test_nothing_but_the_item_is_written_when_it_is_delivered(host: Host) -> None:
    deliver(host.put(THUMBNAIL))
    assert copies() == {}


def test_a_message_that_comes_before_its_item_does_no_harm(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as crash, suppress(Died):
        crash.setattr(tables, "transact", lambda *writes: die())
        deliver(host.put(THUMBNAIL))
    assert work() == 1
    assert not host.asked
    id = deliver(host.url + "/p.jpg")
    assert work() == 1
    assert shown(id)


# What cannot be copied


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (SVG, {"Content_Type": "image/svg+xml"}),
        (HTML, {"Content_Type": "image/jpeg"}),
        (b"", {}),
        (THUMBNAIL[:500], {}),
        (claiming(PNG, 5000, 4000), {}),
        (b"\xff\xd8\xff" + b"\0" * 5_300_000, {}),
        (b"", {"status": 302, "Location": "http://10.0.0.1/p.jpg"}),
        (b"", {"status": 302, "Location": "http://169.254.169.254/latest/meta-data"}),
        (b"", {"status": 302, "Location": "/p.jpg"}),
        (b"", {"status": 302, "Location": "file:///etc/passwd"}),
    ],
    ids=["svg", "html", "empty", "cut off", "pixels", "huge", "private", "metadata", "circle", "file"],
)
def test_what_is_no_picture_is_asked_for_once(
    host: Host, desk: Box, later: Any, content: bytes, options: dict[str, Any]
) -> None:
    id = deliver(host.put(content, **options))
    work()
    asked = len(host.asked)
    wait(later, 30)
    assert work() == 0
    pictures.copy(id)
    assert len(host.asked) == asked
    assert desk.entries()[0]["image_url"] is None
    assert copies() == {}


@pytest.mark.parametrize("image", ["data:image/png;base64,iVBORw0KGgo=", "http://[::1", "//", "ftp://x/p.jpg"])
def test_what_is_no_address_is_not_tried(host: Host, later: Any, image: str) -> None:
    id = deliver(image)
    work()
    wait(later, 30)
    assert work() == 0
    assert shown(id) == ""


@pytest.mark.parametrize("status", [404, 410, 403, 429, 500, 503])
def test_a_source_that_fails_is_tried_three_times_in_a_day_and_never_again(
    host: Host, later: Any, status: int
) -> None:
    id = deliver(host.put(b"", status=status))
    for _ in range(12):
        work()
        wait(later, 2)
    assert len(host.asked) == 3
    deliver(host.url + "/p.jpg", owner="ada")
    service.refresh_item(replace(video(image=host.url + "/p.jpg"), refreshed_at=clock.now()))
    wait(later, 48)
    work()
    assert len(host.asked) == 3
    assert shown(id) == ""
    assert copies() == {}


def test_a_source_that_recovers_has_its_picture_copied(host: Host, later: Any) -> None:
    id = deliver(host.put(b"", status=503))
    work()
    host.put(THUMBNAIL)
    wait(later, 2)
    assert work() == 1
    assert shown(id)
    wait(later, 30)
    assert work() == 0


def test_a_slow_source_is_not_waited_for(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures._SECONDS == 8
    monkeypatch.setattr(pictures, "_SECONDS", 0.2)
    host.delay = 1
    id = deliver(host.put(THUMBNAIL))
    work()
    found = picture_store.find(id)
    assert found
    assert found.tries == 1


def test_a_private_address_is_never_asked(configure: Any) -> None:
    host = Host()
    id = deliver(host.put(THUMBNAIL))
    work()
    host.stop()
    assert not host.asked
    assert shown(id) == ""


# One copy for many, and for as long as it is needed


def test_episodes_with_the_picture_of_their_show_share_one_copy(host: Host, later: Any) -> None:
    ids = [deliver(host.put(THUMBNAIL, f"/{name}.jpg"), name) for name in ("one", "two", "three")]
    work()
    [name] = {shown(id) for id in ids}
    assert copies() == {name: 3}
    for id in ids[:2]:
        service.dismiss(DESK, id)
        assert service.forget_item_if_unheld(id)
    wait(later, 52)
    assert (copies(), is_stored(name)) == ({name: 1}, True)
    service.dismiss(DESK, ids[2])
    assert service.forget_item_if_unheld(ids[2])
    wait(later, 52)
    assert (copies(), is_stored(name)) == ({}, False)


def test_an_item_that_is_stripped_loses_its_picture(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    name = shown(id)
    assert service.strip_item(id)
    item = service.find_item(id)
    assert item
    assert (item.picture, item.image) == ("", "")
    assert {"picture", "picture_of", "picture_tries"}.isdisjoint(ItemRow.get(id).serialize())
    pictures.copy(id)
    wait(later, 52)
    assert (copies(), is_stored(name)) == ({}, False)


def test_a_member_who_leaves_takes_their_pictures_along(host: Host, later: Any, ada: Box) -> None:
    shared, own = (deliver(host.put(THUMBNAIL), "a", ada.owner), deliver(host.put(OTHER, "/o.jpg"), "b", ada.owner))
    deliver(host.url + "/p.jpg", "a")
    work()
    kept, gone = shown(shared), shown(own)
    assert departures.forget(ada.owner, lambda: True)
    wait(later, 52)
    assert (copies(), is_stored(gone)) == ({kept: 1}, False)


def test_another_image_takes_the_place_of_the_first(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    first = shown(id)
    newer = replace(video(image=host.put(OTHER, "/o.jpg")), refreshed_at=NOON + timedelta(days=1))
    assert service.refresh_item(newer)
    assert shown(id) == first, "until the other is there"
    assert work() == 1
    second = shown(id)
    assert copies() == {first: 0, second: 1}
    assert service.refresh_item(replace(newer, refreshed_at=NOON + timedelta(days=2)))
    assert work() == 0, "it is the same"
    wait(later, 52)
    assert (copies(), is_stored(first), is_stored(second)) == ({second: 1}, False, True)


def test_the_same_picture_at_another_address_stays(host: Host) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    name = shown(id)
    moved = replace(video(image=host.put(THUMBNAIL, "/moved.jpg")), refreshed_at=NOON + timedelta(days=1))
    service.refresh_item(moved)
    work()
    assert (shown(id), copies()) == (name, {name: 1})
    pictures.copy(id)
    assert len(host.asked) == 2


def test_an_image_that_is_taken_away_is_no_longer_shown(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    service.refresh_item(replace(video(image=""), refreshed_at=NOON + timedelta(days=1)))
    assert work() == 1
    assert shown(id) == ""
    wait(later, 52)
    assert copies() == {}


def test_a_picture_is_not_shown_for_another_that_cannot_be_copied(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    service.refresh_item(replace(video(image=host.put(SVG, "/o.svg")), refreshed_at=NOON + timedelta(days=1)))
    work()
    assert shown(id) == ""
    pictures.copy(id)
    assert len(host.asked) == 2
    wait(later, 52)
    assert copies() == {}


def test_what_is_in_a_draft_stays_when_its_item_goes_until_the_draft_goes_too(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    name = shown(id)
    drafts = [composing.compose([composing.Section((id,))]).detail.campaign.id for _ in range(2)]
    assert copies() == {name: 3}
    service.dismiss(DESK, id)
    assert service.forget_item_if_unheld(id)
    campaigns.delete(drafts[0])
    wait(later, 52)
    assert is_stored(name)
    campaigns.delete(drafts[1])
    wait(later, 52)
    assert not is_stored(name)


def test_a_draft_that_is_deleted_takes_no_picture_from_an_entry(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    campaigns.delete(composing.compose([composing.Section((id,))]).detail.campaign.id)
    wait(later, 52)
    assert is_stored(shown(id))


def test_what_was_sent_stays_when_item_and_drafts_go(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    work()
    name = shown(id)
    sent, draft = (composing.compose([composing.Section((id,))]).detail.campaign.id for _ in range(2))
    campaigns.send_now(sent)
    campaigns.delete(draft)
    service.dismiss(DESK, id)
    assert service.forget_item_if_unheld(id)
    wait(later, 52)
    assert is_stored(name)


# Twins and crashes


def test_twins_make_one_copy_and_one_use(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    id = deliver(host.put(THUMBNAIL))
    real = picture_store.show

    def after_the_twin(*given: Any) -> None:
        monkeypatch.setattr(picture_store, "show", real)
        pictures.copy(id)
        real(*given)

    monkeypatch.setattr(picture_store, "show", after_the_twin)
    assert work() == 1
    assert copies() == {shown(id): 1}


def test_an_item_that_is_deleted_meanwhile_leaves_nothing(
    host: Host, monkeypatch: pytest.MonkeyPatch, later: Any
) -> None:
    id = deliver(host.put(THUMBNAIL))
    real = client.get

    def deleting(*given: Any) -> Any:
        service.dismiss(DESK, id)
        assert service.forget_item_if_unheld(id)
        return real(*given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(client, "get", deleting)
        work()
    assert service.find_item(id) is None
    wait(later, 52)
    assert copies() == {}


def test_whoever_deletes_an_item_does_not_miss_the_picture_it_just_got(host: Host, later: Any) -> None:
    id = deliver(host.put(THUMBNAIL))
    version = item_store.find_versions([id])[id]
    work()
    assert not item_store.delete(version)
    assert not item_store.strip(version)
    assert item_store.delete(item_store.find_versions([id])[id])
    wait(later, 52)
    assert copies() == {}


def test_another_image_at_that_moment_brings_the_message_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    id = deliver(host.put(THUMBNAIL))
    newer = replace(video(image=host.put(OTHER, "/o.jpg")), refreshed_at=NOON + timedelta(days=1))
    real = client.get

    def refreshing(*given: Any) -> Any:
        service.refresh_item(newer)
        return real(*given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(client, "get", refreshing)
        with pytest.raises(Stale):
            pictures.copy(id)
    pictures.copy(id)
    assert {name for name, uses in copies().items() if uses} == {shown(id)}
    assert decode(media.read_copy(shown(id)) or b"").size == (120, 90)


_STEPS = [
    (objects, "put"),
    (tables, "transact"),
    (tables, "update"),
    (picture_store, "find"),
    (media, "postpone"),
    (picture_store, "note_failure"),
]


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", _STEPS, ids=lambda step: step[1])
def test_after_a_crash_the_message_comes_again_and_one_copy_is_used(
    host: Host, later: Any, monkeypatch: pytest.MonkeyPatch, step: tuple[Any, str], after: bool, status: int
) -> None:
    id = deliver(host.put(THUMBNAIL, status=status))
    module, name = step
    real = getattr(module, name)

    def dies(*given: Any, **named: Any) -> Any:
        if after:
            real(*given, **named)
        die()

    with monkeypatch.context() as crash, suppress(Died):
        crash.setattr(module, name, dies)
        pictures.copy(id)
    pictures.copy(id)
    host.put(THUMBNAIL)
    for _ in range(5):
        wait(later, 8)
        work()
    assert copies() == {shown(id): 1}
    assert is_stored(shown(id))
