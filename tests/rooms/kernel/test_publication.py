"""How long a process works with what it has read of the publication, and what it does when it cannot read it."""

import json
from datetime import timedelta

import pytest

from chalicelib.kernel import clock, publication, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Unavailable
from tests.conftest import _client


@pytest.fixture
def later(monkeypatch):
    moment = [clock.now()]
    monkeypatch.setattr(clock, "now", lambda: moment[0])

    def move(**by):
        moment[0] += timedelta(**by)

    return move


@pytest.fixture
def reads(monkeypatch):
    """The operations on tables that were asked for."""
    real, made = raw.dynamodb, []
    monkeypatch.setattr(raw, "dynamodb", lambda *asked: made.append(asked[0]) or real(*asked))
    return made


def store(version, **overrides):
    """As another process changes it."""
    item = {
        "id": {"S": "publication"},
        "number": {"N": "0"},
        "version": {"N": str(version)},
        "overrides": {"S": json.dumps(overrides)},
    }
    _client("dynamodb").put_item(TableName="gna-test-site", Item=item)


def test_nothing_changed_is_what_the_environment_says(http):
    shown = publication.current()
    assert shown == publication.from_settings(settings.current())
    assert (shown.name, shown.time_zone, shown.version) == ("The Daily Test", "UTC", 0)


def test_what_is_stored_wins_field_by_field(http):
    store(3, name="Other", colours={"accent": "#112233"}, feed={"mode": "review"})
    shown = publication.current()
    assert (shown.name, shown.colours.accent, shown.feed.mode, shown.version) == ("Other", "#112233", "review", 3)
    assert (shown.language, shown.feed.images) == ("en", "copy")


def test_fields_of_a_newer_version_are_passed_over(http):
    store(1, name="Other", motto="new", feed={"mode": "review", "colour": "new"})
    assert publication.current().name == "Other"


def test_a_change_elsewhere_is_seen_within_half_a_minute(http, later, reads):
    assert publication.current().name == "The Daily Test"
    store(1, name="Other")
    later(seconds=29)
    assert publication.current().name == "The Daily Test"
    assert reads == ["GetItem"]
    later(seconds=2)
    assert publication.current().name == "Other"


def test_while_the_database_is_down_the_last_known_name_is_used(http, later, monkeypatch):
    store(1, name="Other")
    assert publication.current().name == "Other"

    def fail(*_):
        raise Unavailable

    monkeypatch.setattr(raw, "dynamodb", fail)
    later(hours=2)
    assert publication.current().name == "Other"


def test_a_process_that_never_read_it_makes_no_mail_but_shows_pages(http, later, monkeypatch):
    asked = []

    def fail(*_):
        asked.append(1)
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(raw, "dynamodb", fail)
        with pytest.raises(Unavailable):
            publication.current()
        assert publication.at_hand().name == "The Daily Test"
        assert http.get("/subscribe").status == 200
        assert len(asked) == 1
    store(1, name="Other")
    later(seconds=6)
    assert publication.current().name == "Other"


def test_calls_without_pages_or_mails_do_not_read_it(http, reads):
    assert http.get("/health").status == 200
    assert http.post("/api/subscribe", json={"email": "ada@example.com"}, Origin="https://blog.example.org").status
    assert reads == []


def test_a_page_reads_it_once(http, reads):
    assert http.get("/subscribe").status == 200
    assert http.get("/subscribe").status == 200
    assert reads == ["GetItem"]


def test_a_colour_is_kept_for_a_year_only_under_its_own_name(http, later):
    named = (
        http.get("/subscribe").text.partition('rel="stylesheet" href="https://news.example.org')[2].partition('"')[0]
    )
    assert "max-age=31536000" in http.get(named).headers["Cache-Control"]
    store(1, colours={"accent": "#aa0000"})
    later(seconds=31)
    other = (
        http.get("/subscribe").text.partition('rel="stylesheet" href="https://news.example.org')[2].partition('"')[0]
    )
    assert other != named
    assert "max-age=31536000" in http.get(other).headers["Cache-Control"]
    assert http.get(named).headers["Cache-Control"] == "public, max-age=30"
