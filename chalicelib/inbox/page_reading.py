"""Reads a web page somebody wants to save: what it is called, what it is about, and where it really is.

A page may say anything about itself, but not that it is another page: then it could pass for that one. Where it says
it really is, on the same site, is read as well, and tells about itself.
"""

import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.feeds.reading import excerpt, pages
from chalicelib.feeds.reading.pages import PageInfo
from chalicelib.inbox import links
from chalicelib.inbox.model import (
    LONGEST_CREATOR,
    LONGEST_EXCERPT,
    LONGEST_TITLE,
    ContentType,
    Item,
    Provider,
    Trust,
)
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

NOT_READ_YET = "Not read yet"
_NOT_READ = "The page could not be read"
_NOT_A_PAGE = "This is not a web page, so it tells nothing about itself"
# The head is near the beginning: of a larger page, no more than that is read.
_BOUNDS = Bounds(seconds=8.0, largest=pages.LARGEST_PAGE, redirects=8, cut=True)
_HEADERS = {"Accept": "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"}
_PAGES = ("text/html", "application/xhtml+xml", "")
_LONGEST_ID = 1_000
_WITHOUT_SCHEME = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d{1,5})?(?:[/?#]|\Z)")
# What has one address for ever: whatever such a link leads to instead is no other page, but a question in between.
_PERMANENT = ("youtube.com/watch?v=", "open.spotify.com/")
# Where sites send strangers before they show a page, by how the host begins and by a part of the path. All pages of
# such a site would be one. What is missing here does that harm; what is too much leaves a link as given, unread.
_ASKING_HOSTS = ("accounts.", "auth.", "consent.", "login.", "signin.", "sso.")
_ASKING_PATHS = frozenset(
    [
        "captcha",
        "challenge",
        "consent",
        "cookie-consent",
        "cookie-wall",
        "cookiewall",
        "gdpr",
        "log-in",
        "login",
        "oauth",
        "paywall",
        "privacy-gate",
        "sign-in",
        "sign_in",
        "signin",
        "sso",
    ]
)
# Many sites name their first page on every one by mistake.
_FIRST_PAGES = ("", "/index.html", "/index.htm", "/index.php", "/home")

# Of many at once: how many side by side, the longest for one, and for all of them together. The request itself ends
# after 29 seconds, and storing them takes its time, too.
_TOGETHER = 10
_SECONDS_EACH, _SECONDS_ALL, _LEAST_SECONDS = 5.0, 18.0, 1.0


class Reading(Struct, frozen=True):
    """`url` is where the page really is, without tracking; `identity` is the same for every link to it. With a
    `problem` there is nothing in `info`."""

    url: str
    identity: str
    info: PageInfo = PageInfo()
    problem: str = ""


def check_url(text: str) -> str:
    """A web address in its one form, also without a scheme; `Invalid` for anything else."""
    bare = text.strip()
    url = excerpt.web_url(f"https://{bare}" if _WITHOUT_SCHEME.match(bare) else bare)
    if not url or not _identify(url):
        raise Invalid("url must be an http or https link")
    return links.find_original(url)


def read(url: str, seconds: float = _BOUNDS.seconds) -> Reading:
    """`Invalid` for what we will not connect to. What does not answer, or is no page, is a `problem`."""
    end = time.monotonic() + seconds
    try:
        answer = _get(url, seconds)
    except FetchFailed as failure:
        if failure.kind == "refused":
            raise Invalid(f"This link cannot be saved: {failure.reason}") from failure
        return _unread(url, f"{_NOT_READ}: {failure.reason}")
    if _leads_elsewhere(url, answer.url):
        return _unread(url, f"{_NOT_READ}: it leads elsewhere")
    problem = _find_problem(answer)
    if problem:
        # A site that sends everybody to its sign-in page would make all of its pages one.
        is_short = links.identify_site(url) != links.identify_site(answer.url)
        return _unread(answer.url if is_short else url, problem)
    info, address = _describe(answer), links.find_original(answer.url)
    named = _find_named(address, info)
    if named and _identify(named) != _identify(address):
        return _read_named(named, end - time.monotonic()) or _reading(address, info)
    return _reading(named or address, info)


def read_again(url: str) -> Reading:
    """A page that is saved keeps its address, wherever it leads. What we will not connect to is a `problem`, too."""
    try:
        return replace(read(url), url=url)
    except Invalid as refusal:
        return _unread(url, refusal.reason)


def read_many(urls: Sequence[str]) -> dict[str, Reading | Invalid]:
    """Side by side, within the time of a request. What there is no time for is not read."""
    end = time.monotonic() + _SECONDS_ALL
    pool = ThreadPoolExecutor(_TOGETHER, thread_name_prefix="pages")
    begun = {pool.submit(_read_until, url, end): url for url in dict.fromkeys(urls)}
    done, late = wait(begun, timeout=_SECONDS_ALL + _LEAST_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    unread = {begun[one]: _unread(begun[one], NOT_READ_YET) for one in late}
    return {begun[one]: one.result() for one in done} | unread


def to_item(reading: Reading, now: datetime) -> Item:
    info, shown = reading.info, _show_address(reading.url)
    return Item(
        id=links.item_id(reading.identity),
        provider=Provider.LINK,
        provider_item_id=reading.identity[:_LONGEST_ID],
        content_type=ContentType.LINK,
        title=excerpt.truncate(info.title or shown, LONGEST_TITLE),
        canonical_url=reading.url,
        refreshed_at=now,
        creator=excerpt.truncate(info.site or shown.partition("/")[0], LONGEST_CREATOR),
        image=info.image,
        excerpt=excerpt.truncate(info.description, LONGEST_EXCERPT),
        published_at=info.published_at,
        problem=reading.problem,
        trust=Trust.CLAIMED if reading.problem else Trust.READ,
    )


def _read_until(url: str, end: float) -> Reading | Invalid:
    left = end - time.monotonic()
    if left < _LEAST_SECONDS:
        return _unread(url, NOT_READ_YET)
    try:
        return read(url, min(left, _SECONDS_EACH))
    except Invalid as refusal:
        return refusal


def _read_named(url: str, seconds: float) -> Reading | None:
    """The page that another one says it really is: only if that is so, and then in its own words."""
    if seconds < _LEAST_SECONDS:
        return None
    try:
        answer = _get(url, seconds)
    except FetchFailed:
        return None
    if _identify(answer.url) != _identify(url) or _find_problem(answer):
        return None
    info = _describe(answer)
    return _reading(url, info) if _identify(_find_named(url, info) or url) == _identify(url) else None


def _get(url: str, seconds: float) -> Answer:
    return client.get(url, _HEADERS, replace(_BOUNDS, seconds=seconds))


def _describe(answer: Answer) -> PageInfo:
    return pages.describe(answer.body, answer.headers.get("content-type", ""), answer.url)


def _reading(url: str, info: PageInfo) -> Reading:
    address = links.without_tracking(url)
    return Reading(address, _identify(address), info)


def _unread(url: str, problem: str) -> Reading:
    address = links.without_tracking(url)
    return Reading(address, _identify(address), problem=problem)


def _find_problem(answer: Answer) -> str:
    if answer.status != 200:
        return f"{_NOT_READ}: the site answered {answer.status}"
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return "" if kind in _PAGES else _NOT_A_PAGE


def _leads_elsewhere(given: str, reached: str) -> bool:
    """To no other page, but to a question in between."""
    identity = _identify(given)
    if _identify(reached) == identity:
        return False
    return identity.startswith(_PERMANENT) or (_is_asking(reached) and not _is_asking(given))


def _is_asking(url: str) -> bool:
    parts = urlsplit(url)
    segments = {segment.partition(".")[0] for segment in parts.path.lower().split("/")}
    return (parts.hostname or "").startswith(_ASKING_HOSTS) or not segments.isdisjoint(_ASKING_PATHS)


def _find_named(url: str, info: PageInfo) -> str:
    """Where the page says it is, if that is a page of the same site and not its first one. Over a connection as
    secure as the one it came by."""
    named = links.without_tracking(info.canonical)
    if not links.identify(named) or links.identify_site(named) != links.identify_site(url):
        return ""
    parts = urlsplit(named)
    if not parts.query and parts.path.rstrip("/").lower() in _FIRST_PAGES:
        return ""
    return parts._replace(scheme="https").geturl() if url.startswith("https:") else named


def _identify(url: str) -> str:
    """A link that names no page names its site."""
    return links.identify(url) or links.identify_site(url) or ""


def _show_address(url: str) -> str:
    """Host and path, as a person would write them."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return excerpt.one_line(f"{host}{unquote(parts.path.rstrip('/'), errors='replace')}")
