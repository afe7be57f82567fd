"""Preview, test mail, sending and archive: what arrives is what was shown, byte for byte."""

import html
import re
from typing import Any

import pytest

from chalicelib.campaigns.sending import mailer
from tests.rooms.campaigns.crowd import gather

API = "/admin/api/campaigns"
BODY = "# Hello\n\n{{greeting}}! *So* `\\{{it}}` goes, {{nickname|friend}} & <b>you</b>.<script>x</script>"
TOKEN = re.compile(r"token=[0-9a-f-]{36}\.[\w-]{32}")


@pytest.fixture
def admin(http: Any, configure: Any, ses: Any) -> Any:
    configure(DISABLE_AUTH="true")
    mailer.account_watch.cache_clear()
    mailer.shared_pace.cache_clear()
    return http


def test_what_arrives_is_what_was_shown(admin: Any, ses: Any, work: Any) -> None:
    gather(1, nickname="Ana <3")
    made = admin.post(API, json={"subject": "For {{nickname|you}}", "body": BODY, "format": "markdown"}).json
    url = f"{API}/{made['id']}"
    preview = admin.get(f"{url}/preview?nickname=Ana+%3C3").text
    assert admin.post(f"{url}/test", json={"email": "me@example.org", "nickname": "Ana <3"}).status == 200
    assert admin.post(f"{url}/send", json={}).status == 200
    work.until(lambda: admin.get(f"{url}/progress").json["state"] == "published", timeout=30)

    test, sent = sorted(ses.mails(), key=lambda mail: "me@example.org" not in str(mail))
    assert test["html"] == preview
    assert TOKEN.sub("", sent["html"]) == TOKEN.sub("", preview)
    assert sent["text"].startswith("Hello\n\nHi, Ana <3! So {{it}} goes, Ana <3 & you.")
    assert (sent["subject"], test["subject"]) == ("For Ana <3", "[Test] For Ana <3")
    archived = admin.get(f"/archive/{made['id']}").text
    assert "Hi! <em>So</em>" in archived
    assert "token" not in archived
    for feed in ("/archive/feed.xml", "/archive/feed.json"):
        assert "Hi! <em>So</em>" in html.unescape(admin.get(feed).text)
