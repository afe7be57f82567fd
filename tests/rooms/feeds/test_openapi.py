"""The document describes what the routes do."""

from chalicelib.admin import openapi


def test_an_answer_has_exactly_the_described_fields(admin, blog):
    schemas = openapi.document()["components"]["schemas"]
    checked = admin.post("/admin/api/feed/check", json={}).json
    feed = admin.get("/admin/api/feed").json
    for name, answer in [("FeedCheck", checked), ("Feed", feed), ("FeedEntry", feed["entries"][0])]:
        assert set(answer) == set(schemas[name]["properties"])
    assert feed["history"] == [checked]
