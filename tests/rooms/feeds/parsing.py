"""Feeds as text, parsed as if they had been fetched."""

from chalicelib.feeds.reading import entries
from chalicelib.feeds.reading.model import Feed

URL = "https://blog.example.org/feed.xml"


def parse(text: str | bytes, content_type: str = "application/xml") -> Feed:
    return entries.parse(text.encode() if isinstance(text, str) else text, content_type, URL)


def item(inside: str) -> str:
    return f'<rss version="2.0"><channel><title>t</title><item>{inside}</item></channel></rss>'
