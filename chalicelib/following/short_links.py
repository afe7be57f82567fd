"""The pages behind short links in feeds, so that an entry is the same item as the page itself.

An item's id comes from its page, so an entry must be taken for the same page in every poll, also in one that repeats
another after a crash. Therefore what a link was taken for is stored before anything is delivered, and whoever comes
later uses that: also if a link did not answer, or answers differently now.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from urllib.parse import urlsplit

from chalicelib.feeds.reading import excerpt
from chalicelib.following import news
from chalicelib.following.model import Creator
from chalicelib.following.providers.contract import Found
from chalicelib.following.stores import short_links as store
from chalicelib.inbox import links
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import FetchFailed

# A list, because nothing in a link says that it is short: to find out, every link of every feed would have to be
# requested, and sites that send strangers to a consent page would have one page only. These hosts do nothing but
# redirect, and are common in feeds. Any other link stays as the feed has it.
_SHORTENERS = frozenset(
    {
        *("bit.ly", "buff.ly", "dlvr.it", "goo.gl", "is.gd", "lnkd.in", "ow.ly", "t.co", "tinyurl.com", "trib.al"),
        *("feedproxy.google.com", "feeds.feedburner.com"),
    }
)
# FeedBurner has feeds at the same host: only these are its redirects.
_FEEDBURNER, _REDIRECTS = ("feedproxy.google.com", "feeds.feedburner.com"), "/~r/"
# In one poll, side by side, and in how much time all of them together.
_MOST = 10
_SECONDS = 4.0
_HOPS = 4
# As many entries as are read of a feed.
_REMEMBERED = 100


def resolve(creator: Creator, told: Sequence[Found], in_feed: Sequence[Found]) -> dict[str, str]:
    """Where those of the entries are that have a short link, by their ids; `told` is oldest first. `in_feed` are all
    that the feed has now."""
    short = {_key(one): one for one in told if one.has_own_page and is_short(one.url)}
    if not short:
        return {}
    pages = store.find(creator.id).pages
    unknown = {key: one for key, one in short.items() if key not in pages}
    if unknown:
        reached = _reach_all([one.url for one in unknown.values()][-_MOST:])
        named = {links.identify(url) for url in (creator.external_url, *(one.url for one in in_feed))}
        wanted = {key: reached.get(one.url, "") for key, one in unknown.items()}
        pages = retry_stale(lambda: _remember(creator.id, wanted, named))
    return {one.id: pages[key] for key, one in short.items() if pages.get(key)}


def is_short(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = (parts.hostname or "").removeprefix("www.")
    return host in _SHORTENERS and (host not in _FEEDBURNER or parts.path.startswith(_REDIRECTS))


def _remember(creator_id: str, wanted: Mapping[str, str], named: set[str | None]) -> Mapping[str, str]:
    """What was decided before stays. Of entries that lead to one page the first is taken for it, and the others are
    what they were: in some feeds all of them lead to the podcast's own page, and none must be lost."""
    before = store.find(creator_id)
    after, taken = dict(before.pages), named | {links.identify(page) for page in before.pages.values()}
    for key, page in wanted.items():
        identity = links.identify(page)
        decided = after.pop(key, page if identity and identity not in taken else "")
        taken.add(identity)
        after = {key: decided, **after}
    after = dict(islice(after.items(), max(_REMEMBERED, len(wanted))))
    store.save(creator_id, before, after)
    return after


def _reach_all(urls: Sequence[str]) -> dict[str, str]:
    """Where each leads, empty if it leads nowhere or has not said so in time."""
    end = time.monotonic() + _SECONDS
    pool = ThreadPoolExecutor(_MOST, thread_name_prefix="short-links")
    begun = {pool.submit(_reach, url, end): url for url in dict.fromkeys(urls)}
    done, _ = wait(begun, timeout=_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return {begun[one]: one.result() for one in done}


def _reach(url: str, end: float) -> str:
    """The first link that is not short: the one the feed would have had. It is not requested itself."""
    for _ in range(_HOPS):
        left = end - time.monotonic()
        try:
            url = excerpt.web_url((client.find_redirect(url, left) if left > 0 else None) or "")
        except FetchFailed:
            return ""
        if not is_short(url):
            return url
    return ""


def _key(found: Found) -> str:
    return news.fingerprint(found.id).hex()
