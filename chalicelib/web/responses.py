"""Responses: JSON, a page, a redirect, a file. Security headers are set here and nowhere else."""

import json as _json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from chalicelib.kernel import errors

_STATUS: dict[type[errors.GnaError], int] = {
    errors.Invalid: 400,
    errors.Unauthenticated: 401,
    errors.Refused: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.TooMany: 429,
    errors.Misconfigured: 500,
    errors.Crashed: 500,
    errors.Unavailable: 503,
}

# On pages, JSON, files and redirects alike: whichever of them a browser sees first, it uses https from then on.
_ALWAYS = {"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff"}

# The URLs of mailed links contain tokens: no-referrer keeps them from the sites a page links to.
_SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data: https:; connect-src 'self'; "
        "frame-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


# A mail has inline styles, and no script, form or frame.
_EMAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: https:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
)


class Response(Struct, frozen=True):
    """A body of bytes is one that is not text: a picture."""

    status: int
    body: str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, **headers: str) -> "Response":
        """A copy with these headers as well; underscores in their names stand for dashes."""
        return replace(self, headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})

    def with_status(self, status: int) -> "Response":
        return replace(self, status=status)


def with_security(response: Response) -> Response:
    """A copy with the headers every answer has."""
    return replace(response, headers={**_ALWAYS, **response.headers})


def json(value: Any, status: int = 200) -> Response:
    body = _json.dumps(to_builtins(value), ensure_ascii=False)
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
    }
    return Response(status, body, headers)


def no_content() -> Response:
    return Response(204, "", {"Cache-Control": "no-store"})


def html(body: str, status: int = 200) -> Response:
    return Response(
        status, body, {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", **_SECURITY}
    )


def email_page(body: str) -> Response:
    """A mail as a page, which our own pages may show in a frame."""
    return html(body).with_headers(Content_Security_Policy=_EMAIL_POLICY, X_Frame_Options="SAMEORIGIN")


def with_written(page: Response) -> Response:
    """A copy of the page that may show what an author wrote, which has styles of its own on its elements. There is
    nothing else it may do: no script runs on it, whoever wrote it."""
    policy = page.headers["Content-Security-Policy"]
    policy = policy.replace(
        "style-src 'self'; script-src 'self';", "style-src 'self'; style-src-attr 'unsafe-inline';"
    )
    for unused in (" connect-src 'self';", " frame-src 'self';", " manifest-src 'self';"):
        policy = policy.replace(unused, "")
    return page.with_headers(Content_Security_Policy=policy)


def framed_by(page: Response, origins: tuple[str, ...]) -> Response:
    """A copy of the page that these sites may show in a frame."""
    policy = page.headers["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors " + " ".join(("'self'", *origins))
    )
    headers = {name: value for name, value in page.headers.items() if name != "X-Frame-Options"}
    return replace(page, headers={**headers, "Content-Security-Policy": policy})


def with_photos(page: Response, origin: str) -> Response:
    """A copy of the page that may show photos from `origin`, preview one that was chosen, and upload it."""
    policy = page.headers["Content-Security-Policy"]
    policy = policy.replace("img-src 'self' data: https:", f"img-src 'self' data: blob: {origin}")
    policy = policy.replace("connect-src 'self'", f"connect-src 'self' {origin}")
    return page.with_headers(Content_Security_Policy=policy)


def with_uploads(page: Response, origin: str) -> Response:
    """A copy of the page that may upload files to `origin`."""
    policy = page.headers["Content-Security-Policy"].replace("connect-src 'self'", f"connect-src 'self' {origin}")
    return page.with_headers(Content_Security_Policy=policy)


def redirect(path: str, status: int = 303) -> Response:
    return Response(status, "", {"Location": path, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def asset(body: str, content_type: str, max_age: int) -> Response:
    headers = {
        "Content-Type": f"{content_type}; charset=utf-8",
        "Cache-Control": f"public, max-age={max_age}",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return Response(200, body, headers)


def picture(content: bytes, content_type: str) -> Response:
    """For a URL that always leads to these bytes. Mails and archives elsewhere show it too."""
    headers = {
        "Content-Type": content_type,
        "Cache-Control": "public, max-age=31536000, immutable",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return Response(200, content, headers)


def attachment(body: str, content_type: str, filename: str) -> Response:
    headers = {
        "Content-Type": content_type,
        "Content-Disposition": f'attachment; filename="{filename}"',
        "Cache-Control": "no-store",
    }
    return Response(200, body, headers)


def status_of(failure: errors.GnaError) -> int:
    """A subclass of a failure has the status of its base class."""
    return next(_STATUS[kind] for kind in type(failure).__mro__ if kind in _STATUS)


def error(failure: errors.GnaError) -> Response:
    """A failure as JSON. The details of a misconfiguration go to the log only."""
    reason = "Server misconfiguration" if isinstance(failure, errors.Misconfigured) else failure.reason
    return with_retry_after(failure, json({"error": reason}, status_of(failure)))


def with_retry_after(failure: errors.GnaError, response: Response) -> Response:
    if isinstance(failure, errors.TooMany | errors.Unavailable):
        return response.with_headers(Retry_After=str(failure.retry_after))
    return response
