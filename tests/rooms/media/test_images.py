"""Photos as cameras, phones and programs write them come out upright, in the right colours and bare."""

import io
import zlib
from typing import Any

import pytest
from PIL import Image, ImageCms

from chalicelib.media import images, model
from tests.rooms.media.pictures import (
    CELL,
    FORMATS,
    GRID,
    JPEG,
    P3,
    PNG,
    SECRET,
    WEBP,
    alike,
    assert_bare,
    cells,
    chunks,
    decode,
    display_p3,
    encode,
    exif,
    grid,
    interlaced,
    rebuilt,
    segment,
    with_chunks,
    with_segments,
)

ROW_0_AND_COLUMN_0 = {  # where they are for the eye, by the EXIF standard
    1: ("top", "left"),
    2: ("top", "right"),
    3: ("bottom", "right"),
    4: ("bottom", "left"),
    5: ("left", "top"),
    6: ("right", "top"),
    7: ("right", "bottom"),
    8: ("left", "bottom"),
}


def remade(content: bytes, longest: int = model.LONGEST_SIDE) -> images.Remade:
    """Made anew, with what is true of every picture checked."""
    made = images.remake(content, longest)
    assert made.format == model.sniff(content) == model.sniff(made.content)
    assert_bare(made.content, made.format)
    assert decode(made.content).size == (made.width, made.height)
    assert len(made.content) <= model.LARGEST
    return made


def stored(orientation: int) -> Image.Image:
    """The grid as a camera held that way stores it."""
    row_side, column_side = ROW_0_AND_COLUMN_0[orientation]

    def seen(row: int, column: int) -> Any:
        if row_side in ("top", "bottom"):
            return GRID[row if row_side == "top" else 1 - row][column if column_side == "left" else 2 - column]
        return GRID[column if column_side == "top" else 1 - column][row if row_side == "left" else 2 - row]

    rows, columns = (2, 3) if orientation < 5 else (3, 2)
    return grid([[seen(row, column) for column in range(columns)] for row in range(rows)])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_it_is_upright_however_the_camera_was_held(format: str, orientation: int) -> None:
    made = remade(encode(stored(orientation), format, exif=exif(orientation)))
    assert alike(cells(made.content), GRID)
    assert (made.width, made.height) == (3 * CELL, 2 * CELL)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("orientation", [None, 0, 1, 9, 200, 65535])
def test_an_orientation_that_says_nothing_turns_nothing(format: str, orientation: int | None) -> None:
    assert alike(cells(remade(encode(grid(), format, exif=exif(orientation))).content), GRID)
    assert alike(cells(remade(encode(grid(), format)).content), GRID)


def test_orientation_is_found_behind_the_pixels_of_a_png_and_in_its_text() -> None:
    bare = encode(stored(6), PNG)
    notes = exif(6)
    *parts, end = chunks(bare)
    behind = rebuilt([*parts, (b"eXIf", notes[6:]), end])
    hexed = f"\nexif\n{len(notes):8}\n" + notes.hex()
    as_text = with_chunks(bare, (b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(hexed.encode())))
    for png in (behind, as_text):
        assert alike(cells(remade(png).content), GRID)


