"""Sources, tags and metadata that come with a sign-up."""

import pytest

from chalicelib.audience import model
from chalicelib.kernel.errors import Invalid


def _capture(**fields):
    return model.parse_capture(fields.get("source"), fields.get("tags"), fields.get("metadata"), None)


def test_without_a_source_it_is_the_default_one(reader, rows):
    reader().subscribe()
    (capture,) = rows("captures")
    assert capture["source"]["S"] == "default"
    assert capture["status"]["S"] == "PENDING"


def test_a_source_is_normalised_and_kept_as_it_came():
    capture = _capture(source="  Blog Footer ")
    assert (capture.source, capture.source_raw) == ("blog footer", "  Blog Footer ")


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "x" * 65},
        {"source": "x" + " " * 300},
        {"source": "   "},
        {"source": 5},
        {"source": "a\x00b"},
        {"tags": ["t"] * 21},
        {"tags": "a," * 21},
        {"tags": [5]},
        {"tags": {"a": 1}},
        {"tags": ["x" * 65]},
        {"tags": [" "]},
        {"metadata": []},
        {"metadata": "text"},
        {"metadata": {"x": "y" * 10_240}},
        {"metadata": {"x": float("nan")}},
    ],
)
def test_what_breaks_a_limit_is_refused(fields):
    with pytest.raises(Invalid):
        _capture(**fields)


def test_limits_hold_exactly():
    assert len(_capture(source="x" * 64).source) == 64
    assert len(_capture(tags=[f"t{n}" for n in range(20)]).tags) == 20
    assert _capture(metadata={"x": "y" * (10_240 - 8)}).metadata


def test_one_capture_for_each_source_of_a_subscriber(reader, rows):
    ada = reader()
    ada.subscribe(source="blog")
    ada.subscribe(source="BLOG", tags=["x"])
    ada.subscribe(source="podcast")
    assert sorted(row["source"]["S"] for row in rows("captures")) == ["blog", "podcast"]


def test_the_ip_is_kept_only_if_switched_on_and_only_as_a_keyed_hash(reader, rows, configure):
    reader().subscribe()
    reader().confirm()
    assert "ip_hash" not in rows("captures")[0]
    configure(KEEP_IP_HASH="true")
    reader("bob@example.net").join()
    hashes = [row["ip_hash"]["S"] for row in rows("captures") if "ip_hash" in row]
    assert [len(hash) for hash in hashes] == [64]
    assert "192.0.2.1" not in str(rows("captures"))


def test_nobody_can_fill_another_reader_s_row_with_sources(reader, rows, http, monkeypatch):
    monkeypatch.setattr(model, "MOST_SOURCES", 4)
    ada = reader()
    for number in range(6):
        body = {"email": "ada@example.net", "source": f"s{number}"}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        ada.deliver()
    (row,) = rows("subscribers")
    assert sorted(row["asked_sources"]["SS"]) == ["s0", "s1", "s2", "s3"]
    assert len(rows("captures")) == 4


def test_nobody_has_more_tags_than_the_limit(reader, rows, monkeypatch):
    monkeypatch.setattr(model, "MOST_TAGS_IN_ALL", 40)
    ada = reader().join(source="s0", tags=[f"0-{tag}" for tag in range(20)])
    for number in range(1, 4):
        ada.subscribe(source=f"s{number}", tags=[f"{number}-{tag}" for tag in range(20)])
        ada.confirm()
    (row,) = rows("subscribers")
    assert len(row["tags"]["SS"]) == 40
    assert len(rows("captures")) == 2
