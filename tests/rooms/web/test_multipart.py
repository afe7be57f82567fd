"""Forms as browsers and other programs send them, and everything else that calls itself a form."""

import time

import pytest

from chalicelib.kernel.errors import Invalid
from chalicelib.web.multipart import read

BROWSER = "----WebKitFormBoundaryorGBAKSkv5wR6WqJ"


def part(name, value, boundary="x"):
    return with_headers([f'Content-Disposition: form-data; name="{name}"'], value, boundary)


def with_headers(headers, value, boundary="x"):
    return "\r\n".join([f"--{boundary}", *headers, "", value, ""])


def form(*parts, boundary="x"):
    return ("".join(parts) + f"--{boundary}--\r\n").encode()


def fields(body, content_type="multipart/form-data; boundary=x"):
    return read(content_type, body, 50)


def refused(body, content_type="multipart/form-data; boundary=x"):
    with pytest.raises(Invalid) as failure:
        fields(body, content_type)
    return failure.value.reason


def test_a_form_as_a_browser_sends_it():
    body = form(
        part("email", "ada@example.org", boundary=BROWSER),
        part("nickname", "Grüße 🌱\r\n\r\n-- x", boundary=BROWSER),
        part("empty", "", boundary=BROWSER),
        boundary=BROWSER,
    )
    sent = fields(body, f"multipart/form-data; boundary={BROWSER}")
    assert sent == {"email": "ada@example.org", "nickname": "Grüße 🌱\r\n\r\n-- x", "empty": ""}


def test_a_form_without_fields():
    assert fields(b"--x--\r\n") == {}
    assert fields(b"--x--") == {}


@pytest.mark.parametrize(
    ("written", "name"),
    [("a%22b", 'a"b'), ("a%0D%0Ab", "a\r\nb"), ("a%20b", "a%20b"), ("a\\b", "a\\b"), ("ü", "ü"), ("a;b=c", "a;b=c")],
)
def test_names_are_escaped_as_browsers_do(written, name):
    assert fields(form(part(written, "1"))) == {name: "1"}


def test_the_last_of_several_fields_of_a_name_counts():
    assert fields(form(part("a", "1"), part("a", "2"))) == {"a": "2"}


@pytest.mark.parametrize(
    "content_type",
    [
        'multipart/form-data; boundary="x"',
        "multipart/form-data;boundary=x",
        "multipart/form-data; charset=utf-8; boundary=x",
        "Multipart/Form-Data; Boundary=x; charset=UTF-8",
    ],
)
def test_the_boundary_as_other_programs_write_it(content_type):
    assert fields(form(part("a", "1")), content_type) == {"a": "1"}


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Disposition: form-data; name=a"],
        ['content-disposition: FORM-DATA;name="a"', "Content-Length: 1"],
        ['Content-Disposition: form-data; name="a"', "Content-Type: text/plain; charset=UTF-8"],
        ["Content-Type: multipart/mixed; boundary=y", 'Content-Disposition: form-data; name="a"'],
        ['Content-Disposition: form-data; name="a"', "Content-Transfer-Encoding: 8bit"],
    ],
)
def test_headers_of_a_field_as_other_programs_write_them(headers):
    assert fields(form(with_headers(headers, "1"))) == {"a": "1"}


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        'multipart/form-data; boundary=""',
        'multipart/form-data; boundary="x',
        "multipart/form-data; boundary=x; boundary=y",
        "multipart/form-data; boundary*=utf-8''x",
        f"multipart/form-data; boundary={'b' * 71}",
        "multipart/form-data; boundary=x\u00e9",
        "multipart/form-data; boundary=x\r\ny",
        f"multipart/form-data; {'a=b; ' * 100}boundary=x",
        "multipart/form-data; boundary=" + "(" * 2000,
        'multipart/form-data; boundary="' + "\\" * 60,
    ],
)
def test_a_content_type_without_a_proper_boundary_is_refused(content_type):
    assert "boundary" in refused(form(part("a", "1")), content_type)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x",
        b"--y--\r\n",
        form(part("a", "1"))[:-6],
        form(part("a", "1"))[:-4] + b"-\r\n",
        form(part("a", "1")) + b"an epilogue",
        form(part("a", "1")) + b"-" * 1000,
        b"a preamble\r\n" + form(part("a", "1")),
        form(part("a", "1")).replace(b"\r\n", b"\n"),
        form(part("a", "1")).replace(b"\r\n", b"\r"),
        form(part("a", "1\r\n--xyz")),
        form(part("a", "1\r\n--x\r\nno header")),
        b"--x \r\n" + form(part("a", "1"))[5:],
        b"--x\r\n\r\n\r\n--x--\r\n",
        b"--x\r\n\r\n--x--\r\n",
        b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n",
    ],
)
def test_a_body_that_is_not_a_whole_form_is_refused(body):
    assert refused(body).startswith("The form could not be read: ")


