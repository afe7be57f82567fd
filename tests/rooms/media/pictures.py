"""Pictures to upload: what cameras and phones write, what programs get wrong, and what somebody makes on purpose."""

import io
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from PIL import Image

JPEG, PNG, WEBP = "JPEG", "PNG", "WEBP"
FORMATS = (JPEG, PNG, WEBP)
MIME = {JPEG: "image/jpeg", PNG: "image/png", WEBP: "image/webp"}
CELL = 16
# Three by two, no two alike, so that every way to turn it is another picture.
GRID = (
    ((250, 20, 20), (20, 250, 20), (20, 20, 250)),
    ((250, 250, 20), (20, 20, 20), (250, 250, 250)),
)
SECRET = b"N 52 30 59.9 E 13 22 39.2"


def grid(cells: Any = GRID, cell: int = CELL) -> Image.Image:
    image = Image.new("RGB", (len(cells[0]) * cell, len(cells) * cell))
    for row, colours in enumerate(cells):
        for column, colour in enumerate(colours):
            image.paste(colour, (column * cell, row * cell, (column + 1) * cell, (row + 1) * cell))
    return image


def encode(image: Image.Image, format: str = JPEG, **options: Any) -> bytes:
    file = io.BytesIO()
    if format in (JPEG, WEBP):
        options = {"quality": 95} | options
    image.save(file, format, **options)
    return file.getvalue()


def decode(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def cells(content: bytes, cell: int = CELL) -> list[list[tuple[int, ...]]]:
    """The colours in the middle of each cell."""
    image = decode(content).convert("RGB")
    return [
        [image.getpixel((column * cell + cell // 2, row * cell + cell // 2)) for column in range(image.width // cell)]
        for row in range(image.height // cell)
    ]


def alike(one: Any, other: Any, tolerance: int = 12) -> bool:
    """Whether two colours, or lists of them, differ by no more than compressing does."""
    if isinstance(one, int):
        return abs(one - other) <= tolerance
    return len(one) == len(other) and all(alike(a, b, tolerance) for a, b in zip(one, other, strict=True))


def exif(orientation: int | None = None, gps: bool = True) -> bytes:
    notes = Image.Exif()
    notes[0x010F] = "Camera of Ann"
    if orientation is not None:
        notes[0x0112] = orientation
    if gps:
        notes.get_ifd(0x8825).update({1: "N", 2: (52.0, 30.0, 59.9), 3: "E", 4: (13.0, 22.0, 39.2)})
        notes[0x010E] = SECRET.decode()
    return notes.tobytes()


def segment(marker: int, payload: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def with_segments(jpeg: bytes, *segments: bytes) -> bytes:
    """Directly after the start."""
    return jpeg[:2] + b"".join(segments) + jpeg[2:]


def markers(jpeg: bytes) -> list[int]:
    """Every segment of a JPEG up to its last, and nothing behind that."""
    found, place = [], 2
    assert jpeg[:2] == b"\xff\xd8"
    while True:
        assert jpeg[place] == 0xFF
        marker = jpeg[place + 1]
        found.append(marker)
        if marker == 0xD9:
            assert place + 2 == len(jpeg), "something behind the end"
            return found
        place += 2 + struct.unpack(">H", jpeg[place + 2 : place + 4])[0]
        if marker == 0xDA:
            while jpeg[place] != 0xFF or jpeg[place + 1] in (0, *range(0xD0, 0xD8)):
                place += 1


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def chunks(png: bytes) -> list[tuple[bytes, bytes]]:
    """Every chunk of a PNG up to its last, and nothing behind that."""
    found, place = [], 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        found.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + length]))
        place += 12 + length
    assert found[-1][0] == b"IEND"
    return found


def rebuilt(parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)


def with_chunks(png: bytes, *more: tuple[bytes, bytes]) -> bytes:
    """Directly behind the header."""
    first, *others = chunks(png)
    return rebuilt([first, *more, *others])


def riff(webp: bytes) -> list[bytes]:
    """The kinds of chunks of a WebP, and nothing behind the last."""
    assert struct.unpack("<I", webp[4:8])[0] + 8 == len(webp)
    found, place = [], 12
    while place < len(webp):
        (length,) = struct.unpack("<I", webp[place + 4 : place + 8])
        found.append(webp[place : place + 4])
        place += 8 + length + length % 2
    return found


def assert_bare(content: bytes, format: str) -> None:
    """Pixels, and what is needed to decode them."""
    assert SECRET not in content
    match format:
        case "image/jpeg":
            # JFIF's header, quantization, Huffman tables, frame, scans, end.
            assert set(markers(content)) <= {0xE0, 0xDB, 0xC4, 0xC0, 0xC2, 0xDA, 0xD9}
        case "image/png":
            assert {kind for kind, _ in chunks(content)} <= {b"IHDR", b"IDAT", b"IEND"}
        case "image/webp":
            assert set(riff(content)) <= {b"VP8 ", b"VP8L", b"VP8X", b"ALPH"}
    image = decode(content)
    assert not image.getexif()
    assert not {"exif", "icc_profile", "xmp", "comment", "dpi"} & set(image.info)


def claiming(format: str, width: int, height: int) -> bytes:
    """A small file whose header says that it is large."""
    if format == PNG:
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        return rebuilt([(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")])
    if format == JPEG:
        jpeg = encode(grid())
        place = jpeg.index(b"\xff\xc0") + 5
        return jpeg[:place] + struct.pack(">HH", height, width) + jpeg[place + 4 :]
    frame = encode(grid(), WEBP)[12:]
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sides + frame
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def interlaced(image: Image.Image) -> bytes:
    """Adam7, which Pillow reads and does not write."""
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    rows = b""
    for left, top, across, down in passes:
        for y in range(top, image.height, down):
            row = b"".join(bytes(image.getpixel((x, y))) for x in range(left, image.width, across))  # type: ignore[arg-type]
            rows += b"\0" + row if row else b""
    header = struct.pack(">IIBBBBB", *image.size, 8, 2, 0, 0, 1)
    return rebuilt([(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")])


def display_p3() -> bytes:
    """An ICC profile with the primaries of the screens that phones have, and a plain gamma of 2.2."""

    def xyz(x: float, y: float, z: float) -> bytes:
        return b"XYZ \0\0\0\0" + struct.pack(">iii", *(round(value * 65536) for value in (x, y, z)))

    gamma = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(2.2 * 256)) + b"\0\0"
    tags = {
        b"wtpt": xyz(0.9642, 1.0, 0.8249),
        b"rXYZ": xyz(*P3[0]),
        b"gXYZ": xyz(*P3[1]),
        b"bXYZ": xyz(*P3[2]),
        b"rTRC": gamma,
        b"gTRC": gamma,
        b"bTRC": gamma,
    }
    place, table, data = 132 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, value in tags.items():
        table += name + struct.pack(">II", place + len(data), len(value))
        data += value
    illuminant = struct.pack(">iii", 63190, 65536, 54061)
    head = struct.pack(">I4sI4s4s4s", place + len(data), b"lcms", 0x02400000, b"mntr", b"RGB ", b"XYZ ")
    head += b"\0" * 12 + b"acsp" + b"\0" * 28 + illuminant + b"\0" * 48
    assert len(head) == 128
    return head + table + data


# Adapted to D50, as profiles have them.
P3 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))
