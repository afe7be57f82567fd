"""Sessions: their cookie, their seven days, and everything that ends them."""

import pytest

from chalicelib.members import sessions
from tests.rooms.members.person import OTHER, PASSWORD

REQUIRED = {"error": "Authentication required"}


def test_the_cookie_on_https(person):
    set_cookie = person().sign_up().headers["Set-Cookie"]
    pair, *attributes = set_cookie.split("; ")
    assert pair.startswith("__Host-session=")
    assert len(pair.partition(".")[2]) == 43
    assert sorted(attributes) == ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax", "Secure"]


def test_the_cookie_on_plain_http(person, configure):
    configure(SITE_URL="http://127.0.0.1:8000")
    ada = person()
    pair, *attributes = ada.sign_up().headers["Set-Cookie"].split("; ")
    assert pair.startswith("session=")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax"]
    assert ada.me().status == 200
    assert ada.sign_out().headers["Set-Cookie"] == "session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"


def test_only_a_hash_of_the_secret_is_stored(person, rows):
    ada = person().join()
    id, _, secret = ada.cookie.partition("=")[2].partition(".")
    (row,) = rows("sessions")
    assert row["member_id"]["S"].replace("-", "") == id
    assert len(row["hash"]["S"]) == 64
    assert secret not in str(row)
    assert int(row["expires_at"]["N"])


def test_a_session_lasts_seven_days_by_the_clock_and_does_not_slide(person, later, rows):
    ada = person().join()
    later(days=6, hours=23, minutes=59)
    assert ada.me().status == 200
    later(minutes=2)
    assert len(rows("sessions")) == 1  # the table has not expired it yet
    answer = ada.me()
    assert (answer.status, answer.json) == (401, REQUIRED)


def test_using_a_session_sets_no_cookie(person):
    ada = person().join()
    assert ada.me().headers["Set-Cookie"] is None


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", ".", "a" * 32 + "." + "b" * 43, "0193a5c411f07a6b8c012d3e4f506172." + "b" * 43),
        *("0193a5c411f07a6b8c012d3e4f506172", "0193A5C411F07A6B8C012D3E4F506172." + "b" * 43, "\x00", "é" * 76),
    ],
)
def test_what_is_no_session_signs_nobody_in(http, value):
    answer = http.get("/api/auth/me", Cookie=f"__Host-session={value}")
    assert (answer.status, answer.json) == (401, REQUIRED)


def test_another_members_secret_signs_nobody_in(person):
    ada, bob = person().join(), person("bob@example.net").join()
    ada.cookie = ada.cookie.partition(".")[0] + "." + bob.cookie.partition(".")[2]
    assert ada.me().status == 401


def test_a_check_of_a_session_is_one_request(person, calls):
    ada = person().join()
    calls.clear()
    assert ada.me().status == 200
    assert calls == ["TransactGetItems"]
    calls.clear()
    assert person().me().status == 401
    assert calls == []


def test_signing_out_ends_the_session_at_once_and_no_other(person, rows):
    ada = person().join()
    device = ada.elsewhere()
    device.sign_in()
    cookie = ada.cookie
    answer = ada.sign_out()
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Set-Cookie"].startswith("__Host-session=; Max-Age=0; Path=/; ")
    assert ada.send("GET", "/api/auth/me", Cookie=cookie).status == 401
    assert device.me().status == 200
    assert len(rows("sessions")) == 1


def test_signing_out_without_a_session_or_twice_is_no_mistake(person):
    ada = person().join()
    cookie = ada.cookie
    assert [ada.sign_out().status, ada.sign_out().status] == [204, 204]
    assert ada.send("POST", "/api/auth/signout", Cookie=cookie).status == 204
    assert ada.send("POST", "/api/auth/signout", Cookie="__Host-session=rubbish").status == 204


def test_a_new_password_ends_the_other_sessions_and_renews_this_one(person, rows):
    ada = person().join()
    device = ada.elsewhere()
    device.sign_in()
    answer = ada.change()
    assert answer.status == 200
    assert answer.json["email"] == ada.email
    assert answer.headers["Set-Cookie"].partition("; ")[2].startswith("Max-Age=604800; ")
    assert ada.me().status == 200
    assert device.me().status == 401
    assert len(rows("sessions")) == 2  # the new one, and the other device's, which is worth nothing
    assert device.sign_in(PASSWORD).status == 401
    assert device.sign_in(OTHER).status == 200
    assert [ada.me().status, device.me().status] == [200, 200]


