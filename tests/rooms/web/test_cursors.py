"""Lists without numbered pages: the limit, and cursors that nobody but us can write."""

import pytest

from chalicelib.kernel.errors import Invalid
from chalicelib.web import cursors
from chalicelib.web.request import Request

ID = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"


def request(**query):
    return Request("GET", {}, query, {}, b"", "", "", {})


def place_of(cursor, scope="list of ada"):
    return cursors.read(request(cursor=cursor), scope)


@pytest.mark.parametrize("place", ["x", ID, "2026-11-17T20:10:27.123Z x", "é🦊", "", "a" * 500])
def test_a_cursor_leads_back_to_its_place(place):
    assert place_of(cursors.sign(place, "list of ada")) == place


def test_after_the_last_page_there_is_none():
    assert cursors.sign(None, "list of ada") is None


def test_without_one_a_list_begins_at_its_beginning():
    assert cursors.read(request(), "list of ada") is None
    assert place_of("") is None


def test_it_is_good_for_one_list_of_one_owner():
    cursor = cursors.sign("x", "list of ada")
    for scope in ("list of bob", "other list of ada", "", "list of ada "):
        with pytest.raises(Invalid, match="cursor is not valid"):
            place_of(cursor, scope)


def test_every_altered_one_is_refused():
    cursor = cursors.sign(ID, "list of ada")
    altered = [cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :] for at in range(len(cursor))]
    altered += [cursor[1:], cursor[:-1], cursor + "0", f"{cursor}.", f".{cursor}", cursor * 2, cursor + "\n"]
    for text in altered:
        with pytest.raises(Invalid, match="cursor is not valid"):
            place_of(text)


@pytest.mark.parametrize(
    "text", [".", "..", "x", "x.y", "é.é", "\x00", "=.=", "%%%.%%%", "_-_.0", "a" * 5000, "//8.0"]
)
def test_what_is_none_is_refused(text):
    with pytest.raises(Invalid, match="cursor is not valid"):
        place_of(text)


def test_it_is_safe_in_a_url():
    from urllib.parse import quote

    cursor = cursors.sign("ÿÿÿ>>>???", "list of ada")
    assert quote(cursor) == cursor


def test_another_deployments_cursor_is_refused(configure):
    cursor = cursors.sign("x", "list of ada")
    configure(SECRET_KEY="a secret of another deployment, 32+")
    with pytest.raises(Invalid):
        place_of(cursor)


@pytest.mark.parametrize(("text", "limit"), [("", 20), ("1", 1), ("20", 20), ("100", 100), ("007", 7)])
def test_limits(text, limit):
    assert cursors.requested_limit(request(limit=text)) == limit
    assert cursors.requested_limit(request()) == 20


@pytest.mark.parametrize(
    "text", ["0", "101", "-5", "+5", " 5", "5 ", "1e1", "1.0", "٣", "²", "x", "9" * 5000, "\x00"]
)
def test_other_limits_are_refused(text):
    with pytest.raises(Invalid, match="limit must be a whole number from 1 to 100"):
        cursors.requested_limit(request(limit=text))
