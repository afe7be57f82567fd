"""Every public page at once, in a real browser: for everybody, on any screen, in any colour."""

import pytest

from chalicelib.audience import opt_outs
from tests.browser.page_checks import fits, shoot, small_targets, violations
from tests.rooms.campaigns.test_archive import published

ADA = "ada@example.net"
SUBJECTS = ("What the frost left standing", "Seven beans worth the string, and why the neighbours came", "A" * 120)


@pytest.fixture
def pages(house, configure):
    """Every page, by name, as the address to open it at."""
    house.join("bob@example.net", nickname="Bob")
    configure(SAFE_LINKS="true")
    profile = house.profile("bob@example.net")
    for subject in SUBJECTS:
        published(subject, preheader="Mostly beans")
    unknown = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "x" * 32
    return {
        "subscribe": "/subscribe",
        "subscribed": "/subscribed",
        "confirm": house.subscribe(ADA),
        "confirmed": "/confirmed",
        "added": "/confirmed?added=true",
        "never": f"/never?token={opt_outs.make_token('bob@example.net')}",
        "profile": profile,
        "profile-link": "/profile",
        "profile-expired": f"/profile?token={unknown}",
        "profile-updated": f"{profile}&updated=true",
        "data-expired": f"/profile/data?token={unknown}",
        "unsubscribe": house.goodbye("bob@example.net"),
        "resume-expired": f"/resume?token={unknown}",
        "home": "/",
        "archive": "/archive",
        "nowhere": "/nowhere",
        "not-in-archive": "/archive/0193a5c4-11f0-7a6b-8c01-2d3e4f506172",
    }


POSTED = {
    "confirm-failed": "/confirm",
    "unsubscribe-failed": "/api/unsubscribe",
    "never-expired": "/profile/never",
    "never-failed": "/never",
    "subscribe-failed": "/api/subscribe",
    "link-failed": "/api/profile/request-link",
}


@pytest.mark.parametrize("face", ["light", "dark", "phone"])
def test_every_page_is_for_everybody_on_every_screen(house, elsewhere, look, pages, face):
    page = look(phone=face == "phone", dark=face == "dark")
    wrong = {}
    for name, address in pages.items():
        page.goto(address)
        wrong[name] = judged(page, f"public/{face}-{name}", face)
    for name, path in POSTED.items():
        page.goto(elsewhere.show(f'<form method="post" action="{house.url}{path}"><button>Go</button></form>'))
        page.get_by_role("button").click()
        page.wait_for_url(f"{house.url}/**")
        wrong[name] = judged(page, f"public/{face}-{name}", face)
    assert {name: found for name, found in wrong.items() if found} == {}


def judged(page, name, face):
    shoot(page, name)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    found = violations(page) if face != "phone" else []  # the phone has the words and colours of the dashboard
    found += small_targets(page)
    found += [] if fits(page) else ["does not fit"]
    found += [] if dark == (face == "dark") else ["wrong colours"]
    found += [] if page.locator("h1").count() == 1 else ["not one heading"]
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_any_colour_of_a_site_leaves_the_buttons_readable(house, look, configure, dark):
    page = look(dark=dark)
    for colour in ("#0f766e", "#ffd400", "#111111", "#ffffff"):
        configure(SITE_COLOR=colour)
        page.goto(f"/subscribe?source={colour[1:]}")
        page.reload()  # the style sheet is kept for a year under its version
        assert violations(page) == []
        edge, paper = page.evaluate("""() => {
            const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
            return [of('button', 'borderTopColor'), of('.card', 'backgroundColor')];
        }""")
        assert edge != paper
        shoot(page, f"public/colour-{colour[1:]}-{'dark' if dark else 'light'}")
