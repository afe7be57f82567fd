"""The download: all that is stored about a member, as JSON."""

from urllib.parse import urlsplit

import boto3
import pytest

from chalicelib.members import download, member_data


@pytest.fixture
def things(monkeypatch):
    """What another room has; it is asked once, and hands out one thing at a time."""
    found: list = []
    monkeypatch.setattr(member_data, "about", lambda member_id: iter([("sightings", iter(found))]))
    return found


def test_the_download_is_json_with_account_sessions_and_what_other_rooms_have(person, things):
    ada = person().join_verified()
    ada.elsewhere().sign_in()
    things += [{"animal_name": "Füchsin 🦊"}, {"animal_name": '"quoted"'}]
    answer = ada.send("GET", "/api/auth/me/data")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="my-data.json"'
    assert answer.headers["Cache-Control"] == "no-store"
    data = answer.json
    assert list(data) == ["account", "sessions", "sightings"]
    verified_at = data["account"].pop("verified_at")
    assert abs(verified_at - data["account"]["created_at"]) < 60
    assert data["account"] == {**ada.me().json, "sightings": 0, "shared": 0}
    assert len(data["sessions"]) == 2
    assert all(each["expires_at"] - each["created_at"] == 604_800 for each in data["sessions"])
    assert data["sightings"] == things


def test_a_large_download_is_streamed_and_fetched_by_a_link(person, things, configure, monkeypatch):
    region = boto3.session.Session().region_name
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="downloads", CreateBucketConfiguration={"LocationConstraint": region})
    configure(DOWNLOADS_BUCKET="downloads")
    ada = person().join()
    things += [{"animal_name": "ü" * 100}] * 6000
    answer = ada.send("GET", "/api/auth/me/data")
    assert (answer.status, answer.body) == (303, b"")
    link = urlsplit(answer.headers["Location"])
    stored = s3.get_object(Bucket="downloads", Key=link.path.rpartition("/")[2])
    import json

    assert len(json.loads(stored["Body"].read())["sightings"]) == 6000


def test_a_download_of_nearly_the_limit_is_answered_at_once(person, things):
    ada = person().join()
    things += [{"animal_name": "x" * 979}] * 999
    answer = ada.send("GET", "/api/auth/me/data")
    assert answer.status == 200
    assert 990_000 < len(answer.body) <= download._LARGEST_ANSWER
