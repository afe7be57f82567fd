"""How much memory a worker takes for one picture that an editor uploaded, beyond what it takes while it waits for the
next: each is prepared in a process of its own, from the file in the bucket to the public copy. The largest ones there
may be have to fit into the 512 MB of the function."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.table import Row, at_most

_TWELVE, _SIXTEEN, _FORTY = (4000, 3000), (4600, 3450), (8000, 5000)
_MEMORY = 512


def rows() -> list[Row]:
    found = {name: _prepare(*how) for name, how in _PICTURES.items()}
    usual = [
        at_most(f"picture of 12 megapixels, {name}: memory above the base", one["above"], 256, " MB", _taken(one))
        for name, one in found.items()
        if name in _USUAL
    ]
    largest = {name: one for name, one in found.items() if name not in _USUAL}
    return usual + [
        at_most(f"largest picture, {name}: memory of the worker", one["total"], _MEMORY, " MB", _taken(one))
        for name, one in largest.items()
    ]


_USUAL = ("JPEG", "progressive JPEG", "PNG", "transparent PNG", "WebP")
_PICTURES: dict[str, tuple[tuple[int, int], str, dict[str, Any]]] = {
    "JPEG": (_TWELVE, "JPEG", {"quality": 80}),
    "progressive JPEG": (_TWELVE, "JPEG", {"quality": 80, "progressive": True, "subsampling": 0}),
    "PNG": (_TWELVE, "PNG", {"compress_level": 3}),
    "transparent PNG": (_TWELVE, "PNG", {"compress_level": 3, "alpha": True}),
    "WebP": (_TWELVE, "WEBP", {"quality": 60, "method": 0}),
    "progressive JPEG of 40 megapixels": (_FORTY, "JPEG", {"quality": 60, "progressive": True, "subsampling": 0}),
    "transparent PNG of 40 megapixels": (_FORTY, "PNG", {"compress_level": 6, "alpha": True}),
    "WebP of 16 megapixels": (_SIXTEEN, "WEBP", {"quality": 60, "method": 0}),
}


def _prepare(size: tuple[int, int], format: str, options: dict[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture"
        path.write_bytes(_draw(size, format, **options))
        command = [sys.executable, "-m", "bench.media", str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return measured


def _draw(size: tuple[int, int], format: str, alpha: bool = False, **options: Any) -> bytes:
    """Smooth, with some grain, so that it is not larger than a file may be."""
    from io import BytesIO

    from PIL import Image

    shade = Image.radial_gradient("L").resize((size[0] // 4, size[1] // 4)).effect_spread(2).resize(size)
    image = Image.merge("RGB", (shade, shade.point(lambda value: value // 2), shade))
    if alpha:
        image.putalpha(shade)
    if format == "PNG" and not alpha:
        image = image.quantize(64).convert("RGB")
    file = BytesIO()
    image.save(file, format, **options)
    assert file.tell() <= 5_242_880, f"{format} {size} has {file.tell():,} bytes"
    return file.getvalue()


def _taken(one: dict[str, float]) -> str:
    return f"{one['base']:.0f} MB before, {one['seconds']:.2g} s"


def _measure(path: str) -> dict[str, float]:
    from chalicelib.kernel import settings
    from chalicelib.kernel.aws import objects, session, tables
    from chalicelib.media import jobs, library, model, places, service
    from chalicelib.media.model import State

    region = {"LocationConstraint": session.client("s3").meta.region_name}
    session.client("s3").create_bucket(Bucket=settings.current().media_bucket, CreateBucketConfiguration=region)
    library.receive(_draw((300, 200), "JPEG"))  # everything is imported, as in a worker that has run before
    upload = library.announce("image/jpeg", model.LARGEST)
    objects.put(places.incoming(upload.id), Path(path).read_bytes(), "image/jpeg")
    tables.transact(service.attach_write(service.check_attachable(model.DESK, upload.id)))
    base, begun = _peak(), time.perf_counter()
    jobs.prepare(upload.id)
    taken = {"base": base, "above": _peak() - base, "total": _peak(), "seconds": time.perf_counter() - begun}
    assert library.find(upload.id).state is State.READY
    return taken


def _peak() -> float:
    """In megabytes. What `getrusage` tells begins with the memory of the process that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def _main(path: str) -> None:
    from moto import mock_aws

    from tests.conftest import create_resources, enter

    with mock_aws():
        enter("bench")
        create_resources()
        print(json.dumps(_measure(path)))


if __name__ == "__main__":
    _main(sys.argv[1])
