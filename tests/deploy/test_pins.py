"""`make pins`: which files of a package are written down, and what becomes of the hashes that stood there."""

import pytest

from deploy import pins

ONE, TWO, THREE = ("1" * 64, "2" * 64, "3" * 64)


class Offered:
    """An index with these files of every package."""

    def __init__(self, *digests):
        self._digests = digests

    def files(self, name, version):
        return {f"{name}-{version}-{number}": digest for number, digest in enumerate(self._digests)}


@pytest.mark.parametrize(
    "file",
    [
        "some_thing-1.0.tar.gz",
        "some_thing-1.0-py3-none-any.whl",
        "some_thing-1.0-py2.py3-none-any.whl",
        "some_thing-1.0-py3-none-macosx_11_0_universal2.whl",
        "some_thing-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        "some_thing-1.0-cp313-cp313-manylinux_2_28_aarch64.whl",
        "some_thing-1.0-cp312-cp312-macosx_11_0_arm64.whl",
        "some_thing-1.0-cp38-abi3-manylinux_2_17_aarch64.whl",
    ],
)
def test_the_source_and_what_our_machines_install_is_wanted(file):
    assert pins.is_wanted(file, "Some.Thing", "1.0")


@pytest.mark.parametrize(
    "file",
    [
        "some_thing-1.1.tar.gz",
        "other_thing-1.0.tar.gz",
        "some_thing-1.0.exe",
        "some_thing-rc1.tar.gz",
        "some_thing-1.0-py2-none-any.whl",
        "some_thing-1.0-cp310-cp310-manylinux_2_17_x86_64.whl",
        "some_thing-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl",
        "some_thing-1.0-cp314-abi3-manylinux_2_17_x86_64.whl",
        "some_thing-1.0-cp311-cp311-win_amd64.whl",
        "some_thing-1.0-cp311-cp311-musllinux_1_2_x86_64.whl",
        "some_thing-1.0-cp311-cp311-manylinux_2_17_s390x.whl",
    ],
)
def test_nothing_else_is(file):
    assert not pins.is_wanted(file, "Some.Thing", "1.0")


def test_hashes_stand_below_their_requirement_and_the_rest_stays():
    written = pins.write("# why\n-r other.txt\nthing==1.0\n", Offered(TWO, ONE))
    assert written == (f"# why\n-r other.txt\nthing==1.0 \\\n    --hash=sha256:{ONE} \\\n    --hash=sha256:{TWO}\n")
    assert pins.write(written, Offered(TWO, ONE)) == written


def test_an_index_that_offers_less_takes_nothing_away():
    written = pins.write("thing==1.0\n", Offered(ONE, TWO))
    assert pins.write(written, Offered(TWO)) == written
    assert THREE in pins.write(written, Offered(TWO, THREE))


def test_a_new_version_loses_the_hashes_of_the_old():
    written = pins.write("thing==1.0\n", Offered(ONE, TWO)).replace("1.0", "2.0")
    assert pins.write(written, Offered(THREE)) == f"thing==2.0 \\\n    --hash=sha256:{THREE}\n"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """What pip would be configured with: two indexes, laid out as folders."""
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "main").as_uri())
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", (tmp_path / "more").as_uri())

    def offer(where, **digests):
        page = tmp_path / where / "some-thing" / "index.html"
        page.parent.mkdir(parents=True)
        links = (f'<a href="../some_thing-1.0{end}#sha256={digest}">x</a>' for end, digest in digests.items())
        page.write_text("".join(links))

    return offer


def test_the_files_come_from_every_index_that_pip_is_configured_with(index):
    index("main", **{".tar.gz": ONE})
    index("more", **{".tar.gz": ONE, "-py3-none-any.whl": TWO})
    assert pins.Index().files("Some.Thing", "1.0") == {
        "some_thing-1.0.tar.gz": ONE,
        "some_thing-1.0-py3-none-any.whl": TWO,
    }


def test_indexes_that_disagree_on_a_file_are_not_believed(index):
    index("main", **{".tar.gz": ONE})
    index("more", **{".tar.gz": TWO})
    with pytest.raises(pins.Unusable, match="disagree on some_thing-1"):
        pins.Index().files("Some.Thing", "1.0")


def test_a_package_that_no_index_has_is_said(index):
    index("main")
    with pytest.raises(pins.Unusable, match=r"no file of Some\.Thing 1\.0"):
        pins.Index().files("Some.Thing", "1.0")
