"""Photos to choose: hills under a sky, no two alike, as large as a test wants them."""

import io
import random


def landscape(seed: int = 1, width: int = 1200, height: int = 900, kind: str = "JPEG") -> bytes:
    from PIL import Image, ImageDraw, ImageFilter

    chance = random.Random(seed)
    sky = [(244, 214, 178), (176, 206, 224), (214, 226, 205), (232, 190, 172), (188, 196, 226)][seed % 5]
    picture = Image.new("RGB", (width, height), sky)
    draw = ImageDraw.Draw(picture)
    sun = width * chance.uniform(0.2, 0.8)
    radius = height // 9
    draw.ellipse((sun - radius, height // 5 - radius, sun + radius, height // 5 + radius), fill=(255, 244, 214))
    for layer in range(4):
        shade = tuple(int(part * (0.78 - 0.17 * layer)) for part in (sky[0] * 0.8, sky[1] * 0.95, sky[2] * 0.85))
        level = height * (0.45 + 0.14 * layer)
        points = [(x, level + chance.uniform(-1, 1) * height * 0.09) for x in range(0, width + 1, width // 6)]
        draw.polygon([(0, height), *points, (width, points[-1][1]), (width, height)], fill=shade)
    picture = picture.filter(ImageFilter.GaussianBlur(max(1, width // 300)))
    content = io.BytesIO()
    picture.save(content, kind, quality=90)
    return content.getvalue()


def heavy(width: int = 3000, height: int = 2000) -> bytes:
    """More than the script sends as it is: noise, which no format makes small."""
    from PIL import Image

    noise = Image.frombytes("RGB", (width // 4, height // 4), random.Random(7).randbytes(width * height * 3 // 16))
    content = io.BytesIO()
    noise.resize((width, height)).save(content, "JPEG", quality=95)
    return content.getvalue()
