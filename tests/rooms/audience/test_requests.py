"""Each sign-up waits as a request of its own: the link mailed for it confirms it and nothing else, or it expires."""

import json

import pytest

from chalicelib.audience import jobs, model, service
from chalicelib.kernel.aws import tables
from tests.conftest import received


@pytest.fixture
def announced(rows):
    """Type and source of every event, oldest first."""

    def events():
        found = sorted(rows("events"), key=lambda row: row["id"]["S"])
        return [(row["type"]["S"], json.loads(row["payload"]["S"])["source"]) for row in found]

    return events


def _clean_up():
    jobs.clean_up(lambda: True)


def _captures(rows):
    return {row["source"]["S"]: row for row in rows("captures")}


def _statuses(rows):
    return {source: row["status"]["S"] for source, row in _captures(rows).items()}


def _tags(rows):
    (row,) = rows("subscribers")
    return sorted(row["tags"]["SS"]) if "tags" in row else []


def test_a_link_confirms_the_sign_up_it_was_mailed_for_and_nothing_else(reader, rows):
    ada = reader()
    ada.subscribe(source="blog", tags=["evil"], metadata={"aim": "here"})
    ada.subscribe(source="podcast", tags=["audio"])
    assert ada.confirm().status == 303
    assert _statuses(rows) == {"blog": "PENDING", "podcast": "CONFIRMED"}
    (row,) = rows("subscribers")
    assert (row["sources"]["SS"], row["tags"]["SS"]) == (["podcast"], ["audio"])


def test_a_source_nobody_confirmed_is_not_confirmed_by_another_link_later(reader, rows):
    ada = reader().join(source="blog")
    ada.subscribe(source="strange", tags=["evil"])
    ada.subscribe(source="podcast", tags=["audio"])
    assert ada.confirm().status == 303
    assert _statuses(rows) == {"blog": "CONFIRMED", "podcast": "CONFIRMED", "strange": "PENDING"}
    assert _tags(rows) == ["audio"]


@pytest.mark.parametrize("active", [False, True])
def test_a_newer_link_replaces_the_older_one(reader, rows, active):
    ada = reader().join(source="first") if active else reader()
    ada.subscribe(source="blog")
    older = ada.link()
    ada.subscribe(source="podcast")
    assert ada.http.get(older).status == 400
    assert ada.confirm().status == 303
    assert "blog" not in rows("subscribers")[0]["sources"]["SS"]


def test_the_first_nickname_stays(reader, rows):
    ada = reader()
    ada.subscribe(nickname="Ada", source="blog")
    ada.subscribe(nickname="Idiot", source="podcast")
    assert rows("subscribers")[0]["nickname"]["S"] == "Ada"
    ada.confirm()
    assert rows("subscribers")[0]["nickname"]["S"] == "Ada"


def test_a_name_given_later_comes_with_the_request_that_is_confirmed(reader, rows):
    ada = reader()
    ada.subscribe(source="blog")
    ada.subscribe(source="podcast", nickname="Ada")
    assert "nickname" not in rows("subscribers")[0]
    ada.confirm()
    assert rows("subscribers")[0]["nickname"]["S"] == "Ada"
    ada.subscribe(source="shop", nickname="Idiot")
    ada.confirm()
    assert rows("subscribers")[0]["nickname"]["S"] == "Ada"


def test_a_sign_up_that_says_nothing_new_mails_the_newest_link_again(reader, rows):
    ada = reader()
    ada.subscribe(source="blog", tags=["x"])
    ada.subscribe()
    assert len(ada.mails()) == 2
    assert ada.confirm().status == 303
    assert _statuses(rows) == {"blog": "CONFIRMED"}
    assert _tags(rows) == ["x"]


def test_new_tags_of_a_known_source_wait_and_what_was_confirmed_stays(reader, rows):
    ada = reader().join(source="blog", tags=["a"], metadata={"plan": "free"})
    ada.subscribe(source="blog", tags=["b"], metadata={"plan": "stolen"})
    capture = _captures(rows)["blog"]
    assert (capture["status"]["S"], capture["tags"]["SS"]) == ("CONFIRMED", ["a"])
    assert json.loads(capture["metadata"]["S"]) == {"plan": "free"}
    assert _tags(rows) == ["a"]
    assert ada.confirm().headers["Location"] == "https://news.example.org/confirmed?added=true"
    assert _tags(rows) == ["a", "b"]
    assert json.loads(_captures(rows)["blog"]["metadata"]["S"]) == {"plan": "stolen"}


