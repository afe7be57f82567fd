import pytest

from chalicelib.kernel.errors import Invalid
from chalicelib.mail.message import Message


def _message(**changes: object) -> Message:
    return Message(**{"to": "ada@example.org", "subject": "Hello", "html": "<p>Hi", "text": "Hi"} | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", ["two\r\nBcc: all@example.org", "two\nlines", "naïve", "", "x" * 996, "null\0", "tab\t"]
)
def test_a_header_value_that_ses_would_refuse_or_that_would_end_the_header_cannot_be_made(value: str) -> None:
    with pytest.raises(Invalid):
        _message(headers={"List-Id": value})


@pytest.mark.parametrize("name", ["", "Two words", "Colon:", "Zeile\n", "Ä", "x" * 127])
def test_a_header_name_outside_the_grammar_cannot_be_made(name: str) -> None:
    with pytest.raises(Invalid):
        _message(headers={name: "value"})


def test_the_longest_header_ses_takes_is_taken() -> None:
    assert _message(headers={"X": "x" * 995, "X" * 126: "1"})
    assert _message(headers={"List-Unsubscribe": "x" * 980})
    with pytest.raises(Invalid):
        _message(headers={"List-Unsubscribe": "x" * 981})


def test_more_headers_than_ses_takes_cannot_be_made() -> None:
    assert _message(headers={f"X-{n}": "1" for n in range(15)})
    with pytest.raises(Invalid):
        _message(headers={f"X-{n}": "1" for n in range(16)})


@pytest.mark.parametrize("subject", ["", "   ", "one\r\ntwo", "line\u2028separator", "x" * 501])
def test_a_subject_is_one_readable_line(subject: str) -> None:
    with pytest.raises(Invalid):
        _message(subject=subject)


@pytest.mark.parametrize("to", ["", "nobody", "a@example.org\r\nBcc: b@example.org"])
def test_a_recipient_is_one_address(to: str) -> None:
    with pytest.raises(Invalid):
        _message(to=to)
