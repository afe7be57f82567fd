"""The publication's public face in a real browser: what it looks like, and what it costs a visitor."""

import pytest
from msgspec.structs import replace

from chalicelib.campaigns.model import Format
from chalicelib.kernel import publication
from tests.browser.page_checks import fits, shoot, small_targets, violations
from tests.rooms.campaigns.test_archive import published

LETTER = """The kale looks better than it did in August. Frost turns its starch to sugar, which is the only
good thing I have ever said about *minus four*.

Everything else went on the heap, and the heap, at least, is warm. I stood beside it for a while on Sunday
with a cup of coffee, which I [recommend to everybody](https://example.org/coffee).

## What is still standing

- Kale, both kinds, and the leeks behind it
- One row of winter purslane that I had given up on
- The bench

> A garden is a slow conversation, and in November it is the garden's turn to speak.

### A table nobody asked for

| bed | sown | eaten |
|---|---|---|
| north | 3 May | not yet |
| by the wall | 17 May | twice |

Next week: seed catalogues, and how not to read them. Until then, `mulch`.
"""
BUILDER = """<table width="600" cellpadding="0" cellspacing="0" bgcolor="#fff7e0"><tr>
<td style="padding:24px;color:#333333">
<h1 style="color:#7a3b00">The seed swap is on</h1><p>Saturday, ten o'clock, behind the library.</p>
<p><a href="https://example.org/swap" class="button">Come along</a></p></td></tr></table>"""
SIZES = {"desktop": (1280, 900), "phone": (390, 844), "small": (320, 640)}


@pytest.fixture
def garden(house, monkeypatch):
    """A publication with a tagline, a footer and a few issues: their paths by name."""
    described = publication.current()
    ours = replace(
        described,
        name="The Slow Garden",
        tagline="A letter about a small garden that is in no hurry, every other Sunday.",
        footer="Written in the shed. Printed on nothing.",
        postal_address="Garden Lane 3, 12345 Lauben",
        contact_email="shed@example.org",
    )
    monkeypatch.setattr(publication, "current", lambda: ours)
    from chalicelib.web import pages

    pages._environment.cache_clear()
    monkeypatch.setattr(publication, "at_hand", lambda: ours)
    older = published("Saving seed from the one tomato that tried", body=LETTER, format=Format.MARKDOWN)
    swap = published("The seed swap", body=BUILDER)
    letter = published("What the frost left standing", body=LETTER, format=Format.MARKDOWN)
    published("Seven beans worth the string, and why the neighbours came", preheader="Mostly beans, and one pea")
    yield {
        "home": "/",
        "archive": "/archive",
        "search": "/archive?q=kale+SUGAR",
        "nothing": "/archive?q=pineapple",
        "issue": f"/archive/{letter.campaign.id}",
        "oldest": f"/archive/{older.campaign.id}",
        "builder": f"/archive/{swap.campaign.id}",
    }
    pages._environment.cache_clear()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_face_is_for_everybody_on_every_screen(look, garden, size, dark):
    page = look(dark=dark, script=True)
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[size], strict=True)))
    wrong = {}
    for name, path in garden.items():
        page.goto(path)
        shoot(page, f"face/{name}-{size}-{'dark' if dark else 'light'}")
        found = violations(page) + small_targets(page)
        found += [] if fits(page) else ["does not fit"]
        found += [] if page.locator("h1").count() == 1 else ["not one heading"]
        if found:
            wrong[name] = found
    assert wrong == {}
