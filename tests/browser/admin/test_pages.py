"""Every page of the dashboard, light, dark and on a phone: accessible, not too wide, and photographed."""

from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.campaigns.service import Draft, Saver
from chalicelib.kernel import ids
from tests.browser import page_checks

DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 800}
LOOKS = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}


def _pages(dashboard):
    campaigns = "/admin/campaigns"
    return {
        "overview": "/admin",
        "subscribers": "/admin/subscribers",
        "nobody": "/admin/subscribers?q=nobody",
        "subscriber": f"/admin/subscribers/{dashboard.reader}",
        "remove": f"/admin/subscribers/{dashboard.reader}/remove",
        "segments": "/admin/segments",
        "form": "/admin/form?site=blog.example.net",
        "form-frame": "/admin/form?kind=frame",
        "do-not-contact": "/admin/do-not-contact",
        "campaigns": campaigns,
        "compose-new": f"{campaigns}/new",
        "compose": f"{campaigns}/{dashboard.draft}",
        "history": f"{campaigns}/{dashboard.draft}/versions",
        "history-none": f"{campaigns}/{dashboard.scheduled}/versions",
        "version": f"{campaigns}/{dashboard.draft}/versions?version=2",
        "version-now": f"{campaigns}/{dashboard.draft}/versions?version=2&compare=current&look=phone",
        "review": f"{campaigns}/{dashboard.scheduled}/review",
        "send": f"{campaigns}/{dashboard.draft}/send",
        "report": f"{campaigns}/{dashboard.sent}",
        "report-failed": f"{campaigns}/{dashboard.failed}?look=dark",
        "correct": f"{campaigns}/{dashboard.sent}/correct",
        "bounces": "/admin/bounces",
        "members": "/admin/members",
        "member-close": f"/admin/members/{dashboard.member}/close",
        "sightings": "/admin/sightings",
        "feed": "/admin/feed",
        "webhooks": "/admin/webhooks",
        "webhook": f"/admin/webhooks/{dashboard.hook}",
        "settings": "/admin/settings",
        "api": "/admin/api",
        "problem": "/admin/webhooks/none",
    }


def _long(person):
    """Pages with the longest valid words, which cannot be broken."""
    address = f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 50}.example.net"
    reader = person(address, "n" * 50, "s" * 64, tuple(f"{number:02}{'t' * 62}" for number in range(20)))
    targeting = Targeting(Terms(any=tuple(f"{number:02}{'w' * 62}" for number in range(50))))
    campaign_id = service.create(Draft("S" * 250, "<p>x</p>", preheader="P" * 250, targeting=targeting)).campaign.id
    service.update(campaign_id, {"subject": "T" * 250}, {"body": f"<p>{'y' * 5_000}</p>"}, saver=Saver("e" * 254))
    bounces.record_refusal(reader, ids.new(), "R" * 60)
    return [
        "/admin",
        f"/admin/subscribers?q={'a' * 60}",
        f"/admin/subscribers/{reader}",
        f"/admin/subscribers/{reader}/remove",
        "/admin/campaigns",
        *(
            f"/admin/campaigns/{campaign_id}{page}"
            for page in ("", "/review", "/send", "/delete", "/versions", "/versions?version=2")
        ),
        "/admin/bounces",
    ]


def test_every_page_is_accessible_and_fits(dashboard, look, person):
    """Each is opened once and checked three times: another colour scheme needs no reload."""
    page = look()
    wrong = []
    for name, path in _pages(dashboard).items():
        page.goto(path)
        page.wait_for_selector("iframe.loading", state="detached")
        for light, (colours, size) in LOOKS.items():
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            page.set_viewport_size(size)
            if page.locator("iframe").count():  # what was never on the screen is not in the picture
                tall = page.evaluate("document.documentElement.scrollHeight")
                page.set_viewport_size({**size, "height": tall})
                page.wait_for_timeout(200)
            page_checks.shoot(page, f"admin/{name}.{light}")
            found = page_checks.violations(page) + ([] if page_checks.fits(page) else ["wider than the screen"])
            found += page_checks.small_targets(page)
            wrong += [f"{name} {light}: {problem}" for problem in found]
    for path in _long(person):
        page.goto(path)
        wrong += [] if page_checks.fits(page) else [f"{path}: wider than a phone"]
    assert not wrong, "\n".join(wrong)
