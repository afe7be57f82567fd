"""The words of the room, without a table."""

import unicodedata

import pytest

from chalicelib.kernel import clock
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
