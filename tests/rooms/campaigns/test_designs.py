"""The designs of a campaign: what all of them show, what mail programs need of them, and that they can be read."""

import re
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import service
from chalicelib.campaigns.content import blocks, renderer, welcome
from chalicelib.campaigns.content.blocks import Divider, Heading, Item, Text
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.sending import mailer
from chalicelib.kernel import clock, colour, publication, settings
from chalicelib.kernel.publication import DESIGNS, Colours
from chalicelib.mail import bulk
from chalicelib.site import service as site
from tests.rooms.campaigns.rendering import ID, TOKEN, Layout, detail, mailed, words

LINK = "https://example.org/2026/11/who-is-eating-the-buds/"
VIDEO = Item(
    "Who is eating the buds?", LINK, "The Hedge Birds", "video", 721, "/media/3f2a.jpg", "A bullfinch",
    excerpt="One hedge, one feeder, one microphone.",
    note="The *best* [ten minutes](https://example.org/) of November.",
)  # fmt: skip
PODCAST = replace(VIDEO, kind="podcast", title="How owls hear")
BODY = blocks.write(
    [
        Text("{{greeting}},\n\n<p class='lead'>A lead.</p> A [link](https://example.org/), `code`,"),
        Text("> a quotation."),
        Text("<p><a class='button' href='https://example.org/'>Read</a></p><p class='small'>Small.</p>"),
        Text("| What | When |\n|---|---|\n| Walk | Monday |\n\n- one\n- two\n\n```\ncode\n```"),
        Heading("Watch"),
        VIDEO,
        PODCAST,
        Item("Without a picture", LINK, note="Short.\n\n- The end first."),
        Divider(),
        Heading("A smaller heading", 3),
        Text("<div class='box'>A box.</div>"),
        Text("<figure><img src='/media/x.jpg' alt='x'><figcaption>Said</figcaption></figure>"),
    ]
)  # fmt: skip
PUBLICATION = replace(
    publication.from_settings(settings.current()), footer="Two people\nand a hedge", postal_address="12 Some Street"
)
LOGO = {"logo": "https://news.example.org/media/logo.png", "logo_width": 120, "logo_height": 40}


def page(design: str, body: str = BODY, **changes: Any) -> str:
    given = {"format": Format.MARKDOWN, **changes}
    return str(mailed(body, design=design, **given).html)


@pytest.fixture(autouse=True)
def _publication(aws):
    """Whatever a test says it is."""


@pytest.fixture(params=DESIGNS)
def design(request):
    return request.param


def test_every_design_shows_the_publication_and_the_ways_out(design):
    with publication.as_if(replace(PUBLICATION, name="Tom & Jerry")):
        shown = page(design, subject="Seven things")
    read = words(shown)
    for text in (
        "Seven things", "Tom & Jerry", "Read on the web", "You are receiving this because", "Two people",
        "12 Some Street", "hello@example.org", "Hi, Ana,", "Video · 12 min", "The best ten minutes of November.",
    ):  # fmt: skip
        assert text in read, text
    for url in (f"/api/unsubscribe?token={TOKEN}", "/profile", f"/archive/{ID}"):
        assert f'href="https://news.example.org{url}"' in shown


def test_every_design_shows_the_logo_with_its_words(design):
    with publication.as_if(replace(PUBLICATION, **LOGO)):
        (logo,) = [given for tag, given in Layout(page(design)).found if given.get("src") == LOGO["logo"]]
    assert (logo["alt"], logo["width"], logo["height"]) == ("The Daily Test", "120", "40")


def test_every_design_has_its_own_look_and_the_first_is_the_default():
    assert len({page(design) for design in DESIGNS}) == 3
    assert page(DESIGNS[0]) == mailed(BODY, format=Format.MARKDOWN).html
    assert publication.from_settings(settings.current()).design == "plain"


