"""What every page of the dashboard has in common."""

import re

import pytest

from chalicelib.audience.imports import service as imports
from chalicelib.campaigns import service
from chalicelib.campaigns.service import Draft
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.inbox.model import DESK
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from tests.rooms.admin.conftest import ORIGIN
from tests.rooms.following import made
from tests.rooms.inbox.things import receive, video

ASSETS = ("/admin/style.css", "/admin/app.js", "/admin/editor.js", "/admin/triage.js", "/admin/app.webmanifest")


def _pages() -> list[str]:
    """Every page, from the route table."""
    import app

    found = {path: methods["GET"] for path, methods in app.app.routes.items() if "GET" in methods}
    paths = [path for path, entry in found.items() if path.startswith("/admin") and entry.view_name != "forms_only"]
    return sorted(path for path in paths if not path.startswith("/admin/api/") and path not in ASSETS)


def _join(email: str) -> Member:
    member = Member(ids.new(), email, clock.now())
    tables.transact(emails.claim_write(member), *members.create_writes(member, "no hash"))
    return member


@pytest.fixture
def page(dashboard, abroad, person, media_bucket):
    """The page at a path of the route table, with ids that exist."""
    known = {
        "campaign_id": service.create(Draft("Beans", "<p style='color: red' onclick='x()'>x</p>")).campaign.id,
        "subscriber_id": person("ada@example.net", "<script>x()</script>"),
        "webhook_id": webhooks.add(NewWebhook(url=abroad.url, description="<script>x()</script>")).webhook.id,
        "import_id": imports.create(b"email,<script>x()</script>\nbo@example.net,<b>\n", "text/csv").found.id,
        "field": "body",
        "member_id": _join("bob@example.net").wire_id,
        "follow_id": made.follow("<script>x()</script>").id.replace("-", ""),
        "entry_id": receive(DESK, video(title="<script>x()</script>"))[0],
    }
    sent = {**known, "campaign_id": service.send_now(service.create(Draft("Sent", "x")).campaign.id).campaign.id}
    return lambda path: dashboard.get(path.format(**(sent if path.endswith("/correct") else known)))


@pytest.mark.parametrize("path", _pages())
def test_no_page_has_inline_scripts_and_its_policy_forbids_them(page, path):
    answer = page(path)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "" if path.endswith("/preview") else "kept")
    assert "base-uri 'none'" in policy
    assert ("frame-ancestors 'self'" if path.endswith("/preview") else "frame-ancestors 'none'") in policy
    for name in ("X-Content-Type-Options", "Referrer-Policy", "Strict-Transport-Security", "Permissions-Policy"):
        assert answer.headers[name]
    assert answer.headers["Cache-Control"] == "no-store"
    if answer.headers["Content-Type"].startswith("text/html"):
        assert not re.findall(r"<script(?![^>]*\ssrc=)|<[^>]+\son\w+=|javascript:", answer.text)


@pytest.mark.parametrize("path", [path for path in _pages() if not path.endswith(("/preview", "/words/{field}"))])
def test_every_page_is_complete_and_loads_nothing_from_elsewhere(page, path):
    answer = page(path)
    assert answer.text.count("<h1") == 1
    assert '<main id="main"' in answer.text
    assert 'href="#main"' in answer.text
    assert not re.findall(r'(?:src|action)="(?:https?:)?//', answer.text)
    assert not re.findall(r"<[^>]+ style=", answer.text)


def test_pages_warn_when_authentication_is_off(dashboard):
    assert "Authentication is off" in dashboard.see("/admin")


def test_assets_are_cached_until_they_change(dashboard):
    page = dashboard.get("/admin").text
    for address in re.findall(r'"(/admin/(?:style\.css|app\.js)\?v=\w+)"', page):
        answer = dashboard.get(address)
        assert "max-age=31536000" in answer.headers["Cache-Control"]
        assert dashboard.http.get(address, If_None_Match=answer.headers["ETag"]).status == 304


def test_a_notice_can_only_be_one_of_ours(dashboard):
    assert "Removed." in dashboard.see("/admin/subscribers?notice=removed")
    assert "hello" not in dashboard.see("/admin/subscribers?notice=hello")


@pytest.mark.parametrize(("key", "tone"), [("hook-failed", "bad"), ("hook-ok", "good"), ("feed-busy", "info")])
def test_a_notice_looks_like_what_it_says(dashboard, key, tone):
    page = dashboard.get(f"/admin/webhooks?notice={key}").text
    role = "alert" if tone == "bad" else "status"
    assert f'<p class="notice {tone}" role="{role}"' in page


def test_a_failure_is_a_page_with_its_status(dashboard):
    answer = dashboard.get("/admin/subscribers/nobody/remove")
    assert answer.status == 404
    assert "No such subscriber" in answer.text
    assert "Overview" in answer.text


def test_a_form_from_another_site_is_refused(dashboard):
    answer = dashboard.http.post(
        "/admin/do-not-contact", form={"email": "a@example.net"}, Origin="https://evil.example"
    )
    assert answer.status == 403


def test_a_form_without_an_origin_is_refused(dashboard):
    assert dashboard.http.post("/admin/do-not-contact", form={"email": "a@example.net"}).status == 403
    assert dashboard.http.post("/admin/do-not-contact", form={"email": "a@example.net"}, Origin=ORIGIN).status == 303


@pytest.mark.parametrize("path", ["/admin/campaigns/x/cancel", "/admin/campaigns/preview"])
def test_the_address_of_a_form_without_a_page_says_that_nothing_arrived(dashboard, path):
    """Cloudflare Access brings an editor who has to sign in again to the address, without the form."""
    answer = dashboard.get(path)
    assert answer.status == 404
    assert "what you had sent did not arrive" in answer.text
    assert 'aria-label="Dashboard"' in answer.text
