"""The door before /admin as Chalice sees it. Rooms put it on their routes: `Routes(__name__, authorizer=door)`."""

from typing import Any

from chalice.app import AuthRequest, Blueprint

from chalicelib.access.authorizer import decide
from chalicelib.web.guards import ACCESS_HEADER

authorizer = Blueprint(__name__)


# A verdict is not kept: a cached one would outlive the token's own end.
@authorizer.authorizer(name="door", ttl_seconds=0, header=ACCESS_HEADER)
def door(request: AuthRequest) -> dict[str, Any]:
    return decide(request.token, request.method_arn)
