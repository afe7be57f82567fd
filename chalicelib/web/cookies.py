"""The session cookie: what it is called, and the headers that set it and take it away."""

from chalicelib.kernel import settings
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def read_session(request: Request) -> str:
    """Empty if there is none."""
    return request.cookie(_name())


def with_session(response: Response, value: str, max_age: int) -> Response:
    return response.with_headers(Set_Cookie=_cookie(value, max_age))


def without_session(response: Response) -> Response:
    return response.with_headers(Set_Cookie=_cookie("", 0))


def _cookie(value: str, max_age: int) -> str:
    secure = "; Secure" if _is_https() else ""
    return f"{_name()}={value}; Max-Age={max_age}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _name() -> str:
    """With its prefix a browser takes the cookie from this host alone, which needs https; locally there is none."""
    return "__Host-session" if _is_https() else "session"


def _is_https() -> bool:
    return settings.current().site_url.startswith("https://")
