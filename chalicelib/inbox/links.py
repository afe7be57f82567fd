"""When two links lead to the same thing. No input or output: what a redirect or a page says is for the caller.

What does not change the page is left out: how it was reached (tracking parameters, a fragment), and in which form it
is shown (http, `www.`, mobile and AMP pages). Videos and episodes have one address, whichever of many was given.
"""

import hashlib
import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

# Parameters that tell where somebody came from, by name and by how the name begins.
_TRACKING = frozenset(
    {
        *("__s", "_ga", "_gl", "_hsenc", "_hsmi", "ck_subscriber_id", "dclid", "fb_action_ids", "fb_source"),
        *("fbclid", "gad_source", "gbraid", "gclid", "gclsrc", "hsctatracking", "igsh", "igshid", "li_fat_id"),
        *("mc_cid", "mc_eid", "mibextid", "mkt_tok", "msclkid", "oly_anon_id", "oly_enc_id", "rb_clickid"),
        *("ref_src", "ref_url", "s_cid", "s_kwcid", "scid", "spm", "srsltid", "ttclid", "twclid", "vero_conv"),
        *("vero_id", "wbraid", "wt.mc_id", "wt_mc", "yclid"),
    }
)
_TRACKING_BEGINS = ("utm_", "mtm_", "pk_", "piwik_", "matomo_", "at_custom", "hsa_", "__hs", "itm_", "ns_")
_AMP_PARAMETERS = {("amp", ""), ("amp", "1"), ("amp", "true"), ("outputtype", "amp")}
_SHOWN_AS = frozenset({"www", "m", "mobile", "amp"})
# Some sites have these further inside: `en.m.wikipedia.org`.
_SHOWN_AS_INSIDE = frozenset({"m", "mobile"})
# Where names are given below these, `m.co.uk` is a site of its own.
_SECOND_LEVELS = frozenset({"ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"})
_AMP_CACHE = re.compile(r"/[cv]/(?:s/)?(.+)")
# In lower case only: `/wiki/AMP` is a page about something.
_AMP_PATH = re.compile(r"(?:/amp|\.amp(?:\.html)?)\Z")
_VIDEO = re.compile(r"[A-Za-z0-9_-]{11}\Z")
_VIDEO_PATH = re.compile(r"/(?:shorts|live|embed|v)/([A-Za-z0-9_-]{11})(?:/|\Z)")
_SPOTIFY_PATH = re.compile(
    r"(?:/intl-[a-z-]+)?(?:/embed)?/(episode|show|track|album|playlist)/([A-Za-z0-9]{22})(?:/|\Z)"
)
# Characters that mean the same whether they are escaped or not.
_SAFE = "!$&'()*+,;=:@-._~/"


def identify(url: str) -> str | None:
    """The same text for every link to the same page; None for what is no web address, or names a whole site rather
    than a page of it."""
    parts, host = _split(url)
    if not host:
        return None
    cached = _uncached(host, parts.path)
    if cached:
        return identify(f"https://{cached}{'?' + parts.query if parts.query else ''}")
    known = _youtube(host, parts.path, parts.query) or _spotify(host, parts.path)
    if known:
        return known
    path, query = _path(parts.path), _query(parts.query)
    if not path and not query:
        return None
    return f"{_site_with_port(parts, host)}{path}{'?' + query if query else ''}"


def identify_site(url: str) -> str | None:
    """The same text for every link to the same site, whichever page of it; also for one that names no page."""
    parts, host = _split(find_original(url))
    return f"{_site_with_port(parts, host)}/" if host else None


def find_original(url: str) -> str:
    """The page that an AMP cache shows, or the link itself."""
    parts, host = _split(url)
    cached = _uncached(host, parts.path)
    return f"https://{cached}{'?' + parts.query if parts.query else ''}" if cached else url


def item_id(identity: str) -> str:
    """32 hex digits."""
    return hashlib.sha256(f"link\n{identity}".encode("utf-8", "replace")).hexdigest()[:32]


def without_tracking(url: str) -> str:
    """The link as it may be shown and mailed: as given, but for what only tells where somebody came from."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    kept = "&".join(pair for pair in parts.query.split("&") if not _is_tracking(unquote(pair.partition("=")[0])))
    return parts._replace(query=kept, fragment="").geturl()


def _split(url: str) -> tuple[SplitResult, str]:
    """With the name of the host; empty for what is no web address."""
    try:
        parts = urlsplit(url.strip())
        host, _ = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return SplitResult("", "", "", "", ""), ""
    return parts, host if parts.scheme in ("http", "https") else ""


def _uncached(host: str, path: str) -> str:
    """The page that an AMP cache or Google's viewer shows."""
    if host.endswith(".cdn.ampproject.org") or host == "cdn.ampproject.org":
        found = _AMP_CACHE.match(path)
        return found[1] if found else ""
    if _site(host) == "google.com" and path.startswith("/amp/"):
        return path.removeprefix("/amp/").removeprefix("s/")
    return ""


def _youtube(host: str, path: str, query: str) -> str:
    site = _site(host)
    if site == "youtu.be":
        id = path.strip("/").partition("/")[0]
    elif site in ("youtube.com", "music.youtube.com", "youtube-nocookie.com"):
        found = _VIDEO_PATH.match(path)
        id = found[1] if found else dict(parse_qsl(query)).get("v", "") if path == "/watch" else ""
    else:
        return ""
    return f"youtube.com/watch?v={id}" if _VIDEO.match(id) else ""


def _spotify(host: str, path: str) -> str:
    found = _SPOTIFY_PATH.match(path) if host == "open.spotify.com" else None
    return f"open.spotify.com/{found[1]}/{found[2]}" if found else ""


def _site(host: str) -> str:
    """Without what only says in which form a page is shown, as long as what is left is a site's name."""
    labels = host.lower().split(".")
    for place, label in enumerate(labels):
        is_form = label in (_SHOWN_AS_INSIDE if place else _SHOWN_AS)
        if is_form and _is_site(labels[place + 1 :]):
            return ".".join([*labels[:place], *labels[place + 1 :]])
    return host.lower()


def _is_site(labels: list[str]) -> bool:
    """Two parts are enough, unless they are what a country gives names below."""
    if len(labels) != 2:
        return len(labels) > 2
    country = labels[1].partition(":")[0]
    return not (len(country) == 2 and labels[0] in _SECOND_LEVELS)


def _site_with_port(parts: SplitResult, host: str) -> str:
    return _site(host if parts.port in (None, 80, 443) else f"{host}:{parts.port}")


def _path(path: str) -> str:
    return quote(unquote(_AMP_PATH.sub("", path.rstrip("/")), errors="replace"), safe=_SAFE)


def _query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([pair for pair in pairs if not _is_tracking(pair[0]) and not _is_amp(pair)])


def _is_tracking(name: str) -> bool:
    name = name.lower()
    return name in _TRACKING or name.startswith(_TRACKING_BEGINS)


def _is_amp(pair: tuple[str, str]) -> bool:
    return (pair[0].lower(), pair[1].lower()) in _AMP_PARAMETERS
