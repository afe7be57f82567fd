"""The words of the room, without a table."""

import time
import unicodedata

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.media.model import Picture, State
from chalicelib.sightings import model
from chalicelib.sightings.model import PhotoState


@pytest.mark.parametrize(
    "text", ["Fox", "FOX", "Straße", "İı", "ΣΑΣ", "é", "e\u0301", "ŉ", "ﬃ", "ᾳ", "Å", "\u212b", "🦊", "Ǆ", "\u0345α"]
)
def test_folding_is_the_same_for_every_case_and_form(text):
    forms = {
        model.fold(unicodedata.normalize(form, changed))
        for form in ("NFC", "NFD")
        for changed in (text, text.upper(), text.lower(), text.title())
        if changed.casefold() == text.casefold()
    }
    assert forms == {model.fold(text)}


def test_folding_what_is_folded_changes_nothing():
    for text in ("Straße", "İSTANBUL", "ΣΑΣ", "e\u0301", "ﬃ"):
        assert model.fold(model.fold(text)) == model.fold(text)


def test_a_dotless_i_is_another_letter():
    assert model.fold("ı") != model.fold("i")


@pytest.mark.parametrize("character", [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))])
def test_what_turns_text_around_is_refused_everywhere(character):
    checks = (model.check_animal_name, model.check_location, model.check_shown_location, model.check_credit)
    for check in checks:
        with pytest.raises(Invalid, match="must not contain control characters"):
            check(f"a{character}b")


@pytest.mark.parametrize(
    "text",
    [
        "\u200fשועל (1)\u200e",  # marks that right-to-left writing needs
        "\u061cثعلب 3",
        "می\u200cخواهم",
        "❤\ufe0f fox",
        "👩\u200d🔬",
        "葛\U000e0100城",
        "여우",
        "⠋⠕⠭",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)
def test_what_people_write_is_kept_as_it_is(text):
    assert model.check_animal_name(text) == model.check_location(text) == text


@pytest.mark.parametrize("text", ["\u200b" * 3_000_000, " " * 3_000_000, "\u0301" * 3_000_000])
def test_megabytes_are_judged_at_once(text):
    began = time.thread_time()
    with pytest.raises(Invalid):
        model.check_animal_name(text)
    assert time.thread_time() - began < 0.1


@pytest.mark.parametrize(("before", "now", "expected"), [(10, 10, 11), (10, 11, 11), (10, 50, 50), (10, 5, 11)])
def test_a_version_always_grows(before, now, expected):
    """Also when another machine's clock is behind."""
    assert model.next_version(before, now) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.WAITING, PhotoState.NONE),
        (State.PROCESSING, PhotoState.PROCESSING),
        (State.READY, PhotoState.READY),
        (State.REFUSED, PhotoState.REFUSED),
        (State.DELETED, PhotoState.NONE),
    ],
)
def test_every_state_of_a_picture_is_one_of_a_photo(state, expected):
    now = clock.now()
    assert model.photo_state(Picture("x", "y", state, now, now)) is expected
    assert model.photo_state(None) is PhotoState.NONE
