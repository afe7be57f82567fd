"""Every colour a publication may choose leaves text that can be read (WCAG 2.2, 1.4.3)."""

from itertools import product

import pytest

from chalicelib.kernel import colour

MANY = [
    f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in product((0, 40, 96, 118, 127, 160, 200, 255), repeat=3)
]
# What text in the publication's colour stands on, in mails and on pages.
LIGHT = ("#ffffff", "#f6f5f2", "#f1f3f6", "#efede7")
DARK = ("#0d1014", "#131517", "#14171a", "#171c23", "#181d24", "#1b1e21", "#1d2125", "#232a34", "#24292e")


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("#000000", "#ffffff", 21), ("#777777", "#ffffff", 4.48), ("#0f766e", "#0f766e", 1)]
)
def test_contrast_is_that_of_wcag(one, other, ratio):
    assert colour.contrast(one, other) == colour.contrast(other, one) == pytest.approx(ratio, abs=0.01)


def test_text_on_a_button_of_any_colour_can_be_read():
    assert min(colour.contrast(colour.ink_on(accent), accent) for accent in MANY) >= 4.5


def test_text_in_any_colour_can_be_read_by_day_and_in_the_dark():
    assert min(colour.contrast(colour.on_light(accent), paper) for accent in MANY for paper in LIGHT) >= 4.5
    assert min(colour.contrast(colour.on_dark(accent), paper) for accent in MANY for paper in DARK) >= 4.5


def test_a_colour_that_can_be_read_stays_as_it_is():
    assert colour.on_light("#0f5f58") == "#0f5f58"
    assert colour.on_dark("#7fd6cf") == "#7fd6cf"
