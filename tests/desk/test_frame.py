"""What is true of every page of the dashboard."""

import re

import pytest

from tests.desk.conftest import ORIGIN

PAGES = [
    "/admin",
    "/admin/subscribers",
    "/admin/do-not-contact",
    "/admin/campaigns",
    "/admin/campaigns/new",
    "/admin/bounces",
    "/admin/feed",
    "/admin/webhooks",
    "/admin/settings",
    "/admin/api",
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_small_and_asks_nobody_else(desk, path):
    answer = desk.get(path)
    assert answer.status == 200
    assert answer.text.count("<h1>") == 1
    assert '<main id="main"' in answer.text
    assert 'href="#main"' in answer.text
    assert not re.findall(r'(?:src|action)="(?:https?:)?//', answer.text)
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_the_policy_allows_no_inline_script_and_no_frame_of_others(desk, path):
    policy = desk.get(path).headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_an_open_door_is_said_on_every_page(desk):
    assert "The door is open" in desk.see("/admin")


def test_assets_are_kept_until_they_change(desk):
    page = desk.get("/admin").text
    for address in re.findall(r'"(/admin/(?:style\.css|app\.js)\?v=\w+)"', page):
        answer = desk.get(address)
        assert "max-age=31536000" in answer.headers["Cache-Control"]
        assert desk.http.get(address, If_None_Match=answer.headers["ETag"]).status == 304


def test_a_notice_says_only_what_we_can_say(desk):
    assert "Removed." in desk.see("/admin/subscribers?notice=removed")
    assert "hello" not in desk.see("/admin/subscribers?notice=hello")


def test_a_failure_is_a_page_with_its_status(desk):
    answer = desk.get("/admin/subscribers/nobody/remove")
    assert answer.status == 404
    assert "No such subscriber" in answer.text
    assert "Overview" in answer.text


def test_a_form_from_another_site_is_refused(desk):
    answer = desk.http.post("/admin/do-not-contact", form={"email": "a@example.net"}, Origin="https://evil.example")
    assert answer.status == 403


def test_a_form_that_does_not_say_where_it_comes_from_is_refused(desk):
    assert desk.http.post("/admin/do-not-contact", form={"email": "a@example.net"}).status == 403
    assert desk.http.post("/admin/do-not-contact", form={"email": "a@example.net"}, Origin=ORIGIN).status == 303
