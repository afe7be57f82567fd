"""CORS headers for the allowed origins, on errors too."""

from chalicelib.kernel import settings
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def allow(request: Request, response: Response) -> Response:
    response = response.with_headers(Vary="Origin")
    origin = request.headers.get("origin", "")
    if origin not in settings.current().allowed_origins:
        return response
    return response.with_headers(Access_Control_Allow_Origin=origin, Access_Control_Expose_Headers="Retry-After")


def preflight(request: Request) -> Response:
    response = allow(request, Response(204))
    if "Access-Control-Allow-Origin" not in response.headers:
        return response
    return response.with_headers(
        Access_Control_Allow_Methods="GET, POST",
        Access_Control_Allow_Headers="Content-Type",
        Access_Control_Max_Age="86400",
    )
