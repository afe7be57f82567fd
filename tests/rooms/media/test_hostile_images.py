"""Files that are no photos, are broken, or are made to cost more than a photo: refused, each by its own text, and
whatever else they do, nothing but a refusal leaves `remake`."""

import re
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, JpegImagePlugin

from chalicelib.kernel.errors import Invalid
from chalicelib.media import images, model
from tests.rooms.media.pictures import (
    FORMATS,
    GRID,
    JPEG,
    PNG,
    WEBP,
    alike,
    assert_bare,
    cells,
    chunks,
    claiming,
    decode,
    display_p3,
    encode,
    exif,
    grid,
    interlaced,
    rebuilt,
    with_chunks,
)

ROOT = Path(__file__).parents[3]


def refusal(content: bytes) -> str:
    with pytest.raises(Invalid) as raised:
        images.remake(content)
    return raised.value.reason


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"\xff\xd8",
        b"GIF89a" + b"\0" * 100,
        encode(grid(), "GIF"),
        encode(grid(), "TIFF"),
        encode(grid(), "BMP"),
        b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 100,
        b"\0\0\0\x1cftypavif" + b"\0" * 100,
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>" + encode(grid()),
        b"%PDF-1.7\n",
        b"PK\x03\x04" + encode(grid(), PNG),
        b"RIFF\0\0\0\0WAVEfmt ",
        b"\x89PNG\r\n\x1a",
        b"RIFF\0\0\0\0WEB",
    ],
)
def test_only_the_three_types_are_taken_by_content(content: bytes) -> None:
    assert refusal(content) == model.WRONG_TYPE


@pytest.mark.parametrize("format", FORMATS)
def test_a_truncated_file_is_refused_wherever_it_ends(format: str) -> None:
    whole = encode(grid(), format, exif=exif(6), icc_profile=display_p3())
    needed = whole if format != PNG else whole[: whole.rindex(b"IEND") - 4]
    for end in range(12, len(needed) - 4, 7):
        assert refusal(whole[:end]) == model.UNREADABLE


