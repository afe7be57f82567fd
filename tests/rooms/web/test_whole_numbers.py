import pytest

from chalicelib.web import whole_numbers


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_digits_are_a_number(text, number):
    assert whole_numbers.parse(text) == number


@pytest.mark.parametrize("text", [None, "", " 1", "-1", "1.0", "1_000", "x", "٣", "1234567890"])
def test_anything_else_is_none(text):
    assert whole_numbers.parse(text) is None
