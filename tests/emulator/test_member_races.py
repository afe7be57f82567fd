"""Two of everything at once, for accounts: whatever the order, the end is a state the rules allow. Shown on the
emulator, because moto loses updates under threads."""

from itertools import count

import pytest

from chalicelib.kernel import clock
from chalicelib.members import passwords, sessions
from chalicelib.members.stores.emails import EmailRow
from chalicelib.members.stores.members import MemberRow
from chalicelib.members.stores.sessions import SessionRow
from chalicelib.members.stores.tokens import TokenRow
from tests.rooms.members.person import OTHER, PASSWORD, Person

THIRD = "Third-3 password"


@pytest.fixture(autouse=True)
def _open(emulator, configure, monkeypatch):
    configure(MEMBERS="open")
    monkeypatch.setattr(passwords, "COST", 4)


@pytest.fixture
def person(http, ses, work):
    numbers = count(1)
    return lambda email="ada@example.net": Person(
        http, ses, lambda: work("members"), email, f"198.51.100.{next(numbers)}"
    )


def _consistent():
    """One key for each member and one member for each key; the count is what is there; nothing is left of those who
    have gone."""
    rows = {row.id: row for row in MemberRow.scan(consistent_read=True)}
    total = rows.pop("count").total if "count" in rows else 0
    here = {id: row for id, row in rows.items() if row.shelf}
    keys = {row.address: row.member_id for row in EmailRow.scan(consistent_read=True)}
    assert keys == {row.email.casefold(): id for id, row in here.items()}
    assert total == len(here)
    for id, row in rows.items():
        if id not in here:
            assert (row.email, row.password_hash, row.verified_at) == (None, None, None)
    tokens = [row for row in TokenRow.scan(consistent_read=True) if row.owner != "invitation"]
    assert {row.owner for row in tokens} <= set(here)
    return here


def _sessions_alive():
    """Rows of sessions that would sign somebody in."""
    members = {row.id: row for row in MemberRow.scan(consistent_read=True)}
    return [
        row
        for row in SessionRow.scan(consistent_read=True)
        if members[row.member_id].shelf
        and row.generation == members[row.member_id].generation
        and clock.parse(row.until) > clock.now()
    ]


def _statuses(answers):
    assert not [answer for answer in answers if isinstance(answer, Exception)], answers
    return sorted(answer.status for answer in answers)


@pytest.mark.parametrize("turn", range(3))
def test_sign_ups_for_one_address_at_once_make_one_account(person, together, turn):
    people = [person(email) for email in ("ada@example.net", "ADA@example.net", "ada@EXAMPLE.net", "Ada@example.net")]
    answers = together(*(somebody.sign_up for somebody in people))
    assert _statuses(answers) == [201, 409, 409, 409]
    assert {answer.json["error"] for answer in answers if answer.status == 409} == {"Email already registered"}
    assert len(_consistent()) == 1
    assert sorted(somebody.me().status for somebody in people) == [200, 401, 401, 401]
    assert len(list(SessionRow.scan())) == 1


def test_sign_ups_for_many_addresses_at_once_are_all_counted(person, together):
    people = [person(f"m{number}@example.net") for number in range(8)]
    assert _statuses(together(*(somebody.sign_up for somebody in people))) == [201] * 8
    assert len(_consistent()) == 8


@pytest.mark.parametrize("turn", range(3))
def test_a_sign_up_against_the_deletion_of_the_same_address(person, together, turn):
    old, new = person().join(), person()
    deleted, signed_up = together(old.delete, lambda: new.sign_up(OTHER, OTHER))
    assert deleted.status == 204
    assert signed_up.status in (201, 409)
    assert len(_consistent()) == (signed_up.status == 201)
    assert old.me().status == 401
    assert new.me().status == (200 if signed_up.status == 201 else 401)


@pytest.mark.parametrize("turn", range(3))
def test_two_resets_with_one_link_and_one_wins(person, together, turn):
    ada = person().join()
    ada.request_reset()
    token = ada.token("/reset")
    first, second = ada.elsewhere(), person()
    answers = together(lambda: first.reset(token, OTHER, OTHER), lambda: second.reset(token, THIRD, THIRD))
    assert _statuses(answers) == [200, 401]
    right, wrong = (OTHER, THIRD) if answers[0].status == 200 else (THIRD, OTHER)
    assert person().sign_in(right).status == 200
    assert person().sign_in(wrong).status == 401
    assert ada.me().status == 401
    _consistent()


@pytest.mark.parametrize("turn", range(4))
def test_a_new_password_against_sign_ins_with_the_old_one(person, together, turn):
    """Whoever came before is signed out, whoever comes after is refused: no session of the old password survives."""
    ada = person().join()
    devices = [person() for _ in range(4)]
    answers = together(ada.change, *(device.sign_in for device in devices))
    assert answers[0].status == 200
    assert {answer.status for answer in answers[1:]} <= {200, 401}
    assert [device.me().status for device in devices] == [401] * 4
    assert ada.me().status == 200
    assert len(_sessions_alive()) == 1
    assert person().sign_in(OTHER).status == 200


@pytest.mark.parametrize("turn", range(3))
def test_two_new_passwords_at_once_and_one_is_it(person, together, turn):
    ada = person().join()
    device = person()
    device.sign_in()
    answers = together(lambda: ada.change(PASSWORD, OTHER, OTHER), lambda: device.change(PASSWORD, THIRD, THIRD))
    assert _statuses(answers) == [200, 401]
    assert sorted([ada.me().status, device.me().status]) == [200, 401]
    assert person().sign_in(OTHER if answers[0].status == 200 else THIRD).status == 200