@pytest.mark.parametrize("again", [{"source": "blog"}, {"source": "BLOG", "tags": ["a"]}, {}, {"tags": ["A"]}])
def test_an_active_reader_who_says_nothing_new_gets_no_mail_and_nothing_is_stored(reader, rows, again):
    ada = reader().join(source="blog", tags=["a"])
    before = rows("captures"), rows("subscribers")
    ada.subscribe(**again, metadata={"page": "/other"})
    assert (rows("captures"), rows("subscribers")) == before
    assert len(ada.mails()) == 1
    assert [row["kind"]["S"] for row in rows("tokens")] == ["confirm"]


def test_an_idle_sign_up_does_not_mail_what_a_stranger_requested(reader, rows):
    ada = reader().join(source="blog")
    ada.subscribe(source="strange")
    assert len(ada.mails()) == 2
    ada.subscribe(source="blog")
    assert len(ada.mails()) == 2


def test_the_mail_for_an_addition_says_what_it_is_about_and_the_page_too(reader):
    ada = reader().join(source="blog")
    ada.subscribe(source="podcast<b>", tags=["audio"])
    mail = ada.mails()[0]
    assert mail["subject"] == "Please confirm an addition to your subscription to The Daily Test"
    for part in (" ".join(mail["text"].split()), mail["html"]):
        assert "You already receive" in part
        assert "nothing changes, and you keep receiving The Daily Test as before" in part
        assert "will not hear from us again" not in part
        assert "podcast" not in part
        assert "audio" not in part
    link = ada.link()
    for _ in range(2):  # people click twice
        page = ada.http.get(ada.http.get(link).headers["Location"].removeprefix("https://news.example.org"))
        assert "it has been added" in page.text
        assert "Welcome" not in page.text


def test_a_link_outlives_a_newer_request_that_was_never_mailed(reader, rows, http):
    """Otherwise a stranger could use up the mails to an address and so void the link its owner has."""
    ada = reader()
    ada.subscribe(source="blog", tags=["a"])
    for number in range(6):
        body = {"email": ada.email, "source": "blog", "tags": [f"evil{number}"]}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        ada.deliver()
    assert len(ada.mails()) == 5
    assert ada.confirm().status == 303
    assert _tags(rows) == ["evil3"]
    waiting = service.list_captures(rows("subscribers")[0]["id"]["S"])[0].request
    assert waiting
    assert waiting.capture.tags == {"evil5"}


def test_one_request_expires_alone(reader, rows, later, announced):
    ada = reader()
    ada.subscribe(source="blog", tags=["x"], metadata={"a": "b"})
    later(hours=20)
    ada.subscribe(source="podcast, too")
    later(hours=5)
    _clean_up()
    capture = _captures(rows)["blog"]
    assert capture["status"]["S"] == "EXPIRED"
    assert set(capture) == {"subscriber_id", "source", "status", "created_at", "updated_at", "expires_at"}
    assert ada.confirm().status == 303
    assert rows("subscribers")[0]["sources"]["SS"] == ["podcast, too"]
    assert announced() == [
        ("SUBSCRIPTION_CREATED", "blog"),
        ("SUBSCRIPTION_CREATED", "podcast, too"),
        ("SUBSCRIPTION_EXPIRED", "blog"),
        ("SUBSCRIPTION_CONFIRMED", "podcast, too"),
    ]


def test_a_request_of_an_active_reader_expires_and_its_link_with_it(reader, rows, later, announced):
    ada = reader().join(source="blog")
    ada.subscribe(source="podcast", tags=["audio"])
    link = ada.link()
    later(hours=24, seconds=1)
    _clean_up()
    _clean_up()
    assert _statuses(rows) == {"blog": "CONFIRMED", "podcast": "EXPIRED"}
    assert "asked_sources" not in rows("subscribers")[0]
    assert ada.http.get(link).status == 400
    assert announced()[2:] == [("SUBSCRIPTION_CREATED", "podcast"), ("SUBSCRIPTION_EXPIRED", "podcast")]


