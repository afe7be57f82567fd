"""The deployment package: Chalice's zip without files that Lambda never reads, and with bytecode compiled ahead.

The same sources give the same bytes, so that an unchanged app is not deployed again.
"""

import importlib.util
import marshal
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# botocore carries the models of some 400 services; the app calls these. A test compares them with the code.
SERVICES = {"dynamodb", "events", "s3", "sesv2", "sqs", "ssm"}

LARGEST = 25_000_000

_ROOT = Path(__file__).parent.parent

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_DATA = PurePosixPath("botocore/data")
# Scripts, build-time packages, the DNS library that email-validator needs only for checks turned off here, and what
# boto3 makes resources from (the app uses clients).
_UNUSED = ("bin/", "boto3/data/", "boto3/examples/", "cffi/", "dns/", "pycparser/")
# Of Pillow, what draws text, opens windows or decodes AVIF, a third of it: the decoders load none of these.
_UNUSED_OF_PILLOW = (
    *(f"PIL/{name}." for name in ("_avif", "_imagingft", "_imagingmorph", "_imagingtk")),
    *(f"pillow.libs/{name}" for name in ("libavif-", "libbrotli", "libfreetype-", "libharfbuzz-", "libpng16-")),
)
# Files that only a compiler or a type checker reads.
_SUFFIXES = (".pyc", ".pyi", ".h", ".c", ".pyx", ".pxd", "py.typed")


def pack(made_by_chalice: Path, destination: Path) -> None:
    """Write the final package; fail if it is larger than Lambda loads quickly.

    In a process of its own: bytecode refers to texts that Python shares within a process, so its bytes depend on what
    was compiled before."""
    command = [sys.executable, "-m", "deploy.archive", str(made_by_chalice.resolve()), str(destination.resolve())]
    run = subprocess.run(command, cwd=_ROOT, env=os.environ | {"PYTHONHASHSEED": "0"}, check=False)
    if run.returncode:
        raise SystemExit(run.returncode)


def _pack(made_by_chalice: Path, destination: Path) -> None:
    with zipfile.ZipFile(made_by_chalice) as source, zipfile.ZipFile(destination, "w") as target:
        for name, content in sorted(_contents(source)):
            _add(target, name, content)
    if destination.stat().st_size > LARGEST:
        raise SystemExit(f"{destination} is larger than {LARGEST} bytes: leave something out in deploy/archive.py")


def _contents(source: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    for name in sorted(set(source.namelist())):
        if name.endswith("/") or not _is_wanted(name):
            continue
        content = source.read(name)
        yield name, content
        if name.endswith(".py") and (compiled := _bytecode(name, content)):
            yield _cache_name(name), compiled


def _is_wanted(name: str) -> bool:
    if name.endswith(_SUFFIXES) or name.startswith(_UNUSED + _UNUSED_OF_PILLOW):
        return False
    path = PurePosixPath(name)
    if _DATA in path.parents and path.parent != _DATA:
        return path.relative_to(_DATA).parts[0] in SERVICES
    return True


def _cache_name(name: str) -> str:
    path = PurePosixPath(name)
    tag = f"{path.stem}.{_tag()}.pyc"
    return str(path.parent / "__pycache__" / tag)


def _tag() -> str:
    return PurePosixPath(importlib.util.cache_from_source("x.py")).name.split(".")[1]


def _bytecode(name: str, source: bytes) -> bytes | None:
    """Bytecode that Python uses without comparing dates, which a zip does not keep exactly (PEP 552)."""
    try:
        code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None  # some libraries ship files for other Python versions
    unchecked = (0b01).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + importlib.util.source_hash(source) + marshal.dumps(code)


def _add(target: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _FIXED_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    target.writestr(entry, content, compresslevel=9)


if __name__ == "__main__":
    _pack(Path(sys.argv[1]), Path(sys.argv[2]))