@pytest.mark.parametrize("turn", range(3))
def test_two_new_passwords_with_one_cookie_and_a_sign_out_leave_one_session_or_none(person, together, turn):
    """A double click, a stolen copy, and a sign-out in between: the old cookie is dead whoever wins."""
    ada = person().join()
    copy, twin = person(), person()
    copy.cookie = twin.cookie = old = ada.cookie
    changes = together(
        lambda: ada.change(PASSWORD, OTHER, OTHER), lambda: copy.change(PASSWORD, THIRD, THIRD), twin.sign_out
    )
    assert changes.pop().status == 204
    assert _statuses(changes) in ([200, 401], [401, 401])
    changed = _statuses(changes) == [200, 401]
    assert len(_sessions_alive()) == changed
    assert person().send("GET", "/api/auth/me", Cookie=old).status == 401
    assert sorted([ada.me().status, copy.me().status]) == ([200, 401] if changed else [401, 401])


@pytest.mark.parametrize("turn", range(3))
def test_a_new_password_against_a_reset(person, together, turn):
    ada = person().join()
    ada.request_reset()
    other = person()
    token = ada.token("/reset")
    answers = together(ada.change, lambda: other.reset(token, THIRD, THIRD))
    assert _statuses(answers) == [200, 401]
    if answers[0].status == 200:  # the change ended the link
        assert ada.me().status == 200
        assert person().sign_in(THIRD).status == 401
    else:
        assert ada.me().status == 401
        assert person().sign_in(THIRD).status == 200


@pytest.mark.parametrize("turn", range(4))
def test_a_deletion_against_sign_ins(person, together, turn):
    ada = person().join()
    devices = [person() for _ in range(4)]
    answers = together(ada.delete, *(device.sign_in for device in devices))
    assert answers[0].status == 204
    assert {answer.status for answer in answers[1:]} <= {200, 401}
    assert [device.me().status for device in devices] == [401] * 4
    assert _consistent() == {}
    assert _sessions_alive() == []


def test_two_deletions_at_once_count_once(person, together):
    ada, bob = person().join(), person("bob@example.net").join()
    device = person()
    device.sign_in()
    answers = together(ada.delete, device.delete)
    assert _statuses(answers) in ([204, 401], [204, 204])
    assert len(_consistent()) == 1
    assert bob.me().status == 200


@pytest.mark.parametrize("turn", range(3))
def test_two_acceptances_of_one_invitation(person, together, configure, turn):
    configure(MEMBERS="invite", DISABLE_AUTH="true")
    ada, twin = person(), person()
    assert ada.send("POST", "/admin/api/members/invitations", json={"email": ada.email}).status == 201
    ada.deliver()
    token = ada.token("/join", "invitation")
    answers = together(lambda: ada.sign_up(invitation=token), lambda: twin.sign_up(invitation=token))
    assert _statuses(answers) in ([201, 403], [201, 409])
    (member,) = _consistent().values()
    assert member.verified_at
    assert list(TokenRow.scan()) == []


def test_an_acceptance_against_a_withdrawal(person, together, configure):
    configure(MEMBERS="invite", DISABLE_AUTH="true")
    ada = person()
    invitation = ada.send("POST", "/admin/api/members/invitations", json={"email": ada.email}).json
    ada.deliver()
    token = ada.token("/join", "invitation")
    path = f"/admin/api/members/invitations/{invitation['id']}"
    accepted, withdrawn = together(
        lambda: ada.sign_up(invitation=token), lambda: ada.http.delete(path, source_ip="198.51.100.99")
    )
    assert (accepted.status, withdrawn.status) in ((201, 404), (403, 204))
    assert len(_consistent()) == (accepted.status == 201)


@pytest.mark.parametrize("turn", range(3))
def test_verifying_twice_at_once(person, together, turn):
    ada = person().join()
    token = ada.token("/verify")
    answers = together(*(lambda: person().verify(token) for _ in range(3)))
    assert _statuses(answers) == [200, 401, 401]
    assert ada.me().json["verified"] is True
    (member,) = _consistent().values()
    assert member.todo is None


@pytest.mark.parametrize("turn", range(3))
def test_a_verification_against_the_closing_of_what_was_never_verified(person, together, turn):
    from chalicelib.members import service

    ada = person().join()
    token = ada.token("/verify")
    id = sessions.find(ada.cookie.partition("=")[2]).id
    verified, closed = together(lambda: person().verify(token), lambda: service.close_unverified(id))
    assert (verified.status, closed) in ((200, False), (401, True))
    assert len(_consistent()) == (not closed)


def test_two_workers_with_one_message_leave_one_link_that_works(person, together, ses):
    from chalicelib.members import jobs
    from tests.conftest import received

    ada = person()
    ada.sign_up()
    (message,) = received("members")
    together(*(lambda: jobs.handle(message) for _ in range(3)))
    links = {mail["text"].partition("/verify?token=")[2].split()[0] for mail in ada.mails()}
    assert sorted(person().verify(link).status for link in links) == [200] + [401] * (len(links) - 1)


def test_a_departure_handled_by_twins_and_by_the_clean_up_ends_once(person, together, work, tick):
    from chalicelib.members import jobs
    from tests.conftest import received

    ada = person().join()
    ada.delete()
    (message,) = received("members")
    together(*(lambda: jobs.handle(message) for _ in range(3)), lambda: tick("clean_up_members"))
    work("members")
    (row,) = [row for row in MemberRow.scan(consistent_read=True) if row.id != "count"]
    assert (row.todo, row.due_at) == (None, None)
    assert row.deleted_at