def test_only_the_waiting_part_of_a_confirmed_source_expires_without_an_event(reader, rows, later, announced):
    ada = reader().join(source="blog", tags=["a"])
    before = announced()
    ada.subscribe(source="blog", tags=["b"])
    later(hours=24, seconds=1)
    _clean_up()
    capture = _captures(rows)["blog"]
    assert (capture["status"]["S"], capture["tags"]["SS"]) == ("CONFIRMED", ["a"])
    assert not {"request", "request_id", "waits_until", "expires_at"} & set(capture)
    assert announced() == before


def test_a_source_that_expired_can_be_requested_again(reader, rows, later, announced):
    ada = reader().join(source="blog")
    ada.subscribe(source="podcast")
    later(hours=25)
    _clean_up()
    ada.subscribe(source="podcast")
    capture = _captures(rows)["podcast"]
    assert capture["status"]["S"] == "PENDING"
    assert "expires_at" not in capture, "or the table would delete what is confirmed below"
    ada.confirm()
    assert "expires_at" not in _captures(rows)["podcast"]
    assert rows("subscribers")[0]["sources"]["SS"] == ["blog", "podcast"]
    assert announced()[-3:] == [(f"SUBSCRIPTION_{what}", "podcast") for what in ("EXPIRED", "CREATED", "CONFIRMED")]


def test_an_expired_sign_up_has_one_event_for_each_source(reader, rows, later, announced):
    ada = reader()
    for source in ("a, b", "c"):
        ada.subscribe(source=source)
    later(hours=25)
    _clean_up()
    assert rows("subscribers") == []
    assert announced()[2:] == [("SUBSCRIPTION_EXPIRED", "a, b"), ("SUBSCRIPTION_EXPIRED", "c")]


def test_a_sign_up_with_as_many_sources_as_allowed_expires_in_one_transaction(reader, rows, later, deliver, http):
    for number in range(model.MOST_SOURCES):
        body = {"email": "ada@example.net", "source": f"s{number}"}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        deliver()
    later(hours=25)
    _clean_up()
    assert rows("subscribers") == []
    assert len(rows("captures")) == model.MOST_SOURCES


def test_a_request_whose_reader_is_gone_expires_too(reader, rows, later):
    """DynamoDB's TTL may remove the row of a pending reader before the clean-up comes."""
    reader().subscribe(source="blog", tags=["x"])
    (row,) = rows("subscribers")
    from chalicelib.audience.stores.subscribers import SubscriberRow

    tables.delete(SubscriberRow(row["id"]["S"]))
    later(hours=25)
    _clean_up()
    assert _statuses(rows) == {"blog": "EXPIRED"}


def test_what_waits_is_erased_and_shown_in_the_download(reader, rows):
    ada = reader().join(source="blog")
    ada.subscribe(source="podcast", tags=["audio"], metadata={"k": "v"})
    blog, podcast = ada.stored()["captures"]
    assert blog["waits_for_confirmation"] is None
    assert podcast["status"] == "PENDING"
    assert podcast["waits_for_confirmation"]["tags"] == ["audio"]
    assert podcast["waits_for_confirmation"]["metadata"] == {"k": "v"}
    (row,) = rows("subscribers")
    ada.http.get(f"/api/unsubscribe?token={row['id']['S']}.{row['unsubscribe_secret']['S']}")
    assert rows("captures") == rows("tokens") == rows("subscribers") == []


def test_a_link_mailed_by_an_earlier_version_is_refused_and_signing_up_again_helps(reader, rows):
    from chalicelib.audience.stores.captures import CaptureRow
    from chalicelib.audience.stores.tokens import TokenRow

    ada = reader()
    ada.subscribe(source="blog", tags=["x"])
    (row,) = rows("subscribers")
    tables.update(TokenRow(row["id"]["S"], model.CONFIRM), [TokenRow.request.remove()])
    fields = (CaptureRow.request, CaptureRow.request_id, CaptureRow.waits_until)
    tables.update(CaptureRow(row["id"]["S"], "blog"), [field.remove() for field in fields])
    assert ada.confirm().status == 400
    ada.subscribe()
    assert ada.confirm().status == 303
    assert received("audience") == []
    assert rows("subscribers")[0]["status"]["S"] == "activated"