@pytest.mark.parametrize(
    "header",
    [
        "form-data; name*=utf-8''a",
        "form-data; name=\"a\"; name*=utf-8''b",
        'form-data; name="a"; name="b"',
        'form-data; name="a\\"b"',
        'form-data; name="a',
        'attachment; name="a"',
        'form-data (comment); name="a"',
        "form-data" + "(" * 1000,
        'form-data; name="' + "a" * 1024 + '"',
        'form-data; name="a"\r\nContent-Disposition: form-data; name="b"',
        'form-data;\r\n name="a"',
        'form-data; name="a"\r\nContent-Transfer-Encoding: base64',
        'form-data; name="a"' + "\r\nX: y" * 400,
    ],
)
def test_a_field_without_a_plain_name_is_refused(header):
    assert refused(form(f"--x\r\nContent-Disposition: {header}\r\n\r\n1\r\n"))


@pytest.mark.parametrize("file", ['filename="a.txt"', "filename=a", "filename*=utf-8''a", 'filename=""'])
def test_a_file_is_refused(file):
    assert "files" in refused(form(f'--x\r\nContent-Disposition: form-data; name="a"; {file}\r\n\r\n1\r\n'))


def test_what_is_not_utf_8_is_refused():
    assert "UTF-8" in refused(form(part("a", "é")).replace("é".encode(), b"\xe9"))
    assert "UTF-8" in refused(form(part("é", "a")).replace("é".encode(), b"\xe9"))


def test_as_many_fields_as_allowed_and_no_more():
    assert len(fields(form(*(part(f"f{number}", "") for number in range(50))))) == 50
    assert "too many fields" in refused(form(*(part(f"f{number}", "") for number in range(51))))


@pytest.mark.parametrize("path", ["/api/subscribe", "/confirm", "/api/unsubscribe", "/profile/never"])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data; boundary=b", b"--b\r\n\r\n\r\n" * 90_000),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\n\r\n" * 6_500),
        ("multipart/form-data; " + "(" * 2_000, b"--b--\r\n"),
        (
            "multipart/form-data; boundary=b",
            b"--b\r\nContent-Disposition: form-data" + b"(" * 1_000 + b"\r\n\r\n\r\n--b--\r\n",
        ),
    ],
)
def test_a_hostile_form_costs_a_stranger_more_than_us(http, path, content_type, body):
    begun = time.process_time()
    answer = http.post(path, body=body, Content_Type=content_type)
    assert answer.status == 400
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/api/subscribe", "application/json"),
        ("/api/subscribe", "application/x-www-form-urlencoded"),
        ("/api/profile/request-link", "application/json"),
        ("/resume", "multipart/form-data; boundary=x"),
    ],
)
def test_a_public_body_is_at_most_64_kb(http, path, content_type):
    answer = http.post(path, body=b"a" * (64 * 1024 + 1), Content_Type=content_type)
    assert answer.status == 400
    assert "The request is too large" in answer.text
