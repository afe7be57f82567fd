"""The hub and the topic of a feed, among the links of its document or of the `Link` header."""

import re
from collections.abc import Iterable

from chalicelib.feeds.reading import excerpt

_LONGEST_HEADER = 8_000
# RFC 8288: <URL>; name=token; name="quoted \" text", <URL> …
_TARGET = re.compile(r"[\s,]*<([^<>]*)>")
_PARAMETER = re.compile(r"""\s*;\s*([\w!#$&+.^`|~*-]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s";,]*))?""")
_NEXT = re.compile(r"[^<]*")

Link = tuple[str, str]


def choose(links: Iterable[Link], base: str) -> tuple[str, str]:
    """Hub and topic, the first usable of each. A hub over https goes first: others may not be told our secret."""
    usable = [(relation, url) for relation, address in links if (url := excerpt.web_url(address, base))]
    hubs = [url for relation, url in usable if relation == "hub"]
    topics = [url for relation, url in usable if relation == "self"]
    hub = next((url for url in hubs if url.startswith("https://")), hubs[0] if hubs else "")
    return hub, topics[0] if topics else ""


def parse_header(value: str) -> list[Link]:
    """Each relation and its address. Commas and brackets in quotes separate nothing."""
    found: list[Link] = []
    value, at = value[:_LONGEST_HEADER], 0
    while target := _TARGET.match(value, at):
        parameters, at = _parse_parameters(value, target.end())
        if "anchor" not in parameters:  # a link of something else
            found += [(relation, target[1]) for relation in parameters.get("rel", "").lower().split()]
        at = _skip_to_next(value, at)
    return found


def _parse_parameters(value: str, at: int) -> tuple[dict[str, str], int]:
    parameters: dict[str, str] = {}
    while found := _PARAMETER.match(value, at):
        parameters.setdefault(found[1].lower(), (found[2] or "").strip('"'))
        at = found.end()
    return parameters, at


def _skip_to_next(value: str, at: int) -> int:
    """Whatever else a server wrote is passed over."""
    rest = _NEXT.match(value, at)
    assert rest is not None
    return rest.end()
