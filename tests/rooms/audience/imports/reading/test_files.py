"""What can be uploaded, and what is refused with which words."""

import struct
import zipfile
from io import BytesIO

import pytest

from chalicelib.audience.imports.reading import recogniser, zips
from chalicelib.kernel.errors import Invalid
from tests.rooms.audience.imports.reading.reading import read, zipped

LIST = "email,name\nann@example.org,Ann\n"


def refusal(opened, content, content_type="text/csv"):
    with pytest.raises(Invalid) as raised:
        opened(content, content_type)
    return raised.value.reason


@pytest.mark.parametrize("content", [b"", b"\n\n \r\n", b"\xef\xbb\xbf", b"\xff\xfe\n\x00", b" " * 200_000])
def test_an_empty_file_is_refused(opened, content):
    assert refusal(opened, content) == "The file is empty"


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\nann@example.org\n",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\x1f\x8b\x08" + bytes(range(256)),
        b"\xd0\xcf\x11\xe0" + bytes(512),
        bytes(range(256)) * 20,
        bytes(1000),
    ],
)
def test_what_is_not_text_is_refused(opened, content):
    assert refusal(opened, content) == "The file is not text: export the list as CSV"


def test_something_else_under_the_name_of_a_zip_is_refused(opened):
    assert refusal(opened, LIST, "application/zip") == "The zip cannot be read"


def test_a_zip_is_recognised_under_any_content_type(opened):
    upload = opened(zipped({"list.csv": LIST}), "text/csv")
    assert [row.file for row in read(upload)] == ["list.csv"]


@pytest.mark.parametrize("cut", [10, 40, -30])
def test_a_zip_that_was_cut_off_is_refused(opened, cut):
    assert refusal(opened, zipped({"list.csv": LIST * 50})[:cut], "application/zip") == "The zip cannot be read"


def test_a_zip_with_a_wrong_checksum_is_refused(opened):
    content = bytearray(zipped({"list.csv": LIST}))
    at = content.index(b"PK\x01\x02")
    content[at + 16] ^= 0xFF
    assert refusal(opened, bytes(content), "application/zip") == "The zip cannot be read"


def test_an_encrypted_zip_is_refused_with_that_reason(opened):
    content = bytearray(zipped({"list.csv": LIST}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refusal(opened, bytes(content), "application/zip")


def test_at_most_twenty_files(opened):
    assert len(opened.zip({f"{number}.csv": LIST for number in range(20)}).texts) == 20
    with pytest.raises(Invalid, match="more than 20 files"):
        opened.zip({f"{number}.csv": LIST for number in range(21)})


def test_a_zip_of_very_many_files_is_refused_before_they_are_listed(opened, monkeypatch):
    content = zipped({f"{number}.csv": "" for number in range(20_000)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "more than 20 files" in refusal(opened, content, "application/zip")


def test_a_bomb_is_refused_while_it_is_unpacked(opened):
    buffer = BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("list.csv", "w", force_zip64=True) as bomb,
    ):
        for _ in range(101):
            bomb.write(bytes(1024 * 1024).replace(b"\0", b"a"))
    assert len(buffer.getvalue()) < 1024 * 1024
    assert refusal(opened, buffer.getvalue(), "application/zip") == "The zip is larger than 100 MB unpacked"


def test_a_bomb_that_lies_about_its_size_is_refused(opened):
    content = bytearray(zipped({"list.csv": "a" * 1_000_000}))
    for at, offset in ((0, 22), (content.index(b"PK\x01\x02"), 24)):
        struct.pack_into("<I", content, at + offset, 10)
    assert refusal(opened, bytes(content), "application/zip") == "The zip cannot be read"


def test_the_limit_counts_all_files_together(opened, monkeypatch):
    monkeypatch.setattr(zips, "MOST_BYTES", 5000)
    opened.zip({"a.csv": "x" * 2400, "b.csv": "x" * 2400})
    with pytest.raises(Invalid, match="larger than 100 MB"):
        opened.zip({"a.csv": "x" * 2600, "b.csv": "x" * 2600})


def test_compression_that_chooses_its_own_memory_is_refused(opened):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("list.csv", LIST)
    assert refusal(opened, buffer.getvalue(), "application/zip") == "The zip cannot be read"


def test_directories_and_what_macos_adds_are_not_files(opened):
    noise = {f"__MACOSX/._{number}.csv": b"\0\5\x16\7" for number in range(30)}
    upload = opened.zip({"export/": "", "export/list.csv": LIST, "export/.DS_Store": bytes(50), **noise})
    assert [text.name for text in upload.texts] == ["list.csv"]
    assert upload.ignored == ()


def test_a_zip_in_a_zip_is_not_opened(opened):
    inner = zipped({"list.csv": LIST})
    with pytest.raises(Invalid, match="contains another zip"):
        opened.zip({"inner.zip": inner})
    upload = opened.zip({"inner.zip": inner, "list.csv": LIST})
    assert upload.ignored == ("inner.zip",)


def test_a_spreadsheet_is_refused_with_what_to_do(opened):
    with pytest.raises(Invalid, match="save it as CSV"):
        opened.zip({"[Content_Types].xml": "<a/>", "xl/workbook.xml": "<a/>"})


def test_a_zip_without_a_list_is_refused(opened):
    with pytest.raises(Invalid, match="no CSV file"):
        opened.zip({"photo.jpg": b"\xff\xd8\xff"})
    with pytest.raises(Invalid, match="no CSV file with something in it"):
        opened.zip({"list.csv": "\n\n"})


def test_names_in_a_zip_are_never_paths(opened, tmp_path):
    upload = opened.zip(
        {"../../../etc/list.csv": LIST, "/root/other.csv": LIST, "a\\b\\third.csv": LIST, "x/list.csv": LIST}
    )
    names = [text.name for text in upload.texts]
    assert names == ["../../../etc/list.csv", "other.csv", "third.csv", "x/list.csv"]
    assert len(read(upload)) == 4
    assert len(list(tmp_path.iterdir())) == 1


def test_names_that_cannot_be_told_apart_are_numbered(opened):
    long = "x" * 200
    upload = opened.zip({f"a{long}.csv": LIST, f"b{long}.csv": LIST})
    first, second = (text.name for text in upload.texts)
    assert first.endswith(" (1)")
    assert second.endswith(" (2)")
    assert [row.file for row in read(upload)] == [first, second]


def test_of_substacks_whole_export_only_the_list_is_read(opened):
    """It has a list of who got each post, in which people stand who have left since."""
    posts = {f"posts/{number}.delivers.csv": "post_id,email\n1,left@example.org\n" for number in range(40)}
    list_ = (
        "email,active_subscription,expiry,plan,email_disabled,created_at,first_payment_at\nann@example.org,,,,,,\n"
    )
    upload = opened.zip({**posts, "email_list.birds.csv": list_, "posts.csv": "post_id\n1\n"})
    assert [row.typed for row in read(upload)] == ["ann@example.org"]


def test_a_text_without_addresses_beside_a_list_is_left_out_and_named(opened):
    upload = opened.zip({"list.csv": LIST, "readme.txt": "Thank you for using us, dear customer.\nBye\n"})
    reading = recogniser.recognise(upload)
    assert reading.ignored == ("readme.txt",)
    assert [sheet.file for sheet in reading.sheets] == ["list.csv"]


def test_broken_compressed_data_is_refused(opened):
    content = bytearray(zipped({"list.csv": LIST * 1000}))
    content[60:80] = b"\xff" * 20
    assert refusal(opened, bytes(content), "application/zip") == "The zip cannot be read"
