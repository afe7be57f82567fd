"""Deleting an account: at once for the member, and later for what other rooms store about them."""

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.sweeping import Unfinished
from chalicelib.members import jobs, member_data, service
from chalicelib.members.stores import members
from tests.conftest import received
from tests.rooms.members.person import OTHER


def _always():
    return True


@pytest.fixture
def forgotten(monkeypatch):
    """Whom other rooms were asked to forget; `forgotten.answers` are what they say, in order, and True after that."""

    class Asked(list):
        def __init__(self):
            self.answers = []

    asked = Asked()

    def forget(member_id, time_left):
        asked.append(member_id)
        assert time_left()
        return asked.answers.pop(0) if asked.answers else True

    monkeypatch.setattr(member_data, "forget", forget)
    return asked


def _row(rows):
    (row,) = [row for row in rows("members") if row["id"]["S"] != "count"]
    return row


def test_deleting_takes_everything_personal_at_once_and_leaves_ids_and_times(person, rows):
    ada = person().join_verified()
    ada.sign_in()
    id = ada.me().json["id"]
    answer = ada.delete()
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Set-Cookie"].startswith("__Host-session=; Max-Age=0;")
    row = _row(rows)
    assert row["id"]["S"].replace("-", "") == id
    expected = {
        "id",
        "generation",
        "created_at",
        "last_login_at",
        "deleted_at",
        "sightings",
        "shared",
        "todo",
        "due_at",
    }
    assert set(row) == expected
    assert rows("member-emails") == []
    assert rows("member-tokens") == []
    left = str([rows(table) for table in ("members", "sessions", "member-emails", "member-tokens")])
    assert "ada@" not in left
    assert "example.net" not in left


def test_every_session_is_dead_at_once(person):
    ada = person().join()
    device = ada.elsewhere()
    device.sign_in()
    cookie = ada.cookie
    ada.delete()
    assert device.me().status == 401
    assert ada.send("GET", "/api/auth/me", Cookie=cookie).status == 401
    assert device.sign_in().status == 401


def test_the_address_is_free_again_for_another_account(person):
    ada = person().join()
    first = ada.me().json["id"]
    ada.delete()
    answer = ada.sign_up(OTHER, OTHER)
    assert answer.status == 201
    assert answer.json["id"] != first
    assert answer.json["verified"] is False
    assert ada.sign_in().status == 401


@pytest.mark.parametrize("password", [None, "", OTHER])
def test_a_wrong_password_deletes_nothing(person, password):
    ada = person().join()
    answer = ada.delete(password)
    assert (answer.status, answer.json) == (401, {"error": "Wrong password"})
    assert ada.me().status == 200


def test_a_deletion_without_a_body_or_a_session(person, http):
    ada = person().join()
    assert ada.send("DELETE", "/api/auth/me").json == {"error": "Wrong password"}
    assert ada.send("DELETE", "/api/auth/me", json={"password": 5}).status == 400
    assert http.delete("/api/auth/me", json={"password": "x"}).json == {"error": "Authentication required"}


def test_the_worker_has_other_rooms_forget_until_they_are_done(person, forgotten, rows):
    ada = person().join()
    forgotten.answers = [False, False]
    ada.delete()
    (message,) = received("members")
    assert set(message) == {"kind", "member_id"}
    for _ in range(2):
        jobs.handle(message)
        assert received("members") == [message]
        assert _row(rows)["todo"]["S"] == "depart"
    jobs.handle(message)
    assert forgotten == [message["member_id"]] * 3
    assert received("members") == []
    assert not {"todo", "due_at"} & set(_row(rows))
    jobs.handle(message)  # a twin
    assert len(forgotten) == 3


def test_somebody_who_is_still_there_is_not_forgotten(person, forgotten, rows):
    person().join()
    jobs.handle({"kind": "depart", "member_id": _row(rows)["id"]["S"]})
    jobs.handle({"kind": "depart", "member_id": "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"})
    assert forgotten == []


def test_a_departure_whose_message_was_lost_is_finished_by_the_clean_up(person, forgotten, later):
    ada = person().join()
    ada.delete()
    received("members")
    jobs.clean_up(_always)
    assert forgotten == []  # it may be under way
    later(minutes=11)
    jobs.clean_up(_always)
    assert len(forgotten) == 1
    jobs.clean_up(_always)
    assert len(forgotten) == 1
    assert received("members") == []


