"""The hourly clean-up, and what may stay stored about somebody who is gone."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.audience import jobs
from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received
from tests.rooms.audience.conftest import nobody_answers


def _always() -> bool:
    return True


def test_an_expired_sign_up_is_removed_and_only_an_id_is_left(reader, rows, later):
    reader().subscribe(nickname="Ada", source="blog", tags=["x"], metadata={"a": "b"})
    later(hours=24, seconds=1)
    jobs.clean_up(_always)
    assert rows("subscribers") == rows("emails") == rows("tokens") == []
    (capture,) = rows("captures")
    assert capture["status"]["S"] == "EXPIRED"
    assert set(capture) == {"subscriber_id", "source", "status", "created_at", "updated_at", "expires_at"}


def test_a_sign_up_whose_link_was_sent_again_lives_on(reader, rows, later):
    ada = reader()
    ada.subscribe()
    later(hours=20)
    ada.subscribe()
    later(hours=20)
    jobs.clean_up(_always)
    assert ada.confirm().status == 303


def test_an_active_reader_is_not_touched(reader, rows, later):
    reader().join()
    later(days=40)
    jobs.clean_up(_always)
    assert len(rows("subscribers")) == len(rows("emails")) == 1


def test_an_expired_address_change_is_cleared_and_the_reader_stays(reader, rows, later):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    later(hours=24, seconds=1)
    jobs.clean_up(_always)
    assert rows("tokens") == []
    assert "new@example.net" not in str([rows(table) for table in ("subscribers", "emails", "tokens")])
    assert len(rows("subscribers")) == 1


def test_an_expired_magic_link_is_cleared(reader, rows, later):
    ada = reader().join()
    ada.magic_token()
    later(minutes=16)
    jobs.clean_up(_always)
    assert [row["kind"]["S"] for row in rows("tokens")] == ["confirm"]


def test_counts_of_limits_are_deleted_when_their_window_has_ended(http, rows, monkeypatch):
    noon = datetime(2026, 11, 17, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: noon)
    http.post("/api/subscribe", json={"email": "ada@example.net"})
    http.post("/api/profile/request-link", json={"email": "ada@example.net"})
    left = []
    for passed in (timedelta(), timedelta(minutes=1), timedelta(hours=1)):
        monkeypatch.setattr(clock, "now", lambda passed=passed: noon + passed)
        jobs.clean_up(_always)
        left.append(len(rows("limits")))
    assert left == [3, 2, 0], "one count of a minute, and two of an hour"


def test_a_run_that_is_cut_short_is_finished_by_the_next(reader, rows, later, http, deliver):
    for number in range(4):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"}, source_ip=f"192.0.2.{number}")
    deliver()
    later(hours=25)
    answers = iter([True, True])
    jobs.clean_up(lambda: next(answers, False))
    assert len(rows("subscribers")) == 2
    jobs.clean_up(_always)
    assert rows("subscribers") == []
    jobs.clean_up(_always)


def test_a_newcomer_with_the_address_of_an_expired_sign_up_survives_its_clean_up(reader, rows, later):
    ada = reader()
    ada.subscribe()
    later(hours=25)
    ada.subscribe()
    assert len(rows("subscribers")) == 2
    jobs.clean_up(_always)
    assert len(rows("subscribers")) == 1
    assert ada.confirm().status == 303


@pytest.mark.parametrize("trouble", ["queues", "ses"])
def test_a_sign_up_the_queue_gave_up_is_queued_again_until_it_is_a_day_old(
    reader, http, ses, later, monkeypatch, trouble
):
    if trouble == "queues":
        with monkeypatch.context() as broken:
            broken.setattr(raw, "sqs", nobody_answers)
            assert http.post("/api/subscribe", json={"email": "ada@example.net"}).status == 503
    else:
        ses.tell(down=True)
        http.post("/api/subscribe", json={"email": "ada@example.net"})
        with pytest.raises(Unavailable):
            reader().deliver()
        ses.tell(down=False)
    jobs.clean_up(_always)
    assert received("audience") == [], "the queue may still be at it"
    later(minutes=20)
    jobs.clean_up(_always)
    reader().deliver()
    assert len(ses.mails(to="ada@example.net")) == 1
    assert reader().confirm().status == 303
    later(minutes=20)
    jobs.clean_up(_always)
    assert received("audience") == [], "once is enough"
