"""The campaign mail as readers see it: on a desktop, on a phone, in dark colours. Screenshots go to `artefacts/`."""

import re
from datetime import UTC, datetime
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chalicelib.campaigns.content import blocks, renderer
from chalicelib.campaigns.content.blocks import Heading, Item, Text
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content, Format
from chalicelib.kernel.publication import DESIGNS

NOW = datetime(2026, 11, 16, tzinfo=UTC)
ARTEFACTS = Path(__file__).parents[2] / "artefacts"
BODY = """
{{greeting}}!

A *short* mail with **bold** words, `code` and a [link](https://example.org/a-rather-long-address).

## A library in a lighthouse

> The sea is quiet until it is not.

- One thing
- Another, with averylongwordthatnobodywouldeverwritebutsomebodywillpasteanyway

| What | When |
|------|------|
| Walk | Monday |

```
def hello(name): return f"a long line of code that does not fit on a phone, {name}"
```

<p><a class="button" href="https://example.org/join">Join the walk</a></p>
"""


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rendered(subject: str, body: str, design: str, format: Format = Format.MARKDOWN) -> str:
    campaign = Campaign("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", subject, NOW, NOW, format=format, design=design)
    mailing = renderer.render(CampaignDetail(campaign, Content(body), ()))
    return mailing.message("reader@example.org", "Ana", "token").html


@pytest.fixture
def mail(aws: None, design: str) -> str:
    return rendered("Seven quiet things", BODY, design)


def shown(browser: Any, mail: str, name: str, width: int, scheme: str) -> Any:
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.set_content(mail)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"campaign-{name}.png", full_page=True)
    return page


def luminous(page: Any, selector: str) -> float:
    """Of its background, from 0 to 1."""
    text = page.eval_on_selector(selector, "element => getComputedStyle(element).backgroundColor")
    return sum(int(value) for value in re.findall(r"\d+", text)[:3]) / 765


def test_it_is_at_most_600_wide_on_a_desktop(browser, mail, design):
    page = shown(browser, mail, f"{design}-light", 1000, "light")
    assert all(box["width"] <= 600 for box in boxes(page, ".column"))
    assert contrast(page, ".body p") >= 7


