"""Forms that may have files, and cookies as a request shows them."""

import pytest

from chalicelib.kernel.errors import Invalid
from chalicelib.web.multipart import read, read_form
from chalicelib.web.request import Request

TYPE = "multipart/form-data; boundary=x"


def part(disposition, value, *headers):
    head = "\r\n".join([f"Content-Disposition: form-data; {disposition}", *headers])
    return b"--x\r\n" + head.encode() + b"\r\n\r\n" + value + b"\r\n"


def form(*parts):
    return b"".join(parts) + b"--x--\r\n"


def request(body=b"", **headers):
    return Request("POST", {}, {}, headers, body, "", "", {})


def test_fields_and_files_are_told_apart():
    sent = read_form(
        TYPE,
        form(
            part('name="animal_name"', "Écureuil".encode()),
            part('name="photo"; filename="a.jpg"', b"\xff\xd8\xff\x00", "Content-Type: image/jpeg"),
        ),
        50,
    )
    assert sent.fields == {"animal_name": "Écureuil"}
    assert sent.files == {"photo": b"\xff\xd8\xff\x00"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\r\n",
        b"\r\n\r\n",
        b"-x",
        b"a--x--",
        b"\n--x",
        b"\r\n--",
        b"\r\n--y--\r\n",
        bytes(range(256)) * 20,
        b"\r\n-- x",
    ],
)
def test_a_file_arrives_byte_for_byte(content):
    sent = read_form(TYPE, form(part('name="photo"; filename="a"', content), part('name="a"', b"1")), 50)
    assert sent.files == {"photo": content}
    assert sent.fields == {"a": "1"}


@pytest.mark.parametrize(
    "disposition",
    [
        'name="photo"; filename=""',
        'name="photo"; filename="a;b=\\"c.png"',
        'name="photo"; filename="фото.png"',
        'name="photo"; filename=a.png',
        'name="photo"; filename="x.png"; filename*=UTF-8\'\'%D1%84.png',
        'name=photo; filename="a.png"',
        'NAME="photo"; FILENAME="a.png"',
    ],
)
def test_a_file_is_one_however_it_is_named(disposition):
    assert read_form(TYPE, form(part(disposition, b"\x89PNG")), 50).files == {"photo": b"\x89PNG"}


def test_a_field_must_be_utf_8_and_a_file_need_not():
    with pytest.raises(Invalid, match="it is not UTF-8"):
        read_form(TYPE, form(part('name="a"', b"\xff")), 50)
    assert read_form(TYPE, form(part('name="a"; filename="b"', b"\xff")), 50).files == {"a": b"\xff"}


def test_of_several_files_of_a_name_none_is_lost_without_a_word():
    with pytest.raises(Invalid, match="several files where one is expected"):
        read_form(TYPE, form(*(part('name="a"; filename="b"', content) for content in (b"1", b"2"))), 50)


def test_where_no_files_are_expected_they_are_refused():
    body = form(part('name="photo"; filename="a.png"', b"\x89PNG"))
    with pytest.raises(Invalid, match="files are not accepted"):
        read(TYPE, body, 50)
    with pytest.raises(Invalid, match="files are not accepted"):
        _ = request(body, **{"content-type": TYPE}).fields


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x",
        b"--y--\r\n",
        form(part('filename="a.png"', b"1")),
        form(part('name="a"; filename="b"', b"1", "Content-Transfer-Encoding: base64")),
        b"--x\r\n\r\n\r\n--x--",
        form(part('name="a"; filename="b"', b"1"))[:-6],
        form(part('name="a"; filename="' + "b" * 2000 + '"', b"1")),
        form(*(part(f'name="a{number}"; filename="b"', b"") for number in range(51))),
    ],
)
def test_what_is_no_proper_form_is_refused(body):
    with pytest.raises(Invalid, match="The form could not be read"):
        read_form(TYPE, body, 50)


def test_large_files_are_split_off_in_one_pass():
    content = b"\r\n--" * 1_000_000
    assert read_form(TYPE, form(part('name="a"; filename="b"', content)), 50).files["a"] == content


def test_a_requests_form_is_the_same_with_and_without_files():
    body = form(part('name="a"', b"1"), part('name="photo"; filename="b"', b"2"))
    sent = request(body, **{"content-type": TYPE}).form
    assert (sent.fields, sent.files) == ({"a": "1"}, {"photo": b"2"})
    plain = request(b"a=1&b=%C3%A9", **{"content-type": "application/x-www-form-urlencoded"}).form
    assert (plain.fields, plain.files) == ({"a": "1", "b": "é"}, {})


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("session=abc", "abc"),
        ("a=b; session=abc; c=d", "abc"),
        ("a=b;session=abc", "abc"),
        ("session=first; session=second", ""),
        ("session=abc; \u2000session=theirs", "abc"),
        ("\u2000session=theirs", ""),
        ("session=\u2000abc", "\u2000abc"),
        ("\tsession=abc", "abc"),
        ("session = abc ", "abc"),
        ("session=a=b==", "a=b=="),
        ("session=", ""),
        ("session", ""),
        ("xsession=abc", ""),
        ("__Host-session=abc", ""),
        ("Session=abc", ""),
        (";;;=;", ""),
        ("", ""),
    ],
)
def test_a_cookie_is_read_by_its_exact_name(header, value):
    assert request(cookie=header).cookie("session") == value


def test_without_cookies_there_is_none():
    assert request().cookie("session") == ""