@pytest.mark.parametrize("format", FORMATS)
def test_what_stands_behind_the_picture_is_not_taken_over(format: str) -> None:
    for tail in (b"PK\x03\x04zip", b"<html><script>alert(1)</script>", b"\0" * 70_000, encode(grid(), "GIF")):
        made = images.remake(encode(grid(), format) + tail)
        assert alike(cells(made.content), GRID)
        assert_bare(made.content, made.format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_header_that_claims_too_many_pixels_is_refused_unread(format: str) -> None:
    for width, height in ((20_000, 20_000), (8001, 5000), (16_000, 2501), (65_000, 65_000)):
        assert refusal(claiming(format, width, height)) == model.TOO_MANY_PIXELS
    if format != JPEG:  # of which the rest is grey, in browsers too
        assert refusal(claiming(format, 8000, 5000)) == model.UNREADABLE


def test_the_largest_sizes_a_header_can_claim() -> None:
    assert refusal(claiming(PNG, 2**31 - 1, 2**31 - 1)) == model.TOO_MANY_PIXELS
    for lossless in (False, True):
        bare = encode(grid(), WEBP, lossless=lossless)
        sides = b"\xff\xff\xff\x0f" if lossless else b"\xff\x3f\xff\x3f"
        place = 21 if lossless else 26
        assert refusal(bare[:place] + sides + bare[place + 4 :]) == model.TOO_MANY_PIXELS


def test_forty_million_pixels_pass_and_one_column_more_does_not() -> None:
    made = images.remake(encode(Image.new("1", (8000, 5000), 1), PNG))
    assert (made.width, made.height) == (2048, 1280)
    assert refusal(encode(Image.new("1", (8001, 5000)), PNG)) == model.TOO_MANY_PIXELS


_MEASURE = """
import sys
from PIL import Image, ImageCms, JpegImagePlugin, PngImagePlugin, WebPImagePlugin
from chalicelib.kernel.errors import Invalid
from chalicelib.media import images

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

content = open(sys.argv[1], "rb").read()
before = peak()
try:
    images.remake(content)
except Invalid as refusal:
    print(refusal.reason)
print((peak() - before) // 1024)
"""


def megabytes(content: bytes, folder: Path) -> int:
    """How much more memory a process takes at most while it works on it."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc to measure memory by")
    file = folder / "photo"
    file.write_bytes(content)
    run = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(file)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return int(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("format", FORMATS)
def test_a_bomb_costs_no_memory(format: str, tmp_path: Path) -> None:
    assert megabytes(claiming(format, 20_000, 20_000), tmp_path) < 8


@pytest.mark.parametrize("kind", [b"zTXt", b"iCCP", b"iTXt"])
def test_a_compressed_text_that_explodes_costs_little(kind: bytes, tmp_path: Path) -> None:
    exploding = zlib.compress(b"\0" * 100_000_000, 9)
    head = {b"zTXt": b"Comment\0\0", b"iCCP": b"ICC\0\0", b"iTXt": b"Comment\0\x01\0\0\0"}[kind]
    assert megabytes(with_chunks(encode(grid(), PNG), (kind, head + exploding)), tmp_path) < 16


def test_a_png_with_more_data_than_pixels_costs_little(tmp_path: Path) -> None:
    head = (b"IHDR", struct.pack(">IIBBBBB", 48, 32, 8, 2, 0, 0, 0))
    bomb = rebuilt([head, (b"IDAT", zlib.compress(b"\0" * 100_000_000, 9)), (b"IEND", b"")])
    assert megabytes(bomb, tmp_path) < 16


@pytest.mark.slow
def test_photos_of_twelve_million_pixels_need_less_than_256_megabytes(tmp_path: Path) -> None:
    photo = Image.effect_noise((500, 375), 60).resize((4000, 3000)).convert("RGB")
    for format, options in (
        (JPEG, {}),
        (JPEG, {"progressive": True, "subsampling": 0}),
        (WEBP, {"method": 0}),
        (PNG, {}),
    ):
        content = encode(photo, format, **({"quality": 60} | options if format != PNG else options))
        assert megabytes(content, tmp_path) < 256


def with_scans(jpeg: bytes, count: int) -> bytes:
    """Its last scan so often that there are so many."""
    scans = [match.start() for match in re.finditer(rb"\xff\xda", jpeg)]
    return jpeg[: scans[-1]] + jpeg[scans[-1] : -2] * (count - len(scans) + 1) + jpeg[-2:]


def test_a_jpeg_of_countless_scans_is_refused_before_it_takes_hours() -> None:
    content = with_scans(encode(Image.new("L", (7000, 5000)), progressive=True), 20_000)
    began = time.monotonic()
    assert refusal(content) == model.UNREADABLE
    assert time.monotonic() - began < 1


def test_a_hundred_scans_pass_and_one_more_does_not() -> None:
    """A progressive JPEG has about ten."""
    photo = encode(grid(), progressive=True)
    assert alike(cells(images.remake(with_scans(photo, 100)).content), GRID)
    assert refusal(with_scans(photo, 101)) == model.UNREADABLE


def test_a_png_of_countless_chunks_is_read_in_bounded_time() -> None:
    began = time.monotonic()
    made = images.remake(with_chunks(encode(grid(), PNG), *[(b"prVt", b"")] * 400_000))
    assert alike(cells(made.content), GRID)
    assert time.monotonic() - began < 20


def test_a_checksum_that_does_not_fit_is_refused() -> None:
    png = encode(grid(), PNG)
    place = png.index(b"IHDR") + 17
    assert refusal(png[:place] + b"\0\0\0\0" + png[place + 4 :]) == model.UNREADABLE


def test_a_defect_of_the_decoder_is_a_refusal_that_is_logged_as_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("what somebody sent")

    monkeypatch.setattr(JpegImagePlugin.JpegImageFile, "load", fail)
    assert refusal(encode(grid())) == model.UNREADABLE
    logged = capsys.readouterr().out
    assert '"level": "error"' in logged
    assert "photo.decoder_failed" in logged
    assert "what somebody sent" not in logged


def test_a_defect_of_ours_is_not_taken_for_a_broken_photo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_fit", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        images.remake(encode(grid()))


_SAMPLES = [
    encode(grid(), exif=exif(6), icc_profile=display_p3(), comment=b"x"),
    encode(grid(), progressive=True),
    encode(grid().convert("CMYK"), icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()),
    encode(grid().convert("L")),
    encode(grid(), PNG, exif=exif(5), icc_profile=display_p3()),
    encode(grid().quantize(6), PNG, transparency=1),
    encode(grid().convert("1"), PNG),
    encode(grid(), PNG, save_all=True, append_images=[Image.new("RGB", (48, 32))]),
    interlaced(grid()),
    encode(Image.new("I;16", (20, 20), 40_000), PNG),
    encode(grid(), WEBP, exif=exif(8), icc_profile=display_p3()),
    encode(grid().convert("RGBA"), WEBP, lossless=True),
    encode(grid(), WEBP, save_all=True, append_images=[Image.new("RGB", (48, 32))]),
]


def assert_bare_or_refused(content: bytes) -> None:
    try:
        made = images.remake(content)
    except Invalid:
        return
    assert_bare(made.content, made.format)
    assert max(decode(made.content).size) <= model.LONGEST_SIDE


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    sample=st.sampled_from(_SAMPLES),
    changes=st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=6),
    cut=st.none() | st.tuples(st.integers(0, 2**16), st.integers(0, 64)),
)
def test_changed_bytes_give_a_picture_or_a_refusal(
    sample: bytes, changes: list[tuple[int, int]], cut: tuple[int, int] | None
) -> None:
    content = bytearray(sample)
    for place, value in changes:
        content[place % len(content)] = value
    if cut:
        start = cut[0] % len(content)
        del content[start : start + cut[1]]
    assert_bare_or_refused(bytes(content))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    sample=st.sampled_from([sample for sample in _SAMPLES if sample.startswith(b"\x89PNG")]),
    which=st.integers(0, 20),
    data=st.binary(max_size=40),
)
def test_changed_chunks_with_right_checksums_give_a_picture_or_a_refusal(
    sample: bytes, which: int, data: bytes
) -> None:
    """With checksums that fit: they keep plain changes of a PNG from being read at all."""
    parts = chunks(sample)
    kind, old = parts[which % len(parts)]
    parts[which % len(parts)] = (kind, data + old[len(data) :])
    assert_bare_or_refused(rebuilt(parts))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8X", b""]), st.binary(max_size=500)
)
def test_any_bytes_give_a_picture_or_a_refusal(head: bytes, rest: bytes) -> None:
    assert_bare_or_refused(head + rest)
