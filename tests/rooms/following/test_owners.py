"""The desk and each member have their own: nobody sees or touches what is somebody else's."""

import pytest

from chalicelib.following import notifications, routes
from chalicelib.following.stores.connections import ConnectionRow
from chalicelib.inbox.model import Provider
from chalicelib.kernel.aws import tables
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, MEND

ACTS = ("pause", "resume", "sync")


@pytest.fixture
def three(desk, member):
    """The desk and two members, each with a connection, a follow, an entry and a notification."""
    owners = (desk, member("ada"), member("bob"))
    for owner, channel in zip(owners, (ALLOTMENT, HEDGE, MEND), strict=True):
        owner.connect("YOUTUBE")
        owner.followed = owner.follow("YOUTUBE", channel)
    for owner in owners:
        notifications.tell_expired(owner.id, Provider.SPOTIFY)
    return owners


def others(owners):
    return [(one, other) for one in owners for other in owners if one is not other]


def test_each_lists_their_own(three):
    for owner in three:
        assert [follow["id"] for follow in owner.follows()] == [owner.followed["id"]]
        assert len(owner.titles()) == 1
        assert len(owner.notifications()) == 1
    assert len({owner.titles()[0] for owner in three}) == 3


def test_what_is_somebody_elses_is_not_found(three):
    for one, other in others(three):
        follow, (told,), (entry,) = other.find(other.followed), other.notifications(), other.inbox()
        path = f"follows/{follow['id']}"
        assert [one.act(follow, act).status for act in ACTS] == [404] * 3
        assert one.call("DELETE", path).status == 404
        assert one.call("PATCH", path, json={"options": {"action": "ignore"}}).status == 404
        assert one.call("POST", f"notifications/{told['id']}/read").status == 404
        assert one.call("POST", f"inbox/{entry['id']}/bookmark").status == 404
        assert one.call("DELETE", f"inbox/{entry['id']}").status == 404
        assert (other.find(follow), other.notifications(), other.inbox()) == (follow, [told], [entry])


def test_disconnecting_touches_nobody_else(three):
    desk, ada, bob = three
    ada.disconnect("YOUTUBE")
    assert ada.connection("YOUTUBE") is None
    assert {owner.connection("YOUTUBE")["status"] for owner in (desk, bob)} == {"ACTIVE"}
    assert {owner.find(owner.followed)["status"] for owner in (desk, bob)} == {"ACTIVE"}
    assert len(desk.titles()) == len(bob.titles()) == 1


def test_two_who_follow_the_same_have_two_follows_of_one_creator(three):
    desk, ada, _ = three
    hers = ada.follow("YOUTUBE", ALLOTMENT)
    assert hers["id"] != desk.followed["id"]
    assert hers["creator_id"] == desk.followed["creator_id"]
    ada.set_options(hers, action="ignore")
    ada.act(hers, "pause")
    assert desk.find(desk.followed)["status"] == "ACTIVE"
    assert desk.find(desk.followed)["options"]["action"] == "inbox"


def test_the_same_account_may_be_connected_by_two(three):
    rows = [row for row in tables.scan(ConnectionRow) if row.part.startswith("connection ")]
    assert len(rows) == 3
    assert len({row.refresh_token for row in rows}) == 3


MEMBER_CALLS = [
    (method, route.path) for route in routes.ROUTES for method in route.methods if route.path.startswith("/api/")
]
ADMIN_CALLS = [
    (method, route.path)
    for route in routes.ROUTES
    for method in route.methods
    if route.path.startswith("/admin/api/")
]


def test_both_have_the_same_calls():
    assert [(method, "/admin" + path) for method, path in MEMBER_CALLS] == ADMIN_CALLS
    assert len(ADMIN_CALLS) >= 15


def test_without_a_session_no_member_call_is_answered(http, providers, configure):
    configure(MEMBERS="open")
    for method, path in MEMBER_CALLS:
        assert http.request(method, path.format_map(_Any()), json={}).status == 401, path


def test_without_members_there_are_no_member_calls(http, providers, configure):
    configure(MEMBERS="off")
    for method, path in MEMBER_CALLS:
        assert http.request(method, path.format_map(_Any()), json={}).status == 404, path


def test_without_access_no_admin_call_is_answered(http, providers):
    for method, path in ADMIN_CALLS:
        assert http.request(method, path.format_map(_Any()), json={}).status in (401, 403), path


def test_another_site_cannot_act_for_a_member(member):
    ada = member("ada")
    headers = {"Cookie": ada.cookie, "Origin": "https://evil.example.org"}
    for method, path in MEMBER_CALLS:
        if method != "GET":
            assert ada.http.request(method, path.format_map(_Any()), json={}, headers=headers).status == 403, path


class _Any(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "YOUTUBE" if name == "provider" else "0" * 32
