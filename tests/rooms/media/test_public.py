"""Public copies: what is made of a picture, who gets it, and when it is removed."""

import io
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from PIL import Image

from chalicelib.kernel import clock
from chalicelib.kernel.aws import objects, queues, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Invalid, Unavailable
from chalicelib.media import copy_store, images, jobs, model, places, public_images, service
from chalicelib.media.copy_store import CopyRow
from tests.conftest import received
from tests.rooms.media.pictures import (
    JPEG,
    PNG,
    WEBP,
    alike,
    assert_bare,
    cells,
    claiming,
    decode,
    encode,
    exif,
    grid,
)
from tests.rooms.media.uploads import OWNER, Died, attached, die

pytestmark = pytest.mark.usefixtures("media_bucket")

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def forever() -> bool:
    return True


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    moment = clock.now() + timedelta(**by)
    monkeypatch.setattr(clock, "now", lambda: moment)


def photo(width: int, height: int) -> Image.Image:
    """Many colours, none of them exactly twice, as photos have."""
    return Image.radial_gradient("L").resize((width, height)).convert("RGB").effect_spread(4)


def names() -> set[str]:
    return {row.id for row in CopyRow.scan() if model.is_name(row.id)}


def stored(name: str) -> bool:
    return objects.get(places.public(name), 1) is not None


def make(content: bytes, width: int = 640, height: int = 640) -> images.Remade:
    return public_images.make(content, images.Box(width, height))


# What is made


@pytest.mark.parametrize("quality", [70, 95])
def test_a_thumbnail_as_youtube_has_it_becomes_a_bare_jpeg_of_its_size(quality: int) -> None:
    made = make(encode(photo(480, 360), JPEG, quality=quality, exif=exif()))
    assert (made.format, made.width, made.height) == ("image/jpeg", 480, 360)
    assert_bare(made.content, made.format)


def test_no_mail_gets_a_webp() -> None:
    assert make(encode(photo(300, 200), WEBP)).format == "image/jpeg"
    opaque = photo(300, 200)
    opaque.putalpha(255)
    assert make(encode(opaque, WEBP, lossless=True)).format == "image/jpeg"
    clear = photo(300, 200)
    clear.putalpha(80)
    made = make(encode(clear, WEBP))
    assert made.format == "image/png"
    assert_bare(made.content, made.format)
    assert decode(made.content).mode == "RGBA"


def test_a_drawing_stays_exact_and_a_photo_does_not_stay_a_png() -> None:
    drawn = make(encode(grid(cell=60), PNG))
    assert drawn.format == "image/png"
    assert decode(drawn.content).convert("RGB").tobytes() == grid(cell=60).tobytes()
    assert make(encode(photo(600, 400), PNG)).format == "image/jpeg"


@pytest.mark.parametrize("transparent", [False, True])
def test_of_a_gif_the_first_frame_is_left(transparent: bool) -> None:
    first, second = grid(cell=20).quantize(8), Image.new("P", (60, 40), 1)
    options = {"transparency": 0, "disposal": 2} if transparent else {}
    content = encode(first, "GIF", save_all=True, append_images=[second], duration=100, loop=0, **options)
    made = make(content)
    assert (made.format, made.width, made.height) == ("image/png", 60, 40)
    assert_bare(made.content, made.format)
    assert getattr(decode(made.content), "n_frames", 1) == 1
    if not transparent:
        assert alike(cells(made.content, 20), cells(encode(grid(cell=20), PNG), 20))


@pytest.mark.parametrize(
    ("size", "box", "expected"),
    [
        ((2400, 1200), (1200, 4800), (1200, 600)),
        ((1000, 3000), (1200, 4800), (1000, 3000)),
        ((1000, 9600), (1200, 4800), (500, 4800)),
        ((100, 50), (1200, 4800), (100, 50)),
        ((1280, 720), (640, 640), (640, 360)),
        ((720, 1280), (640, 640), (360, 640)),
    ],
)
def test_it_is_no_larger_than_asked_for_and_never_larger_than_it_was(
    size: tuple[int, int], box: tuple[int, int], expected: tuple[int, int]
) -> None:
    made = make(encode(Image.new("RGB", size, "teal"), JPEG), *box)
    assert (made.width, made.height) == expected


@pytest.mark.parametrize("orientation", range(1, 9))
def test_width_and_height_are_those_of_the_upright_picture(orientation: int) -> None:
    made = make(encode(grid(cell=400), JPEG, exif=exif(orientation)), 300, 4800)
    sideways = orientation > 4
    assert (made.width, made.height) == ((300, 450) if sideways else (300, 200))


