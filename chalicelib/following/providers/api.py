"""One call of a provider's JSON API. What every provider fails by is decided here; the rest is up to the provider.

A token is sent as a header, never in a URL, and no redirect is followed: it would carry the token elsewhere.
"""

import json
from collections.abc import Mapping
from urllib.parse import urlencode

from msgspec import Struct

from chalicelib.feeds.reading.waiting import parse_retry_after
from chalicelib.following.providers.contract import Down
from chalicelib.following.providers.fields import Fields
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

_BOUNDS = Bounds(seconds=8.0, largest=5_000_000, redirects=0)
_LONGEST_WAIT = 7 * 86_400
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class Reply(Struct, frozen=True):
    """`is_json` is false for anything but an object; then the fields are empty."""

    status: int
    fields: Fields
    is_json: bool
    retry_after: int


def get(name: str, url: str, parameters: Mapping[str, str], token: str = "") -> Reply:
    """`name` is how the provider is called in the reason of a failure."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    query = f"?{urlencode(parameters)}" if parameters else ""
    try:
        answer = client.get(url + query, headers, _BOUNDS)
    except FetchFailed as failure:
        raise Down(f"{name} cannot be reached: {failure.reason}") from failure
    reply = _read(name, answer)
    if reply.status == 200 and not reply.is_json:
        raise Down(f"{name} answered something unreadable", reply.retry_after)
    return reply


def post_form(name: str, url: str, form: Mapping[str, str]) -> Reply:
    """Whether the answer has to be JSON is for the caller to say."""
    try:
        answer = client.post(url, urlencode(form).encode(), _FORM, _BOUNDS)
    except FetchFailed as failure:
        raise Down(f"{name} cannot be reached: {failure.reason}") from failure
    return _read(name, answer)


def _read(name: str, answer: Answer) -> Reply:
    wait = parse_retry_after(answer.headers.get("retry-after", ""), _LONGEST_WAIT)
    if answer.status != 200 and not 400 <= answer.status < 500:
        raise Down(f"{name} answered {answer.status}", wait)
    found = _parse(answer.body)
    return Reply(answer.status, Fields(found), found is not None, wait)


def _parse(body: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
