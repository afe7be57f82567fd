"""Who is signed in, and what happens to those who are not."""

from chalicelib.kernel.errors import Unauthenticated
from chalicelib.members import model, returning, sessions
from chalicelib.members.model import SignedIn
from chalicelib.web import cookies
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def require_member(request: Request) -> SignedIn:
    """Costs one request to the database."""
    found = sessions.find(cookies.read_session(request))
    if not found:
        raise Unauthenticated(model.NOT_SIGNED_IN)
    return found


def ask_to_sign_in(request: Request) -> Response:
    """Whoever is not signed in is asked to, and comes back to this page and to what they had written on it."""
    return returning.ask_to_sign_in(request)
