"""How large a campaign of thirty items is in each design, as HTML: Gmail hides what comes after 102 KB. *Usual* items
have a picture, 70 characters of title, 300 of excerpt and 200 of an editor's note; *long* ones as much excerpt as
following a source gives them, a title of 100, a note of 300 and a link of 160 characters."""

from datetime import UTC, datetime

from bench.table import Row, at_most

_BLOCKS, _MOST = 30, 100
_SHAPES = {"usual": (70, 300, 200, 90), "long": (100, 500, 300, 160)}


def rows() -> list[Row]:
    from chalicelib.kernel.publication import DESIGNS

    return [
        at_most(f"{_BLOCKS} {shape} items as HTML, {design}", _size(design, *measures) / 1024, _MOST, " KB")
        for design in DESIGNS
        for shape, measures in _SHAPES.items()
    ]


def _size(design: str, title: int, excerpt: int, note: int, link: int) -> int:
    from chalicelib.campaigns.content import blocks, renderer
    from chalicelib.campaigns.model import Campaign, CampaignDetail, Content, Format
    from chalicelib.kernel import publication, settings

    item = blocks.Item(
        title=_words(title),
        link="https://example.org/".ljust(link, "x"),
        source="A source with a name",
        kind="video",
        duration=721,
        picture="/media/" + "3f2a" * 16 + ".jpg",
        alt="What is in the picture",
        excerpt=_words(excerpt),
        note=_words(note),
    )
    now = datetime(2026, 11, 16, tzinfo=UTC)
    campaign = Campaign("0" * 32, "Thirty things", now, now, format=Format.MARKDOWN, design=design)
    body = blocks.write([item] * _BLOCKS)
    with publication.as_if(publication.from_settings(settings.current())):
        mailing = renderer.render(CampaignDetail(campaign, Content(body), ()))
    return len(mailing.message("reader@example.org", "Ana", "token").html.encode())


def _words(length: int) -> str:
    return ("word " * length)[:length].strip()
