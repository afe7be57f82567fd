"""The pictures of posts: copied, linked or none, and never a reason for a mail to wait."""

import contextlib
import threading
import time
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks, renderer
from chalicelib.feeds import digest, pictures, service
from chalicelib.feeds.pictures import Pictures
from chalicelib.feeds.reading.model import Entry
from chalicelib.feeds.state import Result, Trigger
from chalicelib.media import remote
from chalicelib.media import service as media
from tests.rooms.feeds.holding import START

pytestmark = pytest.mark.usefixtures("media_bucket", "ses", "blog")


def png(colour: str = "teal", size: tuple[int, int] = (900, 600)) -> bytes:
    file = BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def shown(blog: Any) -> str:
    """Publish a post with a picture, and see what its mail shows."""
    service.check(Trigger.SCHEDULE)
    blog.publish("News", picture="/shot.png")
    done = service.check(Trigger.SCHEDULE)
    assert done.result is Result.SENT
    (item,) = blocks.items(campaigns.view(done.campaign_id).content.body)
    return item.picture


def test_a_picture_is_copied_and_the_mail_shows_the_copy(blog):
    blog.files["/shot.png"] = png()
    address = shown(blog)
    assert address.startswith("https://news.example.org/media/")
    copy = media.read_copy(address.rpartition("/")[2])
    assert copy is not None
    assert max(Image.open(BytesIO(copy)).size) == 640


def test_the_copy_stays_as_long_as_the_campaign(blog):
    blog.files["/shot.png"] = png()
    name = shown(blog).rpartition("/")[2]
    detail = campaigns.view(service.view().state.campaign_id)
    assert detail.content.pictures == {name}
    assert not media.unpublish(name)


AVIF = b"\0\0\0\x20ftypavif" + bytes(400)


@pytest.mark.parametrize("content", [b"", b"<svg/>", AVIF, b"<html>Not found</html>", png()[:200]])
def test_what_is_no_picture_is_left_out_and_not_linked(blog, content):
    blog.files["/shot.png"] = content
    assert shown(blog) == ""


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (39, 300), (1200, 20)])
def test_a_pixel_that_counts_readers_and_an_icon_are_left_out(blog, size):
    blog.files["/shot.png"] = png(size=size)
    assert shown(blog) == ""


def test_a_modern_format_is_shown_as_one_that_every_mail_program_knows(blog):
    file = BytesIO()
    Image.new("RGB", (900, 600), "teal").save(file, "WEBP")
    blog.files["/shot.png"] = file.getvalue()
    assert shown(blog).endswith((".jpg", ".png"))


@pytest.mark.parametrize("status", [403, 404, 500])
def test_what_cannot_be_fetched_is_left_out_and_not_linked(blog, status):
    blog.pages["/shot.png"] = status
    assert shown(blog) == ""


def test_a_picture_inside_the_network_is_not_fetched(blog, configure):
    service.check(Trigger.SCHEDULE)
    blog.publish("News", picture="http://169.254.169.254/shot.png")
    done = service.check(Trigger.SCHEDULE)
    (item,) = blocks.items(campaigns.view(done.campaign_id).content.body)
    assert item.picture == ""


def test_a_store_that_fails_costs_the_picture_and_not_the_mail(blog, monkeypatch):
    def refuse(*_: Any) -> None:
        raise RuntimeError("no such bucket")

    monkeypatch.setattr(media, "publish", refuse)
    blog.files["/shot.png"] = png()
    assert shown(blog) == ""


def test_pictures_can_be_linked(blog, configure):
    configure(FEED_IMAGES="link")
    assert shown(blog) == f"{blog.url}/shot.png"


def test_pictures_can_be_left_out(blog, configure):
    configure(FEED_IMAGES="none")
    blog.files["/shot.png"] = png()
    assert shown(blog) == ""
    assert "/shot.png" not in [asked["path"] for asked in blog.asked]


def test_no_mail_waits_longer_than_the_pictures_may_take(monkeypatch):
    def slow(address: str, *_: Any) -> None:
        time.sleep(0.2)
        raise pictures.FetchFailed("timeout", "")

    monkeypatch.setattr(remote.client, "get", slow)
    started = time.monotonic()
    assert Pictures(0.5).resolve(f"https://blog.example.org/{number}.png" for number in range(500)) == {}
    assert time.monotonic() - started < 5


class _Dripping(BaseHTTPRequestHandler):
    """A server that never ends a picture."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(200):
                self.wfile.write(b"x")
                time.sleep(0.1)

    def log_message(self, *ignored: Any) -> None:
        pass


def test_a_server_that_drips_costs_its_pictures_and_not_the_others(blog):
    blog.files["/shot.png"] = png()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Dripping)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    slow = [f"http://127.0.0.1:{server.server_port}/{number}.png" for number in range(20)]
    started = time.monotonic()
    found = Pictures(2).resolve([f"{blog.url}/shot.png", *slow])
    took = time.monotonic() - started
    server.shutdown()
    server.server_close()
    assert list(found) == [f"{blog.url}/shot.png"]
    assert took < 10


def test_a_picture_is_fetched_once_for_a_check_that_decides_twice(blog):
    blog.files["/shot.png"] = png()
    made = Pictures(10)
    address = f"{blog.url}/shot.png"
    assert made.resolve([address, address]) == made.resolve([address])
    assert [asked["path"] for asked in blog.asked] == ["/shot.png"]


def test_a_mail_of_thirty_posts_is_not_cut_off_by_mail_programs():
    """Gmail hides what comes after 102 KB."""
    entries = [
        Entry(f"{number}", "T" * 90, f"https://blog.example.org/{number}/" + "x" * 80, html="<p>" + "word " * 100)
        for number in range(30)
    ]
    name = "https://news.example.org/media/" + "0" * 32 + ".jpg"
    draft = digest.draft([_with_picture(entry) for entry in entries], 0, lambda found: dict.fromkeys(found, name))
    mail = renderer.render(campaigns.preview_detail(draft)).message("reader@example.org", "Ana", "token")
    assert mail.html.count('class="item"') + mail.html.count("item-shot") >= 30
    assert len(mail.html.encode()) <= 100_000


def _with_picture(entry: Entry) -> Entry:
    return Entry(entry.id, entry.title, entry.link, html=entry.html, image=f"https://blog.example.org/{entry.id}.png")


def test_a_digest_of_fifty_posts_shows_all_their_pictures(daily, blog):
    """Each copy that is used is a write of the transaction, which may have a hundred."""
    for number in range(50):
        blog.files[f"/{number}.png"] = png(f"#{number * 4000:06x}", (90, 60))
        blog.publish(f"Post {number}", START - timedelta(minutes=60 - number), picture=f"/{number}.png")
        if number % 10 == 9:
            assert daily.check() is Result.WAITING
    daily.pass_time(hours=3)
    body = campaigns.view(service.view().state.campaign_id).content.body
    assert len({item.picture for item in blocks.items(body) if item.picture}) == 50
