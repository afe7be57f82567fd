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
    ada.confirm()
    assert {row["status"]["S"] for row in rows("captures")} == {"CONFIRMED"}
    (row,) = rows("subscribers")
    assert sorted(row["sources"]["SS"]) == ["blog", "podcast"]
    assert row["tags"]["SS"] == ["x"]


def test_a_new_source_of_an_active_reader_waits_for_its_own_confirmation(reader, rows):
    ada = reader().join(source="blog")
    ada.subscribe(source="podcast", tags=["audio"])
    assert len(ada.mails()) == 2
    assert ada.stored()["sources"] == ["blog"]
    confirmation = ada.mails()[1]
    assert "/confirm" in confirmation["text"]
    ada.http.get("/confirm?" + confirmation["text"].split("/confirm?")[1].split()[0])
    stored = ada.stored()
    assert (stored["sources"], stored["tags"]) == (["blog", "podcast"], ["audio"])


def test_a_known_source_of_an_active_reader_changes_nothing(reader):
    ada = reader().join(source="blog", tags=["a"])
    ada.subscribe(source="blog", tags=["evil"])
    assert len(ada.mails()) == 1
    assert ada.stored()["tags"] == ["a"]


def test_the_ip_is_kept_only_if_switched_on_and_only_as_a_keyed_hash(reader, rows, configure):
    reader().subscribe()
    assert "ip_hash" not in rows("captures")[0]
    configure(KEEP_IP_HASH="true")
    reader("bob@example.net").subscribe()
    hashes = [row["ip_hash"]["S"] for row in rows("captures") if "ip_hash" in row]
    assert [len(hash) for hash in hashes] == [64]
    assert "192.0.2.1" not in str(rows("captures"))


def test_nobody_can_fill_another_reader_s_row_with_sources_and_tags(reader, rows, http, monkeypatch):
    monkeypatch.setattr(model, "MOST_SOURCES", 4)
    monkeypatch.setattr(model, "MOST_TAGS_IN_ALL", 40)
    ada = reader()
    for number in range(6):
        tags = [f"{number}-{tag}" for tag in range(20)] if number < 3 else []
        body = {"email": "ada@example.net", "source": f"s{number}", "tags": tags}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
        ada.deliver()
    (row,) = rows("subscribers")
    assert sorted(row["asked_sources"]["SS"]) == ["s0", "s1", "s3", "s4"]
    assert len(row["asked_tags"]["SS"]) == 40
    assert len(rows("captures")) == 4
