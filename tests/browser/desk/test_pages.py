"""Every page of the dashboard, by day, by night and on a phone: for everybody, within its frame, and photographed."""

import pytest

from tests.browser import looking

LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"phone": True}}


def _pages(desk):
    campaigns = "/admin/campaigns"
    return {
        "overview": "/admin",
        "subscribers": "/admin/subscribers",
        "nobody": "/admin/subscribers?q=nobody",
        "remove": f"/admin/subscribers/{desk.reader}/remove",
        "do-not-contact": "/admin/do-not-contact",
        "campaigns": campaigns,
        "compose-new": f"{campaigns}/new",
        "compose": f"{campaigns}/{desk.draft}",
        "review": f"{campaigns}/{desk.scheduled}/review",
        "send": f"{campaigns}/{desk.draft}/send",
        "report": f"{campaigns}/{desk.sent}",
        "report-failed": f"{campaigns}/{desk.failed}?look=dark",
        "bounces": "/admin/bounces",
        "feed": "/admin/feed",
        "webhooks": "/admin/webhooks",
        "webhook": f"/admin/webhooks/{desk.hook}",
        "settings": "/admin/settings",
        "api": "/admin/api",
        "problem": "/admin/webhooks/none",
    }


@pytest.mark.parametrize("light", LOOKS)
def test_every_page_is_for_everybody_and_fits(desk, look, light):
    page = look(**LOOKS[light])
    wrong = {}
    for name, path in _pages(desk).items():
        page.goto(path)
        page.wait_for_selector("iframe.coming", state="detached")
        if page.locator("iframe").count():  # what was never on the screen is not in the picture
            page.locator("iframe").first.scroll_into_view_if_needed()
            page.wait_for_timeout(300)
            page.evaluate("scrollTo(0, 0)")
        looking.shoot(page, f"admin/{name}.{light}")
        found = looking.violations(page) + ([] if looking.fits(page) else ["wider than the screen"])
        if found:
            wrong[name] = found
    assert not wrong, "\n".join(f"{name}: {one}" for name, found in wrong.items() for one in found)
