"""Held means held: confirmations beyond the limits of an hour are mailed in the following hours, in order."""

import pytest

from chalicelib.audience import held, jobs
from tests.rooms.audience.conftest import ADMIN


def test_what_is_beyond_the_limit_is_mailed_in_the_following_hours_in_order(
    sign_up, release, mailed, configure, still, later
):
    configure(MAILS_PER_HOUR="3")
    for number in range(8):
        sign_up(f"r{number}", network=number)
        later(milliseconds=5)
    assert mailed() == ["r0", "r1", "r2"]
    assert held.count() == 5
    release()
    assert mailed() == [], "this hour is used up"
    for expected in (["r3", "r4", "r5"], ["r6", "r7"], []):
        later(hours=1)
        release()
        release()
        assert mailed() == expected
    assert held.count() == 0


def test_a_newer_sign_up_waits_behind_older_ones_and_not_for_longer(
    sign_up, release, mailed, configure, still, later
):
    configure(MAILS_PER_HOUR="2")
    for number in range(4):
        sign_up(f"r{number}", network=number)
        later(milliseconds=5)
    mailed()
    later(hours=1)
    sign_up("late", network=9)
    assert mailed() == [], "the two before it come first"
    release()
    assert mailed() == ["r2", "r3"]
    later(hours=1)
    release()
    assert mailed() == ["late"]
    sign_up("after", network=10)
    assert mailed() == ["after"], "nobody waits any more"


def test_one_network_has_a_tenth_and_does_not_delay_the_others(sign_up, release, mailed, configure, still, later):
    configure(MAILS_PER_HOUR="20")
    for number in range(6):
        sign_up(f"flood{number}", network=7, client=number + 1)
        later(milliseconds=5)
    assert mailed() == ["flood0", "flood1"]
    sign_up("neighbour", network=8)
    assert mailed() == ["neighbour"]
    release()
    assert mailed() == []
    sign_up("another", network=9)
    assert mailed() == ["another"], "somebody from elsewhere is not held, with or without a release in between"
    later(hours=1)
    release()
    assert mailed() == ["flood2", "flood3"]
    sign_up("flood6", network=7, client=77)
    assert mailed() == [], "behind the held ones of its own network"
    later(hours=1)
    release()
    assert mailed() == ["flood4", "flood5"]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("198.51.100.1", "198.51.100.250", True),
        ("198.51.100.1", "198.51.101.1", False),
        ("2001:db8:1:1::1", "2001:db8:1:ffff::1", True),
        ("2001:db8:1::1", "2001:db8:2::1", False),
        ("127.0.0.1", "127.0.0.1", False),
        ("::1", "::1", False),
    ],
)
def test_what_one_network_is(http, deliver, mailed, configure, still, first, second, same):
    configure(MAILS_PER_HOUR="5")
    for name, ip in (("r0", first), ("r1", second)):
        http.post("/api/subscribe", json={"email": f"{name}@example.net"}, source_ip=ip)
        deliver()
    assert mailed() == (["r0"] if same else ["r0", "r1"])


def test_the_operator_is_told_once_and_truly(sign_up, configure, ses, still):
    configure(MAILS_PER_HOUR="1")
    for number in range(4):
        sign_up(f"r{number}", network=number)
    (notice,) = ses.mails(to=ADMIN)
    assert "held, and sent in the following hours, in order" in notice["text"]


def test_a_held_sign_up_does_not_expire_and_its_day_begins_with_the_mail(
    reader, sign_up, release, configure, rows, still, later
):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    later(hours=23)
    sign_up("other", network=3)
    later(days=9)
    jobs.clean_up(lambda: True)
    assert "ada@example.net" in {row["email"]["S"] for row in rows("subscribers")}
    release()
    ada = reader()
    assert len(ada.mails()) == 1
    later(hours=23)
    jobs.clean_up(lambda: True)
    assert ada.confirm().status == 303
    (capture,) = [row for row in rows("captures") if row["status"]["S"] == "CONFIRMED"]
    assert "waits_until" not in capture


def test_once_mailed_it_expires_like_any_other(sign_up, release, configure, rows, still, later):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2)
    later(hours=1)
    release()
    release()
    later(hours=24, seconds=1)
    jobs.clean_up(lambda: True)
    assert rows("subscribers") == rows("emails") == rows("tokens") == []
    assert {row["status"]["S"] for row in rows("captures")} == {"EXPIRED"}


def test_editors_see_that_a_confirmation_is_held(admin, sign_up, configure, rows, still):
    configure(MAILS_PER_HOUR="1")
    sign_up("first", network=1)
    sign_up("ada", network=2, source="blog")
    (row,) = [row for row in rows("subscribers") if row["email"]["S"] == "ada@example.net"]
    detail = admin.get(f"/admin/api/subscribers/{row['id']['S']}").json
    assert detail["confirmation_expires_at"] is None
    assert detail["captures"][0]["waits_for_confirmation"]["expires_at"] is None
    page = admin.get(f"/admin/subscribers/{row['id']['S']}").text
    assert "this one is held and sent in turn" in page
    assert "confirmation email held" in page
    assert "9999-12" not in page
