"""What a route requires of a request: for the dashboard one valid token, and for editors and members a request they
made themselves.

A cookie comes with every request of a browser, whichever page caused it. So a request that changes something must
come from our own pages, or from a script, which sends neither of the two headers checked here.
"""

from urllib.parse import urlsplit

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Refused, Unauthenticated
from chalicelib.kernel.wording import for_readers
from chalicelib.web.request import JSON, Request

ACCESS_HEADER = "Cf-Access-Jwt-Assertion"

_CROSS_SITE = for_readers("Cross-site request refused")
# A page of another site can send these only where CORS allows it.
_FROM_SCRIPTS = (JSON, "text/csv", "application/zip")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def require_admin(request: Request) -> None:
    # The gateway has called the authorizer. If a deployment ever loses that, nobody gets past this line.
    if not request.identity:
        raise Unauthenticated("Authentication required")
    if ACCESS_HEADER.lower() in request.repeated:
        raise Refused("Invalid token")


def refuse_foreign(request: Request) -> None:
    """Refuses what another site's page has sent, before anything of it is read."""
    if request.method not in _SAFE_METHODS and _is_foreign(request):
        raise Refused(_CROSS_SITE)


def require_own_form(request: Request, takes_forms: bool) -> None:
    """Any page can send a form anywhere, also an empty one, but JSON or a list only where CORS allows it: a form must
    say where it comes from."""
    is_script = request.content_type in _FROM_SCRIPTS or not (request.body or takes_forms)
    if request.method in _SAFE_METHODS or is_script:
        return
    if not request.headers.get("sec-fetch-site") and not request.headers.get("origin"):
        raise Refused(_CROSS_SITE)


def _is_foreign(request: Request) -> bool:
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site == "same-origin":
        return False
    return site not in (None, "none") or (origin is not None and not _is_ours(origin))


def _is_ours(origin: str) -> bool:
    current = settings.current()
    ours = urlsplit(current.site_url)
    if origin == f"{ours.scheme}://{ours.netloc}":
        return True
    # Locally, localhost and 127.0.0.1 are the same. Any other name could be made to point here.
    runs_locally = current.local and ours.hostname in ("127.0.0.1", "localhost")
    return runs_locally and origin in [f"{ours.scheme}://{name}:{ours.port}" for name in ("127.0.0.1", "localhost")]
