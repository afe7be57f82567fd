"""What is not there: a page for a browser, JSON for a program."""

import pytest

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/nowhere", "/wp-login.php", "/archive/x/y", "/admin/nothing", "/api/subscribe"])
def test_a_browser_gets_a_page(http, path):
    answer = http.get(path, Accept=BROWSER)
    assert answer.status == 404
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1>Page not found</h1>" in answer.text
    assert 'href="https://news.example.org/"' in answer.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", "", None])
def test_a_program_gets_json(http, accept):
    answer = http.get("/nowhere", headers={} if accept is None else {"Accept": accept})
    assert (answer.status, answer.json) == (404, {"error": "Not found"})


@pytest.mark.parametrize(
    ("method", "path"), [("DELETE", "/nowhere"), ("PATCH", "/api/subscribe"), ("POST", "/archive")]
)
def test_a_method_no_page_uses_is_refused_by_the_gateway(http, method, path):
    answer = http.request(method, path, Accept=BROWSER)
    assert (answer.status, answer.json) == (404, {"error": "Not found"})


def test_a_form_sent_to_a_path_that_is_gone_gets_a_page(http):
    answer = http.post("/gone", form={"a": "b"}, Accept=BROWSER)
    assert answer.status == 404
    assert "Page not found" in answer.text


def test_the_path_is_not_repeated(http):
    assert "zqxj" not in http.get("/zqxj<script>", Accept=BROWSER).text


def test_a_page_of_the_dashboard_that_only_takes_forms_stays_behind_the_authorizer(http):
    assert http.get("/admin/campaigns/x/cancel", Accept=BROWSER).status == 401