def test_it_fits_into_what_lambda_answers() -> None:
    noise = Image.effect_noise((1200, 1600), 120).convert("RGBA")
    noise.putalpha(Image.effect_noise((1200, 1600), 120))
    made = make(encode(noise, PNG), 1200, 4800)
    assert made.format == "image/png"
    assert len(made.content) <= model.LARGEST_COPY
    assert len(made.content) * 4 / 3 < 6_000_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SVG,
        b"<!DOCTYPE html><title>Not found</title>",
        b"%PDF-1.7",
        b"GIF89a",
        b"GIF89a" + b"\xff" * 400,
        encode(grid())[:300],
        claiming(PNG, 9000, 9000),
        claiming(WEBP, 9000, 9000),
    ],
)
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid):
        service.publish(content)
    assert not names()


def test_pixels_can_be_bounded_more_tightly() -> None:
    for format in (JPEG, PNG, WEBP, "GIF"):
        content = encode(Image.new("RGB", (400, 300)), format)
        assert make(content).width == 400
        with pytest.raises(Invalid, match="too many pixels"):
            public_images.make(content, images.Box(640, 640), most_pixels=100_000)


# Where it is


def test_the_same_picture_twice_is_one_copy() -> None:
    one, other = (service.publish(encode(grid())) for _ in range(2))
    assert one == other
    assert service.find_copies([one.name, "0" * 32 + ".jpg"]) == {one.name}
    assert names() == {one.name}
    assert stored(one.name)
    assert (one.width, one.height, one.bytes) == (48, 32, len(service.read_copy(one.name) or b""))
    assert service.copy_url(one.name) == f"https://news.example.org/media/{one.name}"


def test_a_photo_that_was_private_gets_a_copy() -> None:
    id = attached(encode(grid(cell=800), exif=exif(6)))
    assert service.publish_photo(id) is None
    jobs.prepare(id)
    copy = service.publish_photo(id)
    assert copy
    assert copy.width == 1200
    assert_bare(service.read_copy(copy.name) or b"", "image/jpeg")


ACCEPTS = [
    None,
    "*/*",
    "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
    "image/jpeg",
    "application/json",
    "text/plain",
    "",
    "nonsense",
]


@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("format", [JPEG, PNG])
def test_everybody_gets_it_whatever_they_say_they_accept(http: Any, accept: str | None, format: str) -> None:
    copy = service.publish(encode(photo(60, 40) if format == JPEG else grid(), format))
    answer = http.get(f"/media/{copy.name}", headers={} if accept is None else {"Accept": accept})
    assert (answer.status, answer.body) == (200, service.read_copy(copy.name))
    assert answer.headers["content-type"] == f"image/{format.lower()}"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["set-cookie"] is None
    assert Image.open(io.BytesIO(answer.body)).format == format


def test_whoever_only_asks_whether_it_is_there_is_told(http: Any) -> None:
    copy = service.publish(encode(grid()))
    answer = http.head(f"/media/{copy.name}")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"", "image/jpeg")
    assert http.head(f"/media/{'0' * 32}.png").status == 404


@pytest.mark.parametrize(
    "name", ["0" * 32 + ".png", "0" * 32, "x.jpg", "..%2Fphotos%2Fx", "0" * 32 + ".gif", "0" * 32 + ".png%0A", "%00"]
)
def test_what_is_not_there_is_not_found(http: Any, name: str) -> None:
    answer = http.get(f"/media/{name}")
    assert (answer.status, answer.json) == (404, {"error": "No such picture"})
    assert answer.headers["cache-control"] == "no-store"


def test_nothing_else_in_the_bucket_is_public(http: Any) -> None:
    id = attached()
    jobs.prepare(id)
    hidden = places.photo(id).removeprefix("photos/")
    assert [http.get(f"/media/{name}").status for name in (hidden, f"{hidden}.jpg", id)] == [404, 404, 404]


@pytest.mark.parametrize("headers", [{}, {"Accept": "application/json"}, {"Accept": "text/html"}])
def test_other_answers_stay_text(http: Any, headers: dict[str, str]) -> None:
    assert http.get("/health", headers=headers).json["status"] == "ok"
    assert "<h1>" in http.get("/subscribe", headers=headers).text
    assert http.get("/style.css", headers=headers).headers["content-type"] == "text/css; charset=utf-8"


# How long it stays


