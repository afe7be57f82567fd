"""The publication's public face in a real browser: what it looks like, and what it costs a visitor."""

import gzip

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


MARGINS = (
    """<div style="margin:-900px;width:3000px;background:#ff0000;opacity:1"><p style="font-size:90px">Boo</p></div>"""
)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_an_author_wrote_cannot_cover_the_page_around_it(look, width):
    id = published("Boo", body=MARGINS).campaign.id
    page = look()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/archive/{id}")
    shoot(page, f"face/margins-{width}")
    assert fits(page)
    for selector in (".brand a", "h1", ".share a", "#subscribe button"):
        target = page.locator(selector).first
        target.scroll_into_view_if_needed()
        assert target.evaluate("""element => {
            const box = element.getBoundingClientRect();
            return element.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
        }"""), selector


def test_a_layout_made_for_wide_screens_fits_a_phone(look):
    wide = (
        '<table width="900" bgcolor="#eee" style="min-width:900px"><tr><td width="450" style="width:450px">Left</td>'
        '<td width="450"><div style="width:700px">Right <a href="https://example.org">link</a></div></td></tr></table>'
    )
    id = published("Wide", body=wide).campaign.id
    page = look(phone=True)
    page.goto(f"/archive/{id}")
    shoot(page, "face/wide-phone")
    assert fits(page)
    assert violations(page) == []
    assert page.locator(".prose").evaluate("prose => prose.scrollWidth <= prose.clientWidth")


def test_colours_meant_for_light_paper_do_not_vanish_in_the_dark(look):
    id = published("Ink", body='<p style="color:#111111">Black <font color="#222222">ink</font></p>').campaign.id
    page = look(dark=True)
    page.goto(f"/archive/{id}")
    assert violations(page) == []


def test_a_visitor_subscribes_under_a_campaign_without_scripts(house, look, garden):
    page = look(script=False)
    page.goto(garden["issue"])
    page.get_by_label("Email address").fill("eve@example.net")
    page.get_by_role("button", name="Subscribe").click()
    page.wait_for_url("**/subscribed")
    assert house.mails("eve@example.net")


def test_a_visitor_finds_a_campaign_by_words_without_scripts(look, garden):
    page = look(script=False)
    page.goto("/")
    page.get_by_role("link", name="All issues").click()
    page.get_by_label("Search the archive").fill("tomato kale")
    page.get_by_role("button", name="Search").click()
    page.get_by_text("1 issue for").wait_for()
    page.get_by_role("link", name="Saving seed").click()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("heading", name="The seed swap is on").wait_for()


def test_a_page_costs_a_visitor_little(browser, house, garden):
    """What a person on a slow line pays: one page, one style sheet, an icon; nothing from elsewhere, no cookie."""
    for name, path in garden.items():
        context = browser.new_context(base_url=house.url)
        page = context.new_page()
        answers = []
        page.on("response", lambda answer, seen=answers: seen.append(answer))
        page.goto(path, wait_until="networkidle")
        bodies = {answer.url: answer.body() for answer in answers if not answer.url.endswith("/favicon.ico")}
        assert all(url.startswith(house.url) for url in bodies), name
        assert len(bodies) <= 3, name
        assert sum(len(body) for body in bodies.values()) <= 50_000, name
        assert sum(len(gzip.compress(body)) for body in bodies.values()) <= 16_000, name
        assert context.cookies() == [], name
        for answer in answers:
            kept = answer.headers.get("cache-control", "")
            assert "max-age=31536000" in kept or "max-age=30," in kept, answer.url
        facts = page.evaluate(FACTS)
        assert facts["lang"], name
        assert facts["title"], name
        assert 10 <= len(facts["description"]) <= 300, name
        assert facts["viewport"] == "width=device-width, initial-scale=1", name
        assert facts["canonical"].startswith(house.url), name
        assert facts["feeds"] == ["application/atom+xml", "application/feed+json"], name
        assert (facts["headings"], facts["scripts"], facts["unsized"]) == (1, 0, 0), name
        context.close()


FACTS = """() => ({
  lang: document.documentElement.lang,
  title: document.title,
  description: document.querySelector('meta[name=description]').content,
  viewport: document.querySelector('meta[name=viewport]').content,
  canonical: document.querySelector('link[rel=canonical]').href,
  feeds: [...document.querySelectorAll('link[rel=alternate]')].map((link) => link.type),
  headings: document.querySelectorAll('h1').length,
  scripts: document.querySelectorAll('script').length,
  unsized: document.querySelectorAll('img:not([width]), img:not([height])').length,
})"""


def test_lines_are_as_long_as_they_can_be_read(look, garden):
    """60 to 75 characters on a wide screen."""
    page = look()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(garden["issue"])
    characters = page.locator(".prose p").first.evaluate("""paragraph => {
        const range = document.createRange(), text = paragraph.firstChild;
        const top = paragraph.getClientRects()[0].top;
        for (let end = 1; end < text.length; end++) {
            range.setStart(text, end - 1); range.setEnd(text, end);
            if (range.getBoundingClientRect().top > top + 20) return end;
        }
        return text.length;
    }""")
    assert 50 <= characters <= 78
