"""Who is signed in, and what happens to those who are not."""

from urllib.parse import urlencode

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Unauthenticated
from chalicelib.members import model, sessions
from chalicelib.members.model import SignedIn
from chalicelib.web import cookies, pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def require_member(request: Request) -> SignedIn:
    """Costs one request to the database."""
    found = sessions.find(cookies.read_session(request))
    if not found:
        raise Unauthenticated(model.NOT_SIGNED_IN)
    return found


def ask_to_sign_in(request: Request) -> Response:
    if request.method == "POST":
        return pages.error(Unauthenticated(model.NOT_SIGNED_IN))
    return responses.redirect(settings.current().url(f"/sign-in?{urlencode({'next': '/sightings'})}"))