def test_a_copy_that_nobody_uses_is_removed_after_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = service.publish(encode(grid()))
    later(monkeypatch, hours=23)
    jobs.clean_up(forever)
    assert stored(copy.name)
    later(monkeypatch, hours=2)
    jobs.clean_up(forever)
    assert not stored(copy.name)
    assert not names()
    assert not service.find_copies([copy.name])


def test_a_copy_stays_while_one_of_two_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = service.publish(encode(grid()))
    for _ in range(2):
        tables.transact(service.use_write(copy.name))
    tables.transact(service.release_write(copy.name))
    for _ in range(2):
        later(monkeypatch, days=2)
        jobs.clean_up(forever)
        assert stored(copy.name)
    row = CopyRow.get(copy.name)
    assert (row.uses, row.todo, row.due_at) == (1, None, None)
    tables.transact(service.release_write(copy.name))
    assert stored(copy.name), "somebody may be about to use it"
    later(monkeypatch, days=2)
    jobs.clean_up(forever)
    assert not stored(copy.name)
    assert not names()


def test_only_what_nobody_uses_can_be_removed_at_once() -> None:
    copy = service.publish(encode(grid()))
    tables.transact(service.use_write(copy.name))
    assert not service.unpublish(copy.name)
    tables.transact(service.release_write(copy.name))
    assert service.unpublish(copy.name)
    assert not stored(copy.name)
    assert not names()
    assert not service.unpublish(copy.name)
    assert not service.unpublish("../photos/x")


def test_what_is_gone_cannot_be_used_until_it_is_published_again() -> None:
    copy = service.publish(encode(grid()))
    service.unpublish(copy.name)
    with pytest.raises(Stale):
        tables.transact(service.use_write(copy.name))
    assert not names()
    assert service.publish(encode(grid())) == copy
    tables.transact(service.use_write(copy.name))


def test_while_it_is_removed_nobody_is_promised_the_same_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = service.publish(encode(grid()))

    def publish_now(key: str) -> None:
        with pytest.raises(Unavailable):
            service.publish(encode(grid()))
        real(key)

    real = objects.delete
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(objects, "delete", publish_now)
        assert service.unpublish(copy.name)
    assert service.publish(encode(grid())) == copy
    assert stored(copy.name)


# Whatever happens in the middle


_STEPS = [(objects, "put"), (objects, "delete"), (copy_store, "announce"), (copy_store, "mark_removed")]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", _STEPS, ids=lambda step: step[1])
def test_a_crash_leaves_no_file_without_a_row_and_nothing_for_ever(
    step: tuple[Any, str], after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = step
    real: Callable[..., Any] = getattr(module, name)

    def dies(*given: Any, **named: Any) -> Any:
        if after:
            real(*given, **named)
        die()

    with monkeypatch.context() as crash, suppress(Died):
        crash.setattr(module, name, dies)
        service.unpublish(service.publish(encode(grid())).name)
    expected = public_images.name(make(encode(grid())))
    assert names() or not stored(expected)
    for _ in range(2):
        later(monkeypatch, days=2)
        jobs.clean_up(forever)
    assert not names()
    assert not stored(expected)
    assert stored(service.publish(encode(grid())).name)


def test_twins_make_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    real, made = objects.put, []

    def after_the_twin(*given: Any) -> None:
        monkeypatch.setattr(objects, "put", real)
        made.append(service.publish(encode(grid())))
        tables.transact(service.use_write(made[0].name))
        real(*given)

    monkeypatch.setattr(objects, "put", after_the_twin)
    made.append(service.publish(encode(grid())))
    assert made[0] == made[1]
    assert CopyRow.get(made[0].name).uses == 1
    assert names() == {made[0].name}


# What is sent hours later


def test_a_message_can_wait_longer_than_a_queue_does(monkeypatch: pytest.MonkeyPatch) -> None:
    at = clock.now() + timedelta(hours=5)
    for _ in range(2):
        service.postpone("feed", {"kind": "copy", "item": "1"}, at)
    jobs.clean_up(forever)
    assert received("feed") == []
    later(monkeypatch, hours=6)
    with monkeypatch.context() as crash, suppress(Died):
        crash.setattr(queues, "send", lambda *given: die())
        jobs.clean_up(forever)
    jobs.clean_up(forever)
    jobs.clean_up(forever)
    assert received("feed") == [{"kind": "copy", "item": "1"}]


def test_a_copy_is_no_upload() -> None:
    copy = service.publish(encode(grid()))
    with pytest.raises(Invalid):
        service.check_attachable(OWNER, copy.name)
