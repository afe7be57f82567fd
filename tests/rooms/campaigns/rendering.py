"""Campaigns as they are rendered, and what a reader sees of them."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content

NOW = datetime(2026, 11, 16, tzinfo=UTC)
ID = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
TOKEN = "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e.abcdefghijklmnopqrstuvwxyz123456"


def detail(body: str, text: str | None = None, **changes: Any) -> CampaignDetail:
    fields = {"subject": "News", **changes}
    return CampaignDetail(Campaign(ID, created_at=NOW, updated_at=NOW, **fields), Content(body, text), ())


def mailed(body: str, nickname: str | None = "Ana", text: str | None = None, **changes: Any) -> Any:
    return renderer.render(detail(body, text, **changes)).message("reader@example.org", nickname, TOKEN)


class Layout(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def words(page: str) -> str:
    """What a reader sees."""
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data)

    Reader().feed(page.partition("<body")[2])
    return "".join(seen)
