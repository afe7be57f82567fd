"""Every page of the dashboard, by day, by night and on a phone: for everybody, within its frame, and photographed."""

from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import ids
from tests.browser import looking

DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 800}
LOOKS = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}


def _pages(desk):
    campaigns = "/admin/campaigns"
    return {
        "overview": "/admin",
        "subscribers": "/admin/subscribers",
        "nobody": "/admin/subscribers?q=nobody",
        "subscriber": f"/admin/subscribers/{desk.reader}",
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


def _long(person):
    """Pages with words in them that are as long as they may be, and nowhere to break them."""
    address = f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 50}.example.net"
    reader = person(address, "n" * 50, "s" * 64, tuple(f"{number:02}{'t' * 62}" for number in range(20)))
    aim = Targeting(Terms(any=tuple(f"{number:02}{'w' * 62}" for number in range(50))))
    letter = service.create(Draft("S" * 250, "<p>x</p>", preheader="P" * 250, targeting=aim)).campaign.id
    bounces.record_refusal(reader, ids.new(), "R" * 60)
    return [
        "/admin",
        f"/admin/subscribers?q={'a' * 60}",
        f"/admin/subscribers/{reader}",
        f"/admin/subscribers/{reader}/remove",
        "/admin/campaigns",
        *(f"/admin/campaigns/{letter}{page}" for page in ("", "/review", "/send", "/delete")),
        "/admin/bounces",
    ]


def test_every_page_is_for_everybody_and_fits(desk, look, person):
    """Each is opened once and looked at three times: turning the light off loads nothing anew."""
    page = look()
    wrong = []
    for name, path in _pages(desk).items():
        page.goto(path)
        page.wait_for_selector("iframe.coming", state="detached")
        for light, (colours, size) in LOOKS.items():
            page.emulate_media(color_scheme=colours, reduced_motion="reduce")
            page.set_viewport_size(size)
            if page.locator("iframe").count():  # what was never on the screen is not in the picture
                tall = page.evaluate("document.documentElement.scrollHeight")
                page.set_viewport_size({**size, "height": tall})
                page.wait_for_timeout(200)
            looking.shoot(page, f"admin/{name}.{light}")
            found = looking.violations(page) + ([] if looking.fits(page) else ["wider than the screen"])
            wrong += [f"{name} {light}: {one}" for one in found]
    for path in _long(person):
        page.goto(path)
        wrong += [] if looking.fits(page) else [f"{path}: wider than a phone"]
    assert not wrong, "\n".join(wrong)
