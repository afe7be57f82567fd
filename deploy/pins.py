"""`make pins`: writes the hashes of its files below every pinned requirement, from the index pip is configured with.

`pip install --require-hashes` then accepts no other file on any machine. Run it after changing a version. If your
index offers only some of the files, run it with another index too: hashes of the same version are kept.
"""

import re
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

# Only what comes with pip, because this has to run before anything is installed.
from pip._internal.commands import create_command
from pip._vendor.packaging.tags import Tag
from pip._vendor.packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from pip._vendor.packaging.version import Version

FILES = (
    Path("requirements.txt"),
    Path("local/requirements.txt"),
    Path("requirements-dev.txt"),
    Path("local/emulator-requirements.txt"),
    Path("deploy/audit-requirements.txt"),
)
_PIN = re.compile(r"([\w.-]+)==(\S+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")

# The platforms Gna is developed and run on. Playwright has no Chromium for musl, so musl wheels are left out.
_PYTHONS = ("cp311", "cp312", "cp313")
_PLATFORM = re.compile(r"any|(many)?linux\w*_(x86_64|aarch64)|macosx_\w+")

Files = dict[str, str]  # the files of one version: sha256 by file name


class Unusable(Exception):
    """The index has no usable hashes for a requirement."""


class Index:
    """The indexes that pip is configured with, wherever that configuration comes from."""

    def __init__(self) -> None:
        options, _ = create_command("download").parse_args([])
        self._urls: list[str] = [options.index_url, *options.extra_index_urls]
        self._ssl = ssl.create_default_context(cafile=options.cert)

    def files(self, name: str, version: str) -> Files:
        """The files for the project's platforms; several indexes have to agree on each."""
        found: Files = {}
        for url in self._urls:
            for file, digest in _links(self._page(f"{url.rstrip('/')}/{canonicalize_name(name)}/")):
                if not is_wanted(file, name, version):
                    continue
                if found.setdefault(file, digest) != digest:
                    raise Unusable(f"the indexes disagree on {file}")
        if not found:
            raise Unusable(f"the index offers no file of {name} {version} with its sha256")
        return found

    def _page(self, url: str) -> str:
        """The list of a project's files (PEP 503); empty if the index does not have the project."""
        if url.startswith("file:"):
            url += "index.html"
        request = urllib.request.Request(url, headers={"Accept": "text/html"})  # noqa: S310, pip trusts it too
        try:
            with urllib.request.urlopen(request, timeout=60, context=self._ssl) as answer:  # noqa: S310
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return ""
            raise
        except urllib.error.URLError as error:
            if isinstance(error.reason, FileNotFoundError) or "No such file" in str(error.reason):
                return ""
            raise


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (target := dict(attrs).get("href")):
            self.found.append(target)


def _links(page: str) -> Iterator[tuple[str, str]]:
    """Name and sha256 of every file on a page that gives a sha256."""
    parser = _Links()
    parser.feed(page)
    for link in parser.found:
        url, fragment = urldefrag(link)
        algorithm, _, digest = fragment.partition("=")
        if algorithm == "sha256":
            yield unquote(urlsplit(url).path.rsplit("/", 1)[-1]), digest


def is_wanted(file: str, name: str, version: str) -> bool:
    """Whether a file is the source, or a wheel for one of our Python versions and platforms."""
    tags: Iterable[Tag] = ()
    try:
        if file.endswith(".whl"):
            named, versioned, _, tags = parse_wheel_filename(file)
        else:
            named, versioned = parse_sdist_filename(file)
    except ValueError:
        return False  # installers, eggs, and old version numbers that are not valid
    if (named, versioned) != (canonicalize_name(name), Version(version)):
        return False
    return not file.endswith(".whl") or any(_fits(tag) for tag in tags)


def _fits(tag: Tag) -> bool:
    if not _PLATFORM.fullmatch(tag.platform):
        return False
    if tag.abi == "none":
        return tag.interpreter in ("py3", *_PYTHONS)
    if tag.abi == "abi3":
        return tag.interpreter.startswith("cp3") and int(tag.interpreter[3:]) <= int(_PYTHONS[-1][3:])
    return tag.abi in _PYTHONS and tag.interpreter == tag.abi


def write(text: str, index: Index) -> str:
    """A requirements file with its hashes; comments, order and references to other files stay."""
    lines: list[str] = []
    for line, old in _entries(text):
        pin = _PIN.fullmatch(line)
        hashes = _merged(old, set(index.files(*pin.groups()).values())) if pin else []
        lines.append(" \\\n".join([line, *(f"    --hash=sha256:{digest}" for digest in hashes)]))
    return "\n".join(lines) + "\n"


def _entries(text: str) -> Iterator[tuple[str, set[str]]]:
    """Every line that is not the continuation of another, with the hashes that follow it."""
    for line in text.replace("\\\n", " ").splitlines():
        yield _HASH.sub("", line).rstrip(), set(_HASH.findall(line))


def _merged(old: set[str], new: set[str]) -> list[str]:
    """Keep the old hashes if they are of the same version, that is, if old and new have one in common."""
    return sorted(old | new if old & new else new)


def main() -> int:
    index = Index()
    try:
        written = {file: write(file.read_text(), index) for file in FILES}
    except Unusable as problem:
        print(f"gna: {problem}", file=sys.stderr)
        return 1
    for file, text in written.items():
        if text != file.read_text():  # make installs a file again when it changes
            file.write_text(text)
        print(f"{file}: {len(_HASH.findall(text))} hashes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
