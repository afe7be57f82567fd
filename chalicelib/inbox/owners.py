"""Whose inbox, follows and connections a request is about."""

from chalicelib.inbox.model import DESK
from chalicelib.web.request import Request


def owner_of(request: Request) -> str:
    """The member who is signed in. Only editors reach the other routes: theirs is the publication's desk."""
    return str(request.member.id) if request.member else DESK
