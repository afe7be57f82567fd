"""Which habits are repaired and told, and that nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.audience.imports.reading import address_cells
from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid


@pytest.mark.parametrize(
    "cell",
    [
        " ann@example.org", "ann@example.org\t", "\u00a0ann@example.org\u2003", "\u3000ann@example.org",
        "<ann@example.org>", "Ann <ann@example.org>", "Ann Lee < ann@example.org >", '"Lee, Ann" <ann@example.org>',
        "mailto:ann@example.org", "MAILTO:ann@example.org", "mailto: ann@example.org", "ann%40example.org",
        " Ann <mailto:ann%40example.org> ",
    ],
)  # fmt: skip
def test_what_is_repaired(cell):
    found = address_cells.find_address(cell)
    assert (found.typed, found.repaired, found.problem) == ("ann@example.org", True, None)
    assert found.address.key == "ann@example.org"


def test_what_is_right_is_not_repaired():
    found = address_cells.find_address("Ann.Lee+news@Example.org")
    assert (found.typed, found.repaired, found.address.key) == (
        "Ann.Lee+news@Example.org",
        False,
        "ann.lee+news@example.org",
    )


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "No email address"),
        ("  ", "No email address"),
        ("Ann <>", "No email address"),
        ("ann", "has no @"),
        ("ann@example.org,", "ends with a comma"),
        ("ann@example.org;", "ends with a comma"),
        ("ann @example.org", "contains a space"),
        ("ann@exam ple.org", "contains a space"),
        ("ann@example.org ben@example.org", "contains a space"),
        ("ann@example.org,ben@example.org", "more than one @"),
        ("an\u200bn@example.org", "invisible"),
        ("\u200bann@example.org", "invisible"),
        ("ann@example.org\ufeff", "invisible"),
        ("ann@exam\u00adple.org", "invisible"),
        ("ann@example.org\x07", "control character"),
        ("jörg@example.org", "only ASCII"),
        ("ann@@example.org", "more than one @"),
        ("ann@localhost", "not valid"),
        (".ann@example.org", "not valid"),
        ("ann..lee@example.org", "not valid"),
        ("ann@example.org.", "not valid"),
        ("mailto:ann@example.org?subject=hi", "not valid"),
        ("Ann <ann@example.org> x", "contains a space"),
        ("'ann@example.org'", "not valid"),
        ("a" * 65 + "@example.org", "not valid"),
        ("a" * 2000 + "@example.org", "too long"),
    ],
)
def test_what_is_refused_has_a_reason(cell, reason):
    found = address_cells.find_address(cell)
    assert found.address is None
    assert reason in found.problem


@pytest.mark.parametrize(
    "cell", ["o'neil@example.org", "ann@bücher.example", "ann@日本.example", '"a b"@example.org']
)
def test_unusual_addresses_are_judged_as_elsewhere(cell):
    found = address_cells.find_address(cell)
    try:
        assert found.address == addresses.parse(cell)
    except Invalid:
        assert found.address is None


def test_an_international_domain_makes_a_long_address_longer():
    """As it is sent, in Punycode, it must fit as well."""
    domain = ".".join(["ü" * 40] * 3) + ".example"
    for local in ("a", "a" * 60, "a" * 64):
        found = address_cells.find_address(f"{local}@{domain}")
        try:
            assert found.address == addresses.parse(f"{local}@{domain}")
        except Invalid:
            assert found.address is None


_PARTS = st.text(alphabet="aZ0.-_+'%@<> \u00fc\u200b\u00a0,:", max_size=12)


@given(
    _PARTS, st.sampled_from(["example.org", "bücher.example", "xn--bcher-kva.example", "a", "-a.org", "localhost"])
)
def test_what_is_accepted_is_accepted_by_the_kernel_with_the_same_key(local, domain):
    found = address_cells.find_address(f"{local}@{domain}")
    if found.address:
        assert found.address == addresses.parse(found.typed)
    else:
        assert found.problem


@given(st.text(alphabet="abcZ0.-_+ü", min_size=1, max_size=8), st.text(alphabet="abcü-.", min_size=1, max_size=10))
def test_what_needs_no_repair_is_refused_only_if_the_kernel_refuses_it(local, domain):
    cell = f"{local}@{domain}.org"
    try:
        expected = addresses.parse(cell)
    except Invalid:
        expected = None
    assert address_cells.find_address(cell).address == expected
