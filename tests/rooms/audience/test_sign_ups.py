"""Sign-ups between the request and the worker: what waits, what comes twice or late, and what is left of it."""

import pytest

from chalicelib.audience import jobs
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received
from tests.rooms.audience.conftest import nobody_answers


@pytest.mark.parametrize("known", [False, True])
def test_email_service_unavailable_the_request_succeeds_and_the_mail_is_tried_again(reader, http, ses, known):
    if known:
        reader().subscribe()
    ses.clear()
    ses.tell(down=True)
    assert http.post("/api/subscribe", json={"email": "ada@example.net"}).status == 201
    (message,) = received("audience")
    for _ in range(2):
        with pytest.raises(Unavailable):
            jobs.handle(message)
    ses.tell(down=False)
    jobs.handle(message)
    assert len(ses.mails(to="ada@example.net")) == 1
    jobs.handle(message)
    assert len(ses.mails(to="ada@example.net")) == 1, "a message that comes twice writes once"


def test_queues_unavailable_is_503_and_a_second_try_heals_it(http, monkeypatch, reader):
    with monkeypatch.context() as trouble:
        trouble.setattr(raw, "sqs", nobody_answers)
        answer = http.post("/api/subscribe", json={"email": "ada@example.net"})
    assert (answer.status, answer.json) == (503, {"error": "Service unavailable"})
    assert int(answer.headers["Retry-After"]) > 0
    reader().join()


def test_a_sign_up_nobody_processed_is_gone_after_a_day(http, monkeypatch, rows, later):
    monkeypatch.setattr(raw, "sqs", nobody_answers)
    http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": "Ada"})
    assert "ada@example.net" in str(rows("tokens"))
    later(hours=24, seconds=1)
    jobs.clean_up(lambda: True)
    assert rows("tokens") == []


def test_what_is_queued_names_nobody_and_what_waits_is_gone_once_it_is_processed(http, rows, ses):
    http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": "Ada", "metadata": {"k": "secret"}})
    (message,) = received("audience")
    assert set(message) == {"kind", "pseudonym"}
    assert "ada@" not in str(message)
    jobs.handle(message)
    assert [row["kind"]["S"] for row in rows("tokens")] == ["confirm"]


def test_several_sign_ups_before_the_worker_comes_make_one_reader_with_a_request_for_each_source(reader, http, rows):
    for number, source in enumerate(("blog", "podcast", "shop")):
        body = {"email": "ada@example.net", "nickname": f"Ada {number}", "source": source}
        assert http.post("/api/subscribe", json=body).status == 201
    ada = reader()
    ada.deliver()
    (row,) = rows("subscribers")
    assert (row["nickname"]["S"], sorted(row["asked_sources"]["SS"])) == ("Ada 0", ["blog", "podcast", "shop"])
    assert len(ada.mails()) == 1
    assert ada.confirm().status == 303
    assert rows("subscribers")[0]["sources"]["SS"] == ["shop"]


def test_more_sign_ups_than_anybody_makes_are_still_answered(reader, http, rows):
    for number in range(25):
        largest = {"metadata": {"x": [1] * 5000, "n": number}, "tags": [f"{n:02}{'🙂' * 62}" for n in range(20)]}
        body = {"email": "ada@example.net", "nickname": "🙂" * 50, **largest}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
    (row,) = rows("tokens")
    assert len(row["said"]["SS"]) == 20
    reader().deliver()
    assert reader().confirm().status == 303


def test_a_sign_up_that_waits_when_its_owner_leaves_goes_with_them(reader, http, rows):
    """A message may come minutes late: it must not bring back somebody who has left since."""
    ada = reader().join()
    http.post("/api/subscribe", json={"email": "ada@example.net", "source": "podcast"})
    (late,) = received("audience")
    (row,) = rows("subscribers")
    assert http.get(f"/api/unsubscribe?token={row['id']['S']}.{row['unsubscribe_secret']['S']}").status == 200
    jobs.handle(late)
    assert rows("subscribers") == rows("emails") == rows("tokens") == rows("captures") == []
    assert len(ada.mails()) == 1


def test_nothing_is_kept_of_a_sign_up_whose_owner_wants_no_mail(reader, rows):
    ada = reader().join()
    ada.http.post("/profile/never", form={"token": ada.magic_token()})
    assert ada.subscribe(nickname="Ada").status == 201
    assert rows("subscribers") == rows("emails") == rows("tokens") == rows("captures") == []