def test_a_copy_of_the_cookie_is_dead_once_the_password_is_changed(person):
    ada = person().join()
    thief = ada.elsewhere()
    thief.cookie = ada.cookie
    assert thief.me().status == 200
    assert ada.change().status == 200
    assert thief.me().status == 401
    assert thief.send("GET", "/account").headers["Location"].startswith("/sign-in")
    assert ada.me().status == 200


def test_the_session_of_a_new_password_has_seven_days_of_its_own(person, later):
    ada = person().join()
    later(days=6)
    assert ada.change().status == 200
    later(days=6, hours=23)
    assert ada.me().status == 200
    later(hours=2)
    assert ada.me().status == 401


def test_a_session_that_was_signed_out_meanwhile_is_not_renewed(person, monkeypatch):
    from chalicelib.members import passwords

    ada = person().join()
    device = ada.elsewhere()
    device.cookie = ada.cookie
    real = passwords.matches

    def first(password, stored):
        monkeypatch.setattr(passwords, "matches", real)
        assert device.sign_out().status == 204
        return real(password, stored)

    monkeypatch.setattr(passwords, "matches", first)
    answer = ada.change()
    assert (answer.status, answer.json) == (401, REQUIRED)
    assert answer.headers["Set-Cookie"] is None
    assert ada.sign_in(PASSWORD).status == 200


@pytest.mark.parametrize("again", ["/api/auth/signin", "/sign-in", "/api/auth/signup", "/join"])
def test_signing_in_ends_the_session_the_browser_had(person, rows, again):
    """Also somebody else's: its cookie is overwritten, so nobody could ever sign it out."""
    bob, ada = person("bob@example.net").join(), person().join()
    old = ada.cookie
    ada.cookie = bob.cookie
    fields = {"email": ada.email, "password": PASSWORD}
    if again in ("/api/auth/signup", "/join"):
        fields |= {"email": "new@example.net", "password_confirm": PASSWORD}
    kind = "json" if "api" in again else "form"
    answer = ada.send("POST", again, **{kind: fields}, Origin="https://news.example.org")
    assert answer.headers["Set-Cookie"]
    assert ada.me().status == 200
    assert bob.me().status == 401
    assert ada.send("GET", "/api/auth/me", Cookie=old).status == 200  # not presented
    assert len(rows("sessions")) == 2


def test_a_failed_sign_in_ends_nothing(person):
    ada = person().join()
    assert ada.sign_in(OTHER).status == 401
    assert ada.me().status == 200


@pytest.mark.parametrize("current", [None, "", OTHER, PASSWORD + " ", "x" * 100])
def test_a_wrong_current_password_changes_nothing(person, current):
    ada = person().join()
    answer = ada.change(current)
    assert (answer.status, answer.json) == (401, {"error": "Wrong password"})
    assert ada.me().status == 200
    assert ada.sign_in().status == 200


@pytest.mark.parametrize(
    ("current", "password", "confirm", "reason"),
    [
        (PASSWORD, "weak", "weak", "Password must be 8+ chars with uppercase, number, special char"),
        (PASSWORD, None, None, "Password must be 8+ chars with uppercase, number, special char"),
        (PASSWORD, "Aa1!" + "é" * 35, "", "Password too long (max 72 bytes)"),
        (PASSWORD, OTHER, PASSWORD, "Passwords do not match"),
        ("wrong", OTHER, PASSWORD, "Passwords do not match"),
        (5, OTHER, OTHER, "current_password must be text"),
    ],
)
def test_a_new_password_is_checked_as_at_sign_up_before_the_current_one(person, current, password, confirm, reason):
    answer = person().join().change(current, password, confirm)
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_a_password_change_that_loses_against_another_is_refused(person, monkeypatch):
    """Both know the old password; the second must not overwrite what the first has set."""
    from chalicelib.members import passwords

    ada = person().join()
    device = ada.elsewhere()
    device.sign_in()
    real = passwords.matches

    def first(password, stored):
        monkeypatch.setattr(passwords, "matches", real)
        found = real(password, stored)
        assert device.change(password="First-1 password", confirm="First-1 password").status == 200
        return found

    monkeypatch.setattr(passwords, "matches", first)
    answer = ada.change()
    assert (answer.status, answer.json) == (401, REQUIRED)
    assert ada.me().status == 401
    assert device.me().status == 200


def test_sessions_of_an_account_are_listed_while_they_last(person, later):
    from chalicelib.members import service

    ada = person().join()
    later(days=4)
    ada.elsewhere().sign_in()
    member = service.find(sessions.find(ada.cookie.partition("=")[2]).id)
    assert len(sessions.list_open(member)) == 2
    later(days=4)
    assert len(sessions.list_open(member)) == 1
