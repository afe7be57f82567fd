"""The site that has the form: its origin, as browsers send it, and whether that may use the form."""

import re
from urllib.parse import urlsplit

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Invalid

LONGEST = 255
_HOST = re.compile(r"[A-Za-z0-9.-]+\Z|\[[0-9a-f:]+\]\Z")
_USUAL_PORTS = {"http": 80, "https": 443}


def parse(text: str) -> str:
    """From an address as somebody would type it: with or without https, with or without a path. Empty stays so."""
    typed = text.strip()
    if not typed:
        return ""
    origin = _origin(typed if "://" in typed else f"https://{typed}")
    if not origin or len(typed) > LONGEST:
        raise Invalid("Your site’s address is not valid: it looks like https://example.org")
    return origin


def is_allowed(origin: str) -> bool:
    """Whether browsers let pages of that origin use the script and the frame."""
    current = settings.current()
    return origin in (*current.allowed_origins, _origin(current.site_url))


def find_relative(origin: str) -> str:
    """An allowed origin that differs only in `www.` or in http: people mix these up, and browsers do not."""

    def bare(url: str) -> str:
        return url.partition("://")[2].removeprefix("www.")

    return next((each for each in settings.current().allowed_origins if bare(each) == bare(origin)), "")


def _origin(url: str) -> str:
    """Empty if it has none that a browser would send."""
    try:
        parts = urlsplit(url)
        host, port = _ascii(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if parts.scheme not in _USUAL_PORTS or not _HOST.match(host) or parts.username is not None:
        return ""
    return f"{parts.scheme}://{host}" + ("" if port in (None, _USUAL_PORTS[parts.scheme]) else f":{port}")


def _ascii(host: str) -> str:
    if host.isascii():
        return f"[{host}]" if ":" in host else host
    import idna

    return idna.encode(host, uts46=True).decode()
