"""Every page for members at once, in a real browser: for everybody, on any screen, in any colour."""

import pytest

from chalicelib.sightings import model, service
from tests.browser.members.pictures import landscape
from tests.browser.page_checks import fits, shoot, small_targets, violations

ADA, BOB = "ada@example.net", "bob@example.net"
SEEN = (
    ("Red fox", "Behind the shed, before breakfast"),
    ("Short-eared owl", "Marsh road, third gate"),
    ("Roe deer with two fawns", "Edge of the beech wood above Lower Millham, where the path turns north"),
    ("Great crested newt", "Garden pond"),
    ("Stag beetle", "Old oak"),
)


@pytest.fixture
def ada(house):
    """Sightings with a photo, without one, with one being prepared, with one refused; one is shared."""
    ada = house.member(ADA)
    ada.paths = [ada.sees(*SEEN[0], landscape(1)), ada.sees(*SEEN[1], landscape(2, 900, 1200))]
    ada.paths += [ada.sees(*SEEN[2], landscape(3)), ada.sees(*SEEN[4], landscape(5)[:9000])]
    house.work()
    ada.paths += [ada.sees(*SEEN[3]), ada.sees("Hedgehog", "Compost heap", landscape(4))]
    shared = model.parse_id(ada.paths[0].rpartition("/")[2])
    service.share(ada.member, shared, "Somerset", "Ada L.")
    return ada


def pages_of_guests(house):
    house.member(BOB, verified=False)
    return {
        "join": "/join",
        "sign-in": "/sign-in",
        "sign-in-next": "/sightings/new",
        "signed-out": "/sign-in?notice=signed-out",
        "forgot-password": "/forgot-password",
        "reset-sent": "/forgot-password?notice=reset-sent",
        "reset-failed": "/reset?token=x",
        "verify-failed": "/verify?token=x",
    }


def pages_of(ada):
    shared, tall, _, refused, plain, waiting = ada.paths[:6]
    return {
        "sightings": "/sightings?notice=joined",
        "new": "/sightings/new",
        "sighting": shared,
        "sighting-tall": tall,
        "sighting-refused": refused,
        "sighting-plain": plain,
        "sighting-waiting": waiting,
        "edit": f"{shared}/edit",
        "delete": f"{shared}/delete",
        "share": f"{tall}/share",
        "share-again": f"{shared}/share",
        "account": "/account",
        "password": "/account/password",
        "delete-account": "/account/delete",
        "nothing": "/sightings/" + "0" * 32,
    }


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_is_for_everybody_on_every_screen(house, look, ada, width, dark):
    wrong, face = {}, f"members/{width}-{'dark' if dark else 'light'}"
    guest, member = look(width=width, dark=dark), look(ada, width=width, dark=dark)
    for page, pages in ((guest, pages_of_guests(house)), (member, pages_of(ada))):
        for name, address in pages.items():
            page.goto(address)
            wrong[name] = judged(page, f"{face}-{name}", dark)
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_of_an_empty_and_unverified_account(house, look, dark):
    eve = house.member("eve@example.net", verified=False)
    path, wrong = None, {}
    page = look(eve, width=390, dark=dark)
    for name, address in {"empty": "/sightings", "account": "/account"}.items():
        page.goto(address)
        wrong[name] = judged(page, f"members/unverified-{'dark' if dark else 'light'}-{name}", dark)
    path = eve.sees()
    page.goto(f"{path}/share")
    page.get_by_text("please verify your email address").wait_for()
    wrong["share"] = judged(page, f"members/unverified-{'dark' if dark else 'light'}-share", dark)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_nothing_has_to_be_scrolled_sideways_on_the_smallest_phone(house, look, ada):
    ada.paths.append(ada.sees("W" * 200, "x" * 500))
    page, guest = look(ada, width=320), look(width=320)
    wide = []
    pages = {**pages_of(ada), "longest": ada.paths.pop()}
    for who, found in ((guest, pages_of_guests(house)), (page, pages)):
        for name, address in found.items():
            who.goto(address)
            shoot(who, f"members/320-{name}")
            wide += [] if fits(who) else [name]
    assert wide == []


# Those further down are loaded when they come into view.
_LOAD_PHOTOS = """() => {
  const photos = [...document.images];
  for (const photo of photos) photo.loading = "eager";
  return Promise.all(photos.map((photo) => photo.decode().catch(() => null)));
}"""


def judged(page, name, dark):
    page.evaluate(_LOAD_PHOTOS)
    shoot(page, name)
    is_dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    found = violations(page) + small_targets(page)
    found += [] if fits(page) else ["does not fit"]
    found += [] if is_dark == dark else ["wrong colours"]
    found += [] if page.locator("h1").count() == 1 else ["not one heading"]
    return found