@pytest.mark.parametrize("width", [320, 390])
def test_it_fits_a_phone(browser, mail, design, width):
    page = shown(browser, mail, f"{design}-{width}", width, "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_has_a_dark_scheme(browser, mail, design):
    page = shown(browser, mail, f"{design}-dark", 700, "dark")
    assert luminous(page, ".page") < 0.15
    for selector in (
        ".title",
        ".body p",
        ".body h2",
        ".body a",
        ".body a.button",
        ".body code",
        ".body td",
        ".foot a",
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_what_an_author_colours_stays_light_in_the_dark(browser, aws, design):
    body = '<table width="100%" bgcolor="#fff7ed"><tr><td><h2>Own</h2><p>colours</p></td></tr></table><p>After</p>'
    page = shown(browser, rendered("Own", body, design, Format.HTML), f"{design}-own", 390, "dark")
    assert luminous(page, ".page") > 0.8
    assert all(contrast(page, selector) >= 4.5 for selector in (".title", ".body p", ".body h2", ".foot a"))


def test_arabic_stands_on_the_right(browser, aws, design):
    body = "مرحبا أصدقائي،\n\n> البحر هادئ.\n\n## للقراءة"
    page = shown(browser, rendered("نشرة الأسبوع", body, design), f"{design}-arabic", 390, "light")
    (name,), (online,) = boxes(page, ".name"), boxes(page, ".online")
    assert name["x"] > online["x"]
    assert page.eval_on_selector(".body p", "one => getComputedStyle(one).direction") == "rtl"
    assert page.eval_on_selector(".foot p", "one => getComputedStyle(one).direction") == "ltr"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_loads_nothing(browser, mail):
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(mail)
    assert asked == []


def picture(width: int, height: int) -> bytes:
    from PIL import Image as Canvas

    out = BytesIO()
    Canvas.linear_gradient("L").resize((width, height)).convert("RGB").save(out, "JPEG")
    return out.getvalue()


PICTURES = {"wide.jpg": (640, 360), "square.jpg": (640, 640), "tall.jpg": (400, 600)}
MEDIA = "https://news.example.org/media/"
LINK = "https://example.org/watch"
LONG = "A title that goes on and on " * 5 + "averylongwordthatnobodywouldeverwritebutsomebodywillpasteanyway"
ITEMS = [
    Text("{{greeting}},\n\nNovember is for those who look twice."),
    Heading("To watch and to hear"),
    Item(
        "Who is eating the buds?", LINK, "The Hedge Birds", "video", 721, MEDIA + "wide.jpg", "A bullfinch",
        excerpt="One hedge, one feeder, one microphone, and a bird that everybody blames.",
        note="The *best* ten minutes of November. Watch it with [the sound on](https://example.org/).",
    ),
    Item("How owls hear the shape of a field", LINK, "Field Recordings", "podcast", 2880, MEDIA + "square.jpg"),
    Item("Without a picture", LINK, "Orion", "article", note="Short.\n\n- The end first.\n- Then the rest."),
    Item(LONG, LINK, "A magazine with quite a long name of its own", "article", None, MEDIA + "wide.jpg"),
    Item("מדריך שדה לציפורים", LINK, "כתב העת", "article", None, MEDIA + "wide.jpg", note="קצר ושווה את זה."),
    Item("Waxwings in Linz", LINK, "Seen by Ana", "sighting", None, MEDIA + "tall.jpg"),
    Item("Just a link", LINK),
]  # fmt: skip


@pytest.fixture
def issue(aws: None, design: str) -> str:
    return rendered("Seven things", blocks.write(ITEMS), design)


@pytest.fixture
def opened(browser, issue, design):
    """The issue with its pictures, at a width and in a colour scheme."""
    files = {name: picture(*size) for name, size in PICTURES.items()}

    def open(width: int, scheme: str = "light", mail: str = issue, name: str = f"items-{design}") -> Any:
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
        page.route("**/media/*", lambda route: route.fulfill(body=files[route.request.url.rpartition("/")[2]]))
        page.set_content(mail, wait_until="networkidle")
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}-{width}-{scheme}.png", full_page=True)
        return page

    return open


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    script = "all => all.map(one => { const {x, y, width, height} = one.getBoundingClientRect();"
    return list(page.eval_on_selector_all(selector, script + " return {x, y, width, height} })"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 700])
def test_items_fit_and_can_be_read(opened, width, scheme):
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for selector in (".item h3", ".item-facts", ".item-from", ".item-text", ".item-said p", ".item-said a"):
        assert contrast(page, selector) >= 4.5, selector
    assert all(box["width"] >= 150 for box in boxes(page, ".item-words"))


@pytest.mark.parametrize("design", ["plain", "letter"], indirect=True)
def test_on_a_desktop_pictures_stand_beside_the_words_and_in_the_readers_direction(opened):
    page = opened(700)
    shots, texts = boxes(page, ".item-shot"), boxes(page, ".item-shot ~ .item-words")
    assert [round(box["width"]) for box in boxes(page, ".item img")] == [168] * 5
    assert all(abs(shot["y"] - text["y"]) < 1 for shot, text in zip(shots, texts, strict=True))
    beside = [shot["x"] < text["x"] for shot, text in zip(shots, texts, strict=True)]
    assert beside == [True, True, True, False, True]


@pytest.mark.parametrize("design", ["magazine"], indirect=True)
@pytest.mark.parametrize("width", [390, 700])
def test_in_a_magazine_they_stand_above_them_as_wide_as_the_card(opened, width):
    page = opened(width)
    cards, tops = boxes(page, ".item"), boxes(page, ".item-top img")
    assert [round(top["width"]) for top in tops] == [round(cards[0]["width"])] * 4
    (cover,) = boxes(page, ".item-cover img")
    assert cover["width"] <= 168
    assert all(one["y"] + one["height"] + 20 < two["y"] for one, two in pairwise(cards))


@pytest.mark.parametrize("design", ["plain", "letter"], indirect=True)
def test_on_a_phone_they_stand_above_them_as_wide_as_the_page_and_covers_small(opened):
    page = opened(390)
    shots, texts = boxes(page, ".item-shot"), boxes(page, ".item-shot ~ .item-words")
    assert all(shot["y"] + shot["height"] <= text["y"] for shot, text in zip(shots, texts, strict=True))
    wide, cover, *_ = boxes(page, ".item img")
    assert (wide["width"] > 300, cover["width"]) == (True, 132)


def test_where_a_mail_program_drops_the_rules_for_phones_it_still_fits(opened, issue, design):
    page = opened(
        320, mail=re.sub(r"<style.*?</style>", "", issue, flags=re.DOTALL), name=f"items-{design}-without-rules"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert all(box["width"] >= 90 for box in boxes(page, ".item-words"))


def contrast(page: Any, selector: str) -> float:
    """Of the text with the background behind it, as WCAG computes it."""
    return float(page.eval_on_selector(selector, CONTRAST))


CONTRAST = """element => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = text => channels(text).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  let behind = element;
  while (behind && channels(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const pair = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""
