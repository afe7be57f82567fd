"""The zip that is uploaded: everything the functions need, compiled, and little else."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deploy import archive
from tests.rooms.media.pictures import FORMATS, display_p3, encode, exif, grid

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def names(packaged):
    with zipfile.ZipFile(packaged.archive) as opened:
        return set(opened.namelist())


@pytest.fixture(scope="module")
def unpacked(packaged, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(packaged.archive) as opened:
        opened.extractall(folder)
    return folder


def test_the_package_is_small(packaged):
    assert packaged.archive.stat().st_size <= archive.LARGEST <= 25_000_000


def test_every_template_is_inside(names):
    templates = {f"templates/{file.relative_to(ROOT / 'templates')}" for file in (ROOT / "templates").rglob("*.*")}
    catalogues = {name for name in templates if name.endswith(".po")}
    assert templates - catalogues <= names
    assert {name.replace(".po", ".mo") for name in catalogues} <= names
    assert not catalogues & names  # compiled, and nothing else


def test_the_package_speaks_every_language(unpacked):
    said = "*languages.names().values(), languages.catalogue('de').gettext('Subscribe')"
    asked = f"from chalicelib.kernel import languages; print({said})"
    run = subprocess.run([sys.executable, "-c", asked], cwd=unpacked, capture_output=True, text=True, check=True)
    assert run.stdout == "English Deutsch Español Français Italiano Nederlands Português Abonnieren\n"


def test_all_our_code_is_inside_and_nothing_else(names):
    ours = {file.relative_to(ROOT).as_posix() for file in (ROOT / "chalicelib").rglob("*.py")}
    assert ours | {"app.py", "chalice/app.py"} <= names
    assert not {name for name in names if name.startswith(("local/", "tests/", "deploy/", "bench/", ".chalice/"))}


def test_every_module_comes_compiled(names):
    sources = {
        name for name in names if re.match(r"(app|chalicelib|chalice|boto3|botocore|pynamodb|jinja2).*\.py\Z", name)
    }
    assert {archive._cache_name(name) for name in sources} <= names


def test_no_development_dependency_is_inside(names):
    pinned = (ROOT / "requirements-dev.txt").read_text()
    development = {name.lower().replace("-", "_") for name in re.findall(r"^([\w-]+)==", pinned, re.MULTILINE)}
    assert not {name.split("/")[0].lower() for name in names} & (development - {"chalice"})
    assert not {name for name in names if name.startswith(("chalice/cli", "chalice/deploy", "bin/"))}


def test_only_the_services_that_are_called_have_their_models_inside(names):
    inside = {name.split("/")[2] for name in names if re.match(r"botocore/data/[^/]+/", name)}
    assert inside == archive.SERVICES


def test_the_services_the_code_calls_are_those():
    code = "\n".join(file.read_text() for file in (ROOT / "chalicelib").rglob("*.py"))
    called = set(re.findall(r"\bsession\.(?:call|client)\(\s*\"(\w+)\"", code))
    assert {"s3", "sesv2", "ssm", "events"} <= called, "the search has to find what is there"
    assert called <= archive.SERVICES


def test_bytecode_is_used_whatever_the_date_of_the_source(unpacked):
    (unpacked / "chalicelib" / "kernel" / "version.py").write_text("VERSION = 'read from the source'\n")
    assert "read from" not in _run(unpacked, "from chalicelib.kernel.version import VERSION; print(VERSION)")


def test_every_module_imports_with_nothing_but_the_package(unpacked):
    modules = sorted(
        ".".join(file.relative_to(unpacked).with_suffix("").parts)
        for file in (unpacked / "chalicelib").rglob("*.py")
        if file.name != "__init__.py"
    )
    libraries = ["boto3", "css_inline", "email_validator", "feedparser", "jinja2", "jwt", "msgspec", "nh3"]
    _run(unpacked, f"import importlib\nfor name in {['app', *modules, *libraries]}: importlib.import_module(name)")


def test_pyjwt_finds_the_cryptography_it_needs(unpacked):
    """PyJWT imports without it too, and would then refuse every token."""
    assert _run(unpacked, "from jwt.algorithms import has_crypto; print(has_crypto)").strip() == "True"


def test_photos_of_every_type_are_made_anew_by_what_is_left_of_pillow(unpacked, tmp_path):
    for format in FORMATS:
        (tmp_path / format).write_bytes(encode(grid(), format, exif=exif(6), icc_profile=display_p3()))
    program = f"""
from pathlib import Path
from chalicelib.media import images
for file in Path({str(tmp_path)!r}).iterdir():
    print(images.remake(file.read_bytes()).format)
"""
    assert sorted(_run(unpacked, program).split()) == ["image/jpeg", "image/png", "image/webp"]


def test_public_copies_of_every_type_can_be_made(unpacked, tmp_path):
    for format in (*FORMATS, "GIF"):
        (tmp_path / format).write_bytes(encode(grid(cell=100), format))
    program = f"""
from pathlib import Path
from chalicelib.media import images, public_images
for file in Path({str(tmp_path)!r}).iterdir():
    print(file.name, public_images.make(file.read_bytes(), images.Box(640, 640)).format)
"""
    made = dict(line.split() for line in _run(unpacked, program).splitlines())
    assert made == {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/jpeg", "GIF": "image/png"}


def test_every_service_client_can_be_made(unpacked):
    program = "from chalicelib.kernel.aws import session\nfor name in {}: session.client(name)"
    _run(unpacked, program.format(sorted(archive.SERVICES)))


def test_boto3_makes_clients_from_the_package(unpacked):
    program = "import boto3\nfor name in {}: boto3.client(name, region_name='eu-west-1')"
    _run(unpacked, program.format(sorted(archive.SERVICES)))


def test_the_same_sources_give_the_same_bytes(packaged, tmp_path):
    archive.pack(packaged.folder / "chalice" / "deployment.zip", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packaged.archive.read_bytes()


def _run(folder: Path, program: str) -> str:
    """As in Lambda: no site packages, and the package first on the path."""
    environment = {
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_LAMBDA_FUNCTION_NAME": "gna-test",
    }
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
