"""The pages of members and of what they share."""

import re

import pytest

from chalicelib.members import invitations
from chalicelib.members import service as members
from chalicelib.sightings import service as sightings
from tests.conftest import received

PASSWORD = "Analytical-1"


@pytest.fixture(autouse=True)
def _open(configure, dashboard, media_bucket):
    configure(DISABLE_AUTH="true", MEMBERS="open")


def _join(email, client="192.0.2.1"):
    member, _ = members.sign_up(email, PASSWORD, PASSWORD, None, client)
    return member


def test_members_are_listed_with_what_they_did_and_can_be_closed(dashboard):
    assert "No members yet" in dashboard.see("/admin/members")
    ada = _join("ada@example.net")
    sightings.create(ada.id, "Red fox", "Hampstead Heath")
    members.sign_in("ada@example.net", PASSWORD, "192.0.2.1")
    seen = dashboard.see("/admin/members")
    assert "ada@example.net Not verified" in seen
    assert "1 sighting" in seen
    assert "when they joined" not in seen
    path = f"/admin/members/{ada.wire_id}/close"
    assert "1 sighting and their photos are deleted" in dashboard.see(path)
    assert members.find(ada.id), "looking closes nothing"
    assert "Account closed." in dashboard.follow(path)
    assert not members.find(ada.id)
    assert "ada@example.net" not in dashboard.see("/admin/members")
    assert dashboard.get(path).status == dashboard.post(path).status == 404


def test_an_invitation_is_sent_listed_and_withdrawn(dashboard):
    assert "Invited." in dashboard.follow("/admin/members/invitations", email="ada@example.net")
    assert [message["kind"] for message in received("members")] == ["invite"]
    assert "Open invitations ada@example.net until" in dashboard.see("/admin/members")
    [invitation] = invitations.list_open()
    withdraw = f"/admin/members/invitations/{invitation.id}/withdraw"
    assert "Invitation withdrawn." in dashboard.follow(withdraw)
    assert "Open invitations" not in dashboard.see("/admin/members")
    assert dashboard.post(withdraw).status == 404


@pytest.mark.parametrize(
    ("email", "status", "reason"), [("nobody", 400, "Invalid email"), ("ada@example.net", 409, "already registered")]
)
def test_a_mistake_shows_the_form_again_with_what_was_typed(dashboard, email, status, reason):
    _join("ada@example.net")
    answer = dashboard.post("/admin/members/invitations", email=email)
    assert answer.status == status
    assert reason in answer.text
    assert f'value="{email}"' in answer.text


def test_without_members_the_page_says_how_to_have_some(dashboard, configure):
    ada = _join("ada@example.net")
    configure(MEMBERS="off")
    seen = dashboard.see("/admin/members")
    assert "Members are off" in seen
    assert "Invite somebody" not in seen
    assert dashboard.post("/admin/members/invitations", email="bob@example.net").status == 409
    assert "Account closed." in dashboard.follow(f"/admin/members/{ada.wire_id}/close"), "still possible"


def test_a_page_beyond_the_last_says_so(dashboard):
    _join("ada@example.net")
    assert "Page not found" in dashboard.see("/admin/members?page=9")
    assert dashboard.get("/admin/members?page=x").status == 400


def test_shared_sightings_show_what_was_chosen_and_nothing_else(dashboard, configure):
    assert "Nothing shared yet" in dashboard.see("/admin/sightings")
    invitations.invite("ada@example.net")
    ada = _verified("ada@example.net")
    fox = sightings.create(ada.id, "Red fox", "behind my house, 12 Secret Lane")
    hare = sightings.create(ada.id, "Hare", "the fields of my neighbour")
    sightings.share(ada, fox.sighting.id, "North London", "Ada L.")
    sightings.share(ada, hare.sighting.id, "", "")
    answer = dashboard.get("/admin/sightings")
    seen = dashboard.see("/admin/sightings")
    assert seen.index("Hare Place not shown Anonymous") < seen.index("Red fox North London Seen by Ada L.")
    for hidden in ("Secret Lane", "neighbour", "ada@example.net", ada.id, ada.wire_id):
        assert hidden not in answer.text
    sightings.withdraw(ada.id, hare.sighting.id)
    sightings.delete(ada.id, fox.sighting.id)
    assert "Nothing shared yet" in dashboard.see("/admin/sightings")


def test_the_list_of_shared_sightings_has_pages(dashboard):
    ada = _verified("ada@example.net")
    for number in range(22):
        seen = sightings.create(ada.id, f"Bird {number:02}", "Here")
        sightings.share(ada, seen.sighting.id, "", "")
    first = dashboard.get("/admin/sightings").text
    [older] = re.findall(r'rel="next" href="([^"]+)"', first)
    names = re.findall(r"<h2>(Bird \d\d)</h2>", first + dashboard.get(older).text)
    assert names == [f"Bird {number:02}" for number in reversed(range(22))]
    assert dashboard.get("/admin/sightings?cursor=forged").status == 400


def _verified(email):
    from chalicelib.kernel import clock
    from chalicelib.kernel.aws import tables
    from chalicelib.members.stores import members as store

    member = _join(email)
    tables.transact(store.verify_write(member, clock.now()))
    return members.get(member.id)