@pytest.mark.parametrize(
    "notes",
    [
        b"Exif\0\0",
        b"Exif\0\0garbage that is not TIFF",
        b"Exif\0\0Exif\0\0" + exif()[6:],  # python-pillow/Pillow#8348
        exif()[:40],
        b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\x12\x01\x03\0\xff\xff\xff\xff" * 20,
        b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x02\0\0\0\x02\0\0\0\0",  # orientation as text
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_broken_notes_of_a_camera_are_no_reason_to_refuse(format: str, notes: bytes) -> None:
    content = {
        JPEG: lambda: with_segments(encode(grid()), segment(0xE1, notes)),
        PNG: lambda: with_chunks(encode(grid(), PNG), (b"eXIf", notes[6:])),
        WEBP: lambda: encode(grid(), WEBP, exif=notes),
    }[format]()
    assert alike(cells(remade(content).content), GRID)


def test_nothing_a_phone_writes_beside_the_pixels_is_kept() -> None:
    thumbnail = encode(grid(cell=4))
    jpeg = with_segments(
        encode(grid(), exif=exif(1), comment=SECRET, xmp=SECRET, icc_profile=_srgb(), dpi=(300, 300)),
        segment(0xE1, b"http://ns.adobe.com/xmp/extension/\0" + SECRET),
        segment(0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x19" + SECRET + b"\0"),
        segment(0xE2, b"FPXR\0" + SECRET),
        segment(0xEB, b"JP\0\0" + SECRET),  # C2PA
        segment(0xE0, b"JFXX\0\x10" + thumbnail),
    )
    motion = jpeg + b"\0\0\0\x18ftypmp42" + SECRET
    assert motion.count(SECRET) > 6
    assert alike(cells(remade(motion).content), GRID)
    png = with_chunks(
        encode(grid(), PNG, exif=exif(1), icc_profile=_srgb(), dpi=(300, 300)),
        (b"tEXt", b"Comment\0" + SECRET),
        (b"zTXt", b"Author\0\0" + zlib.compress(SECRET)),
        (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + SECRET),
        (b"tIME", b"\x07\xea\x01\x01\x01\x01\x01"),
        (b"caBX", SECRET),
    )
    assert alike(cells(remade(png).content), GRID)
    webp = encode(grid(), WEBP, exif=exif(1), xmp=SECRET, icc_profile=_srgb())
    assert alike(cells(remade(webp).content), GRID)


def test_of_several_pictures_in_a_phones_jpeg_the_first_is_taken() -> None:
    file = io.BytesIO()
    grid().save(file, "MPO", save_all=True, append_images=[Image.new("RGB", (48, 32), "black")], quality=95)
    assert decode(file.getvalue()).format == "MPO"
    assert alike(cells(remade(file.getvalue()).content), GRID)
    broken = with_segments(encode(grid()), segment(0xE2, b"MPF\0II*\0\x08\0\0\0\xff\xffgarbage"))
    assert alike(cells(remade(broken).content), GRID)


@pytest.mark.parametrize("format", [PNG, WEBP])
def test_of_a_moving_picture_the_first_frame_is_taken(format: str) -> None:
    others = [Image.new("RGB", (48, 32), colour) for colour in ("black", "white")]
    content = encode(grid(), format, save_all=True, append_images=others)
    assert decode(content).n_frames == 3  # type: ignore[attr-defined]
    made = remade(content)
    assert alike(cells(made.content), GRID)
    assert getattr(decode(made.content), "n_frames", 1) == 1


def test_an_interlaced_png() -> None:
    assert cells(remade(interlaced(grid())).content) == [list(row) for row in GRID]


def test_a_progressive_jpeg() -> None:
    assert alike(cells(remade(encode(grid(), progressive=True)).content), GRID)


@pytest.mark.parametrize("adobe", [True, False])
def test_cmyk_is_not_inverted(adobe: bool) -> None:
    jpeg = encode(Image.new("CMYK", (32, 32), (0, 255, 255, 0)))
    if not adobe:  # browsers take those for inverted too
        start = jpeg.index(b"\xff\xee")
        jpeg = jpeg[:start] + jpeg[start + 16 :]
    assert (b"Adobe" in jpeg) is adobe
    made = decode(remade(jpeg).content)
    assert made.mode == "RGB"
    assert alike(made.getpixel((16, 16)), (255, 0, 0))


def test_sixteen_bits_become_eight_without_clipping() -> None:
    grey = Image.frombytes("I;16", (256, 1), b"".join((v * 257).to_bytes(2, "little") for v in range(256)))
    made = decode(remade(encode(grey, PNG)).content)
    assert [made.getpixel((x, 0)) for x in range(256)] == list(range(256))
    header = (b"IHDR", b"\0\0\0\x01\0\0\0\x01\x10\x02\0\0\0")
    colour = rebuilt([header, (b"IDAT", zlib.compress(b"\0\xff\xff\x80\0\0\x10")), (b"IEND", b"")])
    assert decode(remade(colour).content).getpixel((0, 0)) == (255, 128, 0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("format", [PNG, WEBP])
def test_every_way_to_store_colours(mode: str, format: str) -> None:
    given = Image.linear_gradient("L").resize((64, 64)).convert(mode)
    if "A" in mode:
        given.putalpha(99)
    made = decode(remade(encode(given, format, **({"lossless": True} if format == WEBP else {}))).content)
    assert ("A" in made.mode) is ("A" in mode)
    assert "A" not in mode or made.getchannel("A").getextrema() == (99, 99)
    expected, found = given.convert("L"), made.convert("L")
    assert all(alike(found.getpixel((x, y)), expected.getpixel((x, y))) for x in (3, 30) for y in range(0, 64, 9))


def test_transparency_of_a_png_is_kept_however_it_is_stored() -> None:
    palette = grid().quantize(6)
    clear = palette.getpixel((2, 2))
    for given, options in (
        (palette, {"transparency": clear}),
        (grid(), {"transparency": GRID[0][0]}),
        (grid().convert("L"), {"transparency": grid().convert("L").getpixel((2, 2))}),
    ):
        made = decode(remade(encode(given, PNG, **options)).content)
        assert made.mode in ("LA", "RGBA")
        assert made.getchannel("A").getpixel((2, 2)) == 0
        assert made.getchannel("A").getpixel((CELL + 2, 2)) == 255


def test_transparent_edges_do_not_bleed_when_it_is_made_smaller() -> None:
    given = Image.new("RGBA", (400, 400), (0, 255, 0, 0))
    given.paste((255, 0, 0, 255), (0, 0, 200, 400))
    made = decode(remade(encode(given, PNG), longest=100).content)
    assert made.getpixel((10, 50)) == (255, 0, 0, 255)
    assert all(made.getpixel((x, 50))[1] < 30 for x in range(100) if made.getpixel((x, 50))[3] > 20)  # type: ignore[index]


@pytest.mark.parametrize("format", FORMATS)
def test_colours_of_a_phones_profile_become_srgb(format: str) -> None:
    given = (200, 100, 50)
    content = encode(Image.new("RGB", (32, 32), given), format, icc_profile=display_p3())
    found = decode(remade(content).content).convert("RGB").getpixel((16, 16))
    assert alike(found, _from_p3(given), 6)
    assert not alike(found, given, 6), "the profile was ignored"


def _from_p3(colour: tuple[int, int, int]) -> tuple[int, ...]:
    """By the book: linear light, through XYZ, to sRGB."""
    linear = [(value / 255) ** (round(2.2 * 256) / 256) for value in colour]
    xyz = [sum(light * primary[axis] for light, primary in zip(linear, P3, strict=True)) for axis in range(3)]
    to_srgb = (
        (3.1338561, -1.6168667, -0.4906146),
        (-0.9787684, 1.9161415, 0.0334540),
        (0.0719453, -0.2289914, 1.4052427),
    )
    light = [min(1, max(0, sum(m * v for m, v in zip(row, xyz, strict=True)))) for row in to_srgb]
    return tuple(round(255 * (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055)) for v in light)


def test_a_profile_does_not_cost_transparency() -> None:
    given = Image.new("RGBA", (16, 16), (200, 100, 50, 77))
    made = decode(remade(encode(given, PNG, icc_profile=display_p3())).content).getpixel((8, 8))
    assert alike(made, (*_from_p3((200, 100, 50)), 77), 3)


@pytest.mark.parametrize("profile", [b"garbage", b"\0" * 128, display_p3()[:200], display_p3()[:150]])
def test_a_broken_profile_is_ignored(profile: bytes) -> None:
    for format in FORMATS:
        assert alike(cells(remade(encode(grid(), format, icc_profile=profile)).content), GRID)


def test_a_profile_for_other_colours_is_ignored() -> None:
    grey = encode(Image.new("L", (16, 16), 99), icc_profile=_srgb())
    assert alike(decode(remade(grey).content).getpixel((8, 8)), 99, 2)
    ink = encode(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), icc_profile=_srgb())
    assert alike(decode(remade(ink).content).getpixel((8, 8)), (255, 0, 0))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, 1), (1, 1)),
        ((2048, 10), (2048, 10)),
        ((2049, 10), (2048, 10)),
        ((3000, 1500), (2048, 1024)),
        ((10, 4000), (5, 2048)),
        ((1, 16000), (1, 2048)),
    ],
)
def test_it_is_made_smaller_and_never_larger(format: str, given: tuple[int, int], expected: tuple[int, int]) -> None:
    made = remade(encode(Image.new("RGB", given, (10, 200, 90)), format))
    assert (made.width, made.height) == expected
    assert alike(decode(made.content).convert("RGB").getpixel((0, 0)), (10, 200, 90))


@pytest.mark.parametrize("size", [(1, 40_000), (40_000, 1)])
@pytest.mark.parametrize("format", [JPEG, PNG])
def test_a_line_of_forty_thousand_pixels(format: str, size: tuple[int, int]) -> None:
    made = remade(encode(Image.new("RGB", size, "red"), format))
    assert sorted((made.width, made.height)) == [1, 2048]


def test_a_large_jpeg_decoded_at_half_its_size_shows_the_same() -> None:
    made = remade(encode(grid(cell=2500)), longest=96)
    assert (made.width, made.height) == (96, 64)
    assert alike(cells(made.content, 32), GRID)


@pytest.mark.slow
def test_what_would_grow_is_made_smaller_until_it_fits() -> None:
    noise = Image.effect_noise((2048, 2048), 128)
    grey = encode(noise.quantize(4), PNG)
    assert len(grey) < model.LARGEST
    colour = encode(Image.merge("RGB", [noise, noise.rotate(90), noise.rotate(180)]), PNG)
    made = remade(colour)
    assert 1000 < made.width == made.height < 2048
    for format in (JPEG, WEBP):  # the progressive encoder has to have room for noise
        assert remade(encode(decode(colour), format)).width == 2048
    remade(grey)


def _srgb() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
