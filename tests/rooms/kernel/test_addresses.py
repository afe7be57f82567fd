"""Which addresses are taken, and when two are the same."""

import subprocess
import sys

import email_validator
import pytest
from email_validator import validate_email
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@example.net", " Ada@EXAMPLE.net\n"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ada@bücher.example", "ada@XN--BCHER-KVA.example"),
        ("ada@bücher.example", "ada@bu\u0308cher.example"),
        ("ada@example.net", "ada@ｅｘａｍｐｌｅ.net"),
    ],
)
def test_spellings_of_one_mailbox_are_one_address(one: str, other: str) -> None:
    assert addresses.parse(one).key == addresses.parse(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@strasse.example", "ada@straße.example"),  # two domains, whatever case-folding says
        ("a.da@example.net", "ada@example.net"),
        ("ada+x@example.net", "ada@example.net"),
        ("ada@example.net", "ada@ехample.net"),  # Cyrillic
    ],
)
def test_different_mailboxes_stay_different(one: str, other: str) -> None:
    assert addresses.parse(one).key != addresses.parse(other).key


def test_an_address_is_kept_as_typed() -> None:
    assert addresses.parse(" A.d.A+News@Bücher.example ").typed == "A.d.A+News@Bücher.example"


def test_lengths_hold_exactly() -> None:
    label = "d" * 63
    longest = f"{'a' * 64}@{label}.{label}.{'e' * 57}.net"
    assert len(longest) == 254
    assert addresses.parse(longest).typed == longest
    for over in (f"{'a' * 65}@example.net", longest.replace(".net", "e.net"), f"a@{'d' * 64}.net"):
        with pytest.raises(Invalid):
            addresses.parse(over)
    # As Punycode it is longer than it looks, and that is what travels.
    with pytest.raises(Invalid):
        addresses.parse(f"{'a' * 64}@{'.'.join(['ü' * 30] * 5)}.example")


@pytest.mark.parametrize("local", ["аda", "ａda", "ada\u200b", "a\u202eda", "ada\x00"])
def test_a_local_part_that_only_looks_like_letters_is_refused(local: str) -> None:
    with pytest.raises(Invalid):
        addresses.parse(f"{local}@example.net")


@given(st.from_regex(addresses._USUAL, fullmatch=True))
def test_what_is_taken_without_asking_the_library_the_library_would_take(typed: str) -> None:
    if addresses._is_usual(typed):
        validate_email(typed, check_deliverability=False, allow_smtputf8=False, strict=True, test_environment=True)


def test_every_name_the_library_treats_apart_is_left_to_it() -> None:
    assert {name.rpartition(".")[2] for name in email_validator.SPECIAL_USE_DOMAIN_NAMES} <= addresses._SPECIAL_USE


def test_a_usual_address_costs_no_import() -> None:
    code = "import sys; from chalicelib.kernel import addresses; addresses.parse('ada@example.org')"
    command = [sys.executable, "-c", f"{code}; sys.exit('email_validator' in sys.modules)"]
    assert subprocess.run(command, check=False).returncode == 0