def test_a_campaign_without_a_design_has_the_publications(design):
    with publication.as_if(replace(PUBLICATION, design=design)):
        inherited, other = mailed(BODY, format=Format.MARKDOWN).html, page("plain")
        assert page(design) == inherited
        assert welcome.preview().html.count('class="masthead"') == (design == "magazine")
    assert (other == inherited) == (design == "plain")


def test_a_design_that_only_a_newer_version_knows_is_the_default():
    assert page("hologram") == page("plain")


@pytest.mark.parametrize("lang", ["en", "de", "fr", "es", "it", "nl", "pt", "ja"])
def test_every_design_speaks_every_language(design, lang):
    with publication.as_if(replace(PUBLICATION, language=lang)):
        shown = page(design)
    assert f'<html lang="{lang}" dir="auto">' in shown
    assert ("Unsubscribe" in words(shown)) == (lang in ("en", "ja"))


def test_a_body_with_its_own_backgrounds_is_light_in_every_design(design):
    shown = page(design, '<p style="background:#fff">x</p>', format=Format.HTML)
    assert "prefers-color-scheme" not in shown
    assert '<meta name="color-scheme" content="light only">' in shown
    assert "prefers-color-scheme: dark" in page(design)


def test_outlook_finds_what_it_needs(design):
    """Its engine knows tables and attributes; no max-width, no flex, no background images, and no positions."""
    with publication.as_if(replace(PUBLICATION, **LOGO)):
        shown = page(design)
    assert '<!--[if mso]><table role="presentation" width="600"' in shown
    assert shown.count("<!--[if mso]>") == shown.count("<![endif]-->")
    for tag, given in Layout(shown).found:
        style = given.get("style") or ""
        assert not re.search(r"flex|grid|position|float|min-width|calc|inline-start|inline-end|var\(|url\(", style)
        assert "background" not in given
        if tag == "table" and given.get("role"):
            assert (given["role"], given["cellpadding"], given["border"]) == ("presentation", "0", "0")
            assert not re.search(r"margin: [^0]", style)
        if tag == "img":
            assert given["alt"]
            assert given.get("width", "").isdigit() or "/media/x.jpg" in (given["src"] or "")
    assert not re.search(r"@import|@font-face|url\(", shown)


def test_outlook_takes_the_tallest_padding_of_a_row_for_all_of_its_cells(design):
    """So cells that stand beside each other have the same above them."""
    shown = Layout(page(design, blocks.write([VIDEO, PODCAST]))).found
    cells = [(str(given.get("class")), str(given.get("style"))) for tag, given in shown if tag == "td"]
    for (kind, style), (_, beside) in zip(cells, cells[2:], strict=False):
        if "item-shot" in kind:
            assert style.partition("padding: ")[2].split()[0] == beside.partition("padding: ")[2].split()[0]


def test_gmail_keeps_the_style_sheet(design):
    """It drops one of more than 8,192 characters, and everything after a rule it cannot read."""
    (style,) = re.findall(r"<style>(.*?)</style>", page(design), re.DOTALL)
    assert len(style) < 8_192
    assert style.count("{") == style.count("}")


def test_the_archive_does_not_have_the_designs(design):
    given = detail(BODY, format=Format.MARKDOWN, design=design)
    assert renderer.render_article(given) == renderer.render_article(detail(BODY, format=Format.MARKDOWN))


def test_in_a_magazine_pictures_stand_on_top_unless_they_are_square():
    shown = page("magazine", blocks.write([VIDEO, PODCAST]))
    pictures = [given["width"] for tag, given in Layout(shown).found if tag == "img"]
    assert pictures == ["600", "168"]
    assert shown.count('class="item-end"') == 2


# What thirty items are made of: what most of them are like, and all of them as long as following makes them.
USUAL = replace(
    VIDEO,
    title="A title of about the length that titles of articles have, give or take",
    link="https://example.org/2026/11/a-slug-about-as-long-as-the-title/?utm_source=rss&utm_medium=feed",
    picture="/media/" + "3f2a" * 16 + ".jpg",
    excerpt="word " * 60,
    note="word " * 40,
)
LONG = replace(
    USUAL,
    title="t" * 100,
    link="https://example.org/" + "a-slug-of-many-words-" * 6 + "?utm_source=rss",
    source="s" * 40,
    excerpt="word " * 100,
    note="word " * 60,
)


