"""All providers. A new one is a module with a `SOURCE` and a word here; the grants of one with accounts likewise."""

import re
from collections.abc import Mapping

from chalicelib.following.providers import grants, rss, spotify, youtube
from chalicelib.following.providers.contract import Grants, Reference, Source
from chalicelib.inbox.model import Provider
from chalicelib.kernel.errors import Invalid

# Feeds are last: any URL may be one.
SOURCES: Mapping[Provider, Source] = {
    source.provider: source for source in (youtube.SOURCE, spotify.SOURCE, rss.SOURCE)
}
GRANTS: Mapping[Provider, Grants] = {grant.provider: grant for grant in (grants.GOOGLE, grants.SPOTIFY)}

_LONGEST_URL = 2_000
_WITHOUT_SCHEME = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d{1,5})?(?:[/?#]|\Z)")
_ASKED_FOR = "Enter the address of a channel, a show, a feed or a website"


def recognise(url: str) -> Reference:
    """What the text names: a URL, with or without its scheme, a handle such as @name, or a URI such as spotify:…"""
    text = _with_scheme(url.strip())
    if len(text) > _LONGEST_URL or not text.isprintable() or " " in text:
        raise Invalid(_ASKED_FOR)
    named = (reference for source in SOURCES.values() if (reference := source.recognise(text)))
    found = next(named, None)
    if not found:
        raise Invalid(_ASKED_FOR)
    return found


def _with_scheme(text: str) -> str:
    """Some pages offer their feed as feed://… or feed:https://…"""
    bare = text.removeprefix("feed:").removeprefix("//")
    return f"https://{bare}" if _WITHOUT_SCHEME.match(bare) else bare
