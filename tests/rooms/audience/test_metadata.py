"""Metadata comes from strangers too: it stays small and shallow, and so does what a reader downloads."""

import json
from itertools import count

import pytest

from chalicelib.audience import model
from chalicelib.audience.stores import captures
from chalicelib.kernel.errors import Invalid

MEGABYTE = 1_000_000


def _nested(levels, opening, closing):
    """As JSON text, because Python could not encode the deeper ones. The object around it is a level too."""
    return '{"x":' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}"


def test_metadata_is_at_most_eight_levels_deep():
    for opening, closing in (("[", "]"), ('{"y":', "}")):
        fits, deeper = (json.loads(_nested(levels, opening, closing)) for levels in (8, 9))
        assert model.parse_capture(None, None, fits, None).metadata == fits
        with pytest.raises(Invalid, match="at most 8 levels deep"):
            model.parse_capture(None, None, deeper, None)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"y":', "}"), ('["\\ud83d\\ude00",', "]")])
@pytest.mark.parametrize("field", ["metadata", "tags", "source", "email", "nickname", "elapsed", "website", "more"])
def test_no_depth_of_nesting_in_any_field_is_a_crash(http, field, opening, closing):
    addresses = (f"203.0.113.{number}" for number in count(1))
    for levels in (2, 9, 200, 900, 940, 960, 970, 980, 990, 1000, 5000, 10_000):
        text = f'{{"email":"ada@example.net","{field}":{_nested(levels, opening, closing)}}}'
        headers = {"Content-Type": "application/json"}
        for path in ("/api/subscribe", "/api/profile/update"):
            answer = http.post(path, body=text, headers=headers, source_ip=next(addresses))
            assert answer.status < 500, (path, levels)


def test_the_metadata_of_all_sources_of_a_person_has_a_limit(reader, http, rows, monkeypatch):
    monkeypatch.setattr(model, "MOST_METADATA_BYTES_IN_ALL", 300)
    ada = reader()
    for number, size in enumerate((90, 90, 90, 90, 10)):
        body = {"email": ada.email, "source": f"s{number}", "metadata": {"x": "é" * (size // 2)}}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        ada.deliver()
    assert sorted(row["source"]["S"] for row in rows("captures")) == ["s0", "s1", "s2"]
    ada.subscribe(source="s3")
    ada.subscribe(source="s0", metadata={"x": "z" * 80})
    stored = captures.list_stored(rows("subscribers")[0]["id"]["S"])
    waiting = {found.source: found.request.capture.metadata for found in stored}
    assert sorted(waiting) == ["s0", "s1", "s2", "s3"]
    assert waiting["s0"] == {"x": "z" * 80}, "replacing its own metadata does not count twice"


def test_confirmed_metadata_counts_beside_what_waits(reader, rows, monkeypatch):
    monkeypatch.setattr(model, "MOST_METADATA_BYTES_IN_ALL", 300)
    ada = reader().join(source="blog", metadata={"x": "y" * 150})
    ada.subscribe(source="blog", tags=["new"], metadata={"x": "z" * 150})
    (stored,) = captures.list_stored(rows("subscribers")[0]["id"]["S"])
    assert stored.request is None
    ada.subscribe(source="blog", tags=["new"], metadata={"x": "z" * 100})
    (stored,) = captures.list_stored(rows("subscribers")[0]["id"]["S"])
    assert stored.request.capture.metadata == {"x": "z" * 100}
    assert stored.metadata == {"x": "y" * 150}


def test_the_download_of_the_largest_person_there_can_be_is_below_a_megabyte(reader, later):
    """Every limit reached at once, confirmed and waiting, in the characters that take most room."""
    ada = reader()
    for number in range(model.MOST_SOURCES):
        later(hours=1)
        ada.join(nickname="\U0001f600" * model.LONGEST_NICKNAME, **_largest_capture(number, 0))
    for number in range(model.MOST_SOURCES):
        body = {"email": ada.email, **_largest_capture(number, 1)}
        assert ada.http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        ada.deliver()
    answer = ada.http.get(f"/profile/data?token={ada.magic_token()}")
    assert answer.status == 200
    stored = answer.json
    assert (len(stored["sources"]), len(stored["tags"])) == (model.MOST_SOURCES, model.MOST_TAGS_IN_ALL - 1)
    found = [part for each in stored["captures"] for part in (each, each["waits_for_confirmation"])]
    assert [len(part["tags"]) for part in found] == [model.MOST_TAGS] * model.MOST_SOURCES * 2
    metadata = [model.encode_metadata(part["metadata"]) for part in found if part["metadata"]]
    assert sum(len(text.encode()) for text in metadata) > 0.95 * model.MOST_METADATA_BYTES_IN_ALL
    assert len(answer.body) < MEGABYTE
    assert b"\n" not in answer.body


def _largest_capture(number, first):
    """With tags of the 200 that `first` shifts, so that the second round has one that is new."""
    source = f"{number:02}" + "\U0001f600" * 62
    most = model.MOST_TAGS_IN_ALL - 1
    tags = [(number * model.MOST_TAGS + n) % most for n in range(model.MOST_TAGS - first)] + [most] * first
    deep = json.loads(_nested(6, "[", "]"))
    return {
        "source": "\x1f" * (model.LONGEST_RAW_SOURCE - 64) + source,
        "tags": [f"{tag:03}" + "\U0001f600" * 61 for tag in tags],
        "metadata": {"é": [deep] * 560} if number < 5 else None,
    }