def test_a_departure_stands_when_it_cannot_be_queued(person, forgotten, later, monkeypatch):
    ada = person().join()

    def fail(*_):
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(queues, "send", fail)
        assert ada.delete().status == 204
    later(minutes=11)
    jobs.clean_up(_always)
    ada.deliver()
    assert len(forgotten) == 1


def test_an_account_nobody_verified_is_closed_after_30_days(person, later, rows):
    ada, bob = person().join(), person("bob@example.net").join_verified()
    later(days=29, hours=23)
    jobs.clean_up(_always)
    assert ada.sign_in().status == 200
    later(hours=2)
    jobs.clean_up(_always)
    assert ada.sign_in().status == 401
    assert ada.me().status == 401
    assert bob.sign_in().status == 200
    assert members.count() == 1
    assert [row["address"]["S"] for row in rows("member-emails")] == ["bob@example.net"]
    assert ada.sign_up().status == 201


def test_an_account_verified_by_a_reset_is_not_closed(person, later):
    ada = person().join()
    ada.request_reset()
    assert ada.reset().status == 200
    later(days=31)
    jobs.clean_up(_always)
    assert ada.sign_in(OTHER).status == 200


def test_a_clean_up_without_time_does_nothing(person, later):
    ada = person().join()
    later(days=31)
    jobs.clean_up(lambda: False)
    assert ada.sign_in().status == 200


def test_links_that_expired_are_deleted_by_the_clean_up_and_others_are_not(person, later, rows, invite):
    ada = person().join()
    ada.request_reset()
    invite("bob@example.net")
    assert len(rows("member-tokens")) == 3
    later(hours=1)
    jobs.clean_up(_always)
    assert sorted(row["kind"]["S"][:6] for row in rows("member-tokens"))[1:] == ["verify"]
    later(days=7)
    jobs.clean_up(_always)
    assert rows("member-tokens") == []


@pytest.mark.parametrize("owner", [None, "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"])
def test_an_account_whose_address_is_gone_or_somebody_elses_can_be_left(person, rows, owner):
    """As after restoring one table and not the other."""
    from chalicelib.members.stores.emails import EmailRow

    ada = person().join()
    EmailRow(ada.email).delete()
    if owner:
        EmailRow(ada.email, member_id=owner).save()
    assert ada.delete().status == 204
    assert ada.me().status == 401
    assert [row["member_id"]["S"] for row in rows("member-emails")] == ([owner] if owner else [])


def test_one_account_that_cannot_be_cleaned_up_does_not_keep_the_others(person, later, forgotten, monkeypatch, rows):
    for name in "abc":
        person(f"{name}@example.net").join()
    gone = person("gone@example.net").join()
    assert gone.delete().status == 204
    received("members")
    later(days=31)
    first, real = next(members.list_due("verify", clock.now())), service.close_unverified

    def close(member_id):
        if member_id == first:
            raise ValueError("a row nobody can read")
        return real(member_id)

    monkeypatch.setattr(service, "close_unverified", close)
    with pytest.raises(Unfinished):
        jobs.clean_up(_always)
    assert len(rows("member-emails")) == 1
    assert len(forgotten) == 1
    assert rows("member-tokens") == []


def test_the_clean_up_of_sightings_runs_also_if_that_of_members_fails(aws, monkeypatch):
    import app
    from chalicelib.sightings import jobs as sightings_jobs
    from local.gateway import handlers

    ran, failed = [], []

    def fail(time_left):
        raise ValueError

    monkeypatch.setattr(handlers, "_report", lambda name, failure: failed.append((name, type(failure))))
    monkeypatch.setattr(jobs, "clean_up", fail)
    monkeypatch.setattr(sightings_jobs, "clean_up", lambda time_left: ran.append("sightings"))
    (schedule,) = (one for one in handlers.schedules(app.app) if one.name == "clean_up_members")
    schedule.handle()
    assert ran == ["sightings"]
    assert failed == [("clean_up_members", Unfinished)]


def test_nothing_can_be_counted_for_somebody_who_left(person, rows):
    from chalicelib.kernel.aws import tables
    from chalicelib.kernel.aws.failures import Stale

    ada = person().join()
    id = _row(rows)["id"]["S"]
    tables.transact(service.count_write(id, sightings=2, shared=1))
    tables.transact(service.count_write(id, sightings=-1))
    tables.transact(service.count_write(id))
    member = service.find(id)
    assert (member.sightings, member.shared) == (1, 1)
    ada.delete()
    for counts in ({"sightings": 1}, {"shared": -1}, {}):
        with pytest.raises(Stale):
            tables.transact(service.count_write(id, **counts))
    assert service.find(id) is None
