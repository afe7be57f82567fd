"""The document describes what the routes do."""

from chalicelib.admin import openapi


def test_every_route_of_the_feed_is_described_and_nothing_else():
    import app

    ours = ("/api/webhooks/feed", "/api/webhooks/websub", "/admin/api/feed")
    served = {
        (path, method.lower())
        for path, methods in app.app.routes.items()
        if path.startswith(ours)
        for method in methods
    }
    described = {
        (path, method)
        for path, item in openapi.document()["paths"].items()
        if path.startswith(ours)
        for method in item
        if method != "parameters"
    }
    assert described == served


def test_an_answer_has_exactly_the_described_fields(admin, blog):
    schemas = openapi.document()["components"]["schemas"]
    checked = admin.post("/admin/api/feed/check", json={}).json
    feed = admin.get("/admin/api/feed").json
    for name, answer in [("FeedCheck", checked), ("Feed", feed), ("FeedEntry", feed["entries"][0])]:
        assert set(answer) == set(schemas[name]["properties"])
    assert feed["history"] == [checked]
