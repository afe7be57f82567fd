"""Connecting an account, and ending that. A script on these pages makes state and verifier and keeps the verifier in
the tab; the server never sees it before the callback (see `connections`)."""

from typing import Any
from urllib.parse import urlencode

from chalicelib.following import connections, views
from chalicelib.following.model import CONNECTED, LABELS
from chalicelib.following.notices import NOTICES
from chalicelib.following.providers.registry import GRANTS
from chalicelib.inbox import frames
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel import clock
from chalicelib.kernel.errors import GnaError, NotFound, Unauthenticated
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# RFC 6749, section 4.1.2.1, and what Google adds. What the URL says is never shown, only which of these it is.
_REFUSALS = {
    "access_denied": "Access was declined, so nothing was connected. Your follows are as they were.",
    "admin_policy_enforced": "The organisation this account belongs to does not allow it to be connected.",
    "org_internal": "This app is open to one organisation only, and the account is not part of it.",
    "temporarily_unavailable": "The provider is busy just now. Please try again in a few minutes.",
    "server_error": "The provider has a problem of its own just now. Please try again in a few minutes.",
    "invalid_scope": "The provider does not let this app ask for what it needs. Check the app’s settings there.",
    "unauthorized_client": "The provider does not let this app ask for consent. Check the app’s settings there.",
}
_OTHER_REFUSAL = "The provider refused to connect the account and gave no reason we know. Please try again."


def show(frame: Frame, request: Request) -> Response:
    """What connecting means, and the button that begins it."""
    provider, owner = _read_provider(request.query.get("provider")), owner_of(request)
    callback = connections.redirect_uri(owner)
    here = f"{callback.removesuffix('callback')}connect?{urlencode({'provider': provider.value})}"
    connection = connections.list_connections(owner)[provider]
    grant = GRANTS[provider]
    return _page(
        frame,
        request,
        "following/connect.html",
        f"Connect {LABELS[provider]}",
        provider,
        connection=views.view_connection(provider, connection, clock.now()),
        is_configured=connections.is_configured(provider),
        authorize_url=grant.authorize_url(),
        parameters=grant.authorize_parameters(),
        redirect_uri=callback,
        this_page=here,
        shape="card form",
    )


def show_callback(frame: Frame, request: Request) -> Response:
    """Where the provider sends the browser back to. Nobody has to be signed in to see it: the script keeps the code
    in the tab, where it waits if the session has ended meanwhile."""
    refusal = request.query.get("error", "")
    answer = frame.page(
        request,
        "following/callback.html",
        "Connecting",
        {},
        here=f"{frame.prefix}/following",
        refusal=_REFUSALS.get(refusal, _OTHER_REFUSAL) if refusal else "",
        has_code=bool(request.query.get("code")),
        labels_of={provider.value: LABELS[provider] for provider in CONNECTED},
        shape="card",
    )
    return answer.with_headers(Referrer_Policy="no-referrer")


def confirm_end(frame: Frame, request: Request) -> Response:
    return _confirm(frame, request, _read_provider(request.query.get("provider")))


def end(frame: Frame, request: Request) -> Response:
    provider = _find_provider(request.text("provider") or "")
    try:
        connections.disconnect(owner_of(request), provider)
    except GnaError as failure:
        if isinstance(failure, Unauthenticated):
            raise
        answer = _confirm(frame, request, provider, responses.status_of(failure), views.describe_failure(failure))
        return responses.with_retry_after(failure, answer)
    return frames.back(f"{frame.prefix}/following", "disconnected")


def _confirm(frame: Frame, request: Request, provider: Provider, status: int = 200, wrong: str = "") -> Response:
    connection = connections.list_connections(owner_of(request))[provider]
    return _page(
        frame,
        request,
        "following/disconnect.html",
        f"Disconnect {LABELS[provider]}",
        provider,
        status,
        connection=views.view_connection(provider, connection, clock.now()),
        is_connected=connection is not None,
        wrong=wrong,
        shape="card",
    )


def _page(
    frame: Frame, request: Request, body: str, title: str, provider: Provider, status: int = 200, **values: Any
) -> Response:
    here = f"{frame.prefix}/following"
    return frame.page(
        request, body, title, NOTICES, status, here=here, provider=provider.value, label=LABELS[provider], **values
    )


def _read_provider(text: str | None) -> Provider:
    """YouTube unless another is named."""
    return _find_provider(text) if text else CONNECTED[0]


def _find_provider(text: str) -> Provider:
    if text not in CONNECTED:
        raise NotFound("No such provider")
    return Provider(text)