@pytest.mark.parametrize(("item", "most"), [(USUAL, 80), (LONG, 100)], ids=["usual", "long"])
def test_thirty_blocks_are_not_clipped(design, item, most):
    mailing = renderer.render(detail(blocks.write([item] * 30), format=Format.MARKDOWN, design=design))
    assert len(mailing.message("a@example.org", "Ana", TOKEN).html.encode()) <= most * 1024
    assert bulk.json_size(mailing.html, mailing.text) < bulk.LARGEST_TEMPLATE


def test_a_design_chosen_while_sending_is_for_the_next_campaign(http, ses, monkeypatch):
    site.change({"design": "letter"}, "ada@example.org")
    sent = service.send_now(service.create(service.Draft("Hello", "<p>Hi</p>")).campaign.id)
    own = service.send_now(service.create(service.Draft("Hello", "<p>Hi</p>", design="plain")).campaign.id)
    later = clock.now() + timedelta(seconds=5)
    monkeypatch.setattr(clock, "now", lambda: later)
    site.change({"design": "magazine"}, "ada@example.org")
    assert "Georgia" in mailer.Mailer(sent.campaign.id, sent.deliveries[0].id)._mailing.html
    assert 'class="dot"' in mailer.Mailer(own.campaign.id, own.deliveries[0].id)._mailing.html


# Contrast: every colour of a grid, greys, and those that are hard.
_LEVELS = ("00", "40", "80", "c0", "ff")
ACCENTS = [f"#{red}{green}{blue}" for red in _LEVELS for green in _LEVELS for blue in _LEVELS]
ACCENTS += [f"#{level:02x}{level:02x}{level:02x}" for level in range(0, 256, 5)]
ACCENTS += ["#767676", "#777777", "#facc15", "#0f766e", "#e4572e", "#8a8a00", "#00a2c7", "#5b6472"]


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_word_can_be_read_whatever_the_colour(design, dark):
    for accent in dict.fromkeys(ACCENTS):
        for given in ({}, LOGO) if accent in ACCENTS[::20] else ({},):
            with publication.as_if(replace(PUBLICATION, colours=Colours(accent), **given)):
                shown = page(design)
            pairs = Contrasts(in_the_dark(shown) if dark else shown)
            assert len(pairs.found) > 15
            low = [found for found in pairs.found if colour.contrast(found[1], found[2]) < colour.ENOUGH]
            assert not low, (accent, low)


def in_the_dark(shown: str) -> str:
    """With the rules for readers in the dark applied to the elements."""
    import css_inline

    head, rule, rest = shown.partition("@media (prefers-color-scheme: dark) {")
    assert rule
    rules, _, rest = rest.partition("</style>")
    return str(css_inline.CSSInliner().inline(f"{head}{rules.rstrip().removesuffix('}')}</style>{rest}"))


class Contrasts(HTMLParser):
    """Every text with its colour and what it stands on, of a page whose styles are on its elements."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str, str]] = set()
        self._open: list[tuple[str, str, str, bool]] = [("", "#000000", "#ffffff", False)]
        self.feed(shown.partition("</head>")[2])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("img", "br", "hr", "meta"):
            return
        style = dict(attributes).get("style") or ""
        rules = {
            name.strip(): value.replace("!important", "").strip()
            for name, _, value in (rule.partition(":") for rule in style.split(";"))
        }
        _, ink, ground, hidden = self._open[-1]
        self._open.append(
            (tag, rules.get("color", ink), rules.get("background-color", ground),
             hidden or rules.get("display") == "none")
        )  # fmt: skip

    def handle_endtag(self, tag: str) -> None:
        while len(self._open) > 1 and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tag, ink, ground, hidden = self._open[-1]
        if data.strip() and not hidden:
            self.found.add((tag, ink, ground))
