"""Which other sites may have the sign-up form."""


def test_allowed_origins_get_cors_headers_on_success_error_and_limit(http, still):
    for origin in ("https://blog.example.org", "https://www.example.org"):
        good = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin=origin)
        bad = http.post("/api/subscribe", json={"email": "nonsense"}, Origin=origin)
        assert good.headers["Access-Control-Allow-Origin"] == bad.headers["Access-Control-Allow-Origin"] == origin
    for _ in range(12):
        limited = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin="https://blog.example.org")
    assert limited.status == 429
    assert limited.headers["Access-Control-Allow-Origin"] == "https://blog.example.org"


def test_other_origins_get_none(http):
    for origin in (
        "https://evil.example",
        "null",
        "https://blog.example.org.evil.example",
        "http://blog.example.org",
    ):
        answer = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin=origin)
        assert answer.headers["Access-Control-Allow-Origin"] is None
        answer = http.request("OPTIONS", "/api/subscribe", Origin=origin, Access_Control_Request_Method="POST")
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_preflight_allows_what_the_form_sends(http):
    answer = http.request(
        "OPTIONS",
        "/api/subscribe",
        Origin="https://blog.example.org",
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="content-type",
    )
    assert answer.status == 204
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert "content-type" in answer.headers["Access-Control-Allow-Headers"].lower()
